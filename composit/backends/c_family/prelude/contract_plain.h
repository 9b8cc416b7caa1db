// Contractions of integers (Sum, Product: they wrap) and bool (Any, All), where order does not
// matter.
#pragma once

#include "composit/backends/c_family/prelude/combine.h"
#include "composit/backends/c_family/prelude/contract_described.h"

// So many rows times so many vectors of columns fit the registers.
constexpr int plain_rows = vector_bytes == 64 ? 4 : 2, plain_vectors = 4;
template <class T>
constexpr int plain_columns = plain_vectors * vector_lanes<T>;

// Where the results of R rows go: element (i, j) to rows[i][columns[j]] for j < count.
template <class T, int R>
struct PlainOutput {
    T* rows[R];
    const int64_t* columns;
    int64_t count;
    bool is_first;  // later ones are added
};

// R rows, of which element k is at rows[i][along[k]], times vectors at right[offsets[k]].
template <class Add, class Multiply, int R, class T>
COMPOSIT_APART void plain_tile(const T* const* rows, const int64_t* along, const T* right,
                               const int64_t* offsets, int64_t depth,
                               const PlainOutput<T, R>& out) {
    constexpr int lanes = vector_lanes<T>;
    Vector<T> sums[R][plain_vectors];
    repeat<R>([&](int i) COMPOSIT_STEP {
        repeat<plain_vectors>(
            [&](int v) COMPOSIT_STEP { sums[i][v] = Add::template empty<T> - Vector<T>{}; });
    });
    for (int64_t k = 0; k < depth; ++k) {
        Vector<T> columns[plain_vectors];
        repeat<plain_vectors>(
            [&](int v) COMPOSIT_STEP { columns[v] = load(right + offsets[k] + v * lanes); });
        repeat<R>([&](int i) COMPOSIT_STEP {
            const Vector<T> factor = rows[i][along[k]] - Vector<T>{};
            repeat<plain_vectors>([&](int v) COMPOSIT_STEP {
                sums[i][v] = Add::of(sums[i][v], Multiply::of(factor, columns[v]));
            });
        });
    }
    repeat<R>([&](int i) COMPOSIT_STEP {
        T plain[plain_columns<T>];
        repeat<plain_vectors>([&](int v) COMPOSIT_STEP { store(plain + v * lanes, sums[i][v]); });
        T* const to = out.rows[i];
        for (int64_t j = 0; j < out.count; ++j) {
            T& element = to[out.columns[j]];
            element = out.is_first ? plain[j] : Add::of(element, plain[j]);
        }
    });
}

// One part of the output. Columns are worked on in strips, of which the right operand's elements
// for 256 depth positions are packed, if they are not neighbours or many rows read them.
template <class Add, class Multiply, class T>
inline void contract_plain(const Contraction<T>& c, const ContractPart& part) {
    typedef Wrapping<T> Word;
    constexpr int width = plain_columns<Word>;
    OffsetWindow<width> right_columns, output_columns;
    OffsetWindow<contract_depth> left_depth, right_depth;
    alignas(64) Word packed[contract_depth * width];
    int64_t packed_offsets[contract_depth];
    for (int64_t k = 0; k < contract_depth; ++k) packed_offsets[k] = k * width;
    const int64_t depth = iterations(c.depth);
    const auto words = [](const T* at) { return reinterpret_cast<const Word*>(at); };
    for (int64_t b = part.batch_begin; b < part.batch_end; ++b) {
        const Word* const left = words(c.left) + offset_of(c.batch, c.left_batch, b);
        const Word* const right = words(c.right) + offset_of(c.batch, c.right_batch, b);
        Word* const output =
            reinterpret_cast<Word*>(c.output) + offset_of(c.batch, c.output_batch, b);
        for (int64_t j = part.column_begin; j < part.column_end; j += width) {
            const int64_t count = least(part.column_end - j, width);
            right_columns.move(c.columns, c.right_columns, j, count);
            output_columns.move(c.columns, c.output_columns, j, count);
            const bool is_packed = count < width || part.row_end - part.row_begin > plain_rows ||
                                   !are_consecutive(right_columns.offsets, count);
            for (int64_t k = 0; k == 0 || k < depth; k += contract_depth) {
                const int64_t length = least(depth - k, contract_depth);
                left_depth.move(c.depth, c.left_depth, k, length);
                right_depth.move(c.depth, c.right_depth, k, length);
                for (int64_t l = 0; is_packed && l < length; ++l) {
                    Word* const to = packed + l * width;
                    const Word* const from = right + right_depth.offsets[l];
                    for (int64_t e = 0; e < count; ++e) to[e] = from[right_columns.offsets[e]];
                    for (int64_t e = count; e < width; ++e) to[e] = 0;
                }
                const Word* const columns = is_packed ? packed : right + right_columns.offsets[0];
                const int64_t* const offsets = is_packed ? packed_offsets : right_depth.offsets;
                const auto rows_from = [&](int64_t i, auto together) {
                    constexpr int R = decltype(together)::rows;
                    const Word* rows[R];
                    PlainOutput<Word, R> out;
                    out.columns = output_columns.offsets, out.count = count, out.is_first = k == 0;
                    for (int r = 0; r < R; ++r) {
                        rows[r] = left + offset_of(c.rows, c.left_rows, i + r);
                        out.rows[r] = output + offset_of(c.rows, c.output_rows, i + r);
                    }
                    plain_tile<Add, Multiply, R>(rows, left_depth.offsets, columns, offsets, length,
                                                 out);
                };
                int64_t i = part.row_begin;
                for (; i + plain_rows <= part.row_end; i += plain_rows)
                    rows_from(i, RowsTogether<plain_rows>{});
                for (; i < part.row_end; ++i) rows_from(i, RowsTogether<1>{});
            }
        }
    }
}
