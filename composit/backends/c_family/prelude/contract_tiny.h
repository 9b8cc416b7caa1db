// Products of few rows and columns and little depth, of which a batch has many: nothing is packed,
// and no tables of offsets are made.
//
// Blocks of the depth are chains of fma from +0 that are added in order, as in contract.h.
#pragma once

#include "composit/backends/c_family/prelude/contract_problem.h"
#include "composit/backends/c_family/prelude/few_lanes.h"

// Of one product. Element (i, k) of left is at i * left_row + k * left_depth; rows of right and of
// the output lie side by side.
template <class T>
struct TinyProduct {
    const T *left, *right;
    T* output;
    int64_t left_row, left_depth, right_depth, output_row;
};

// R rows, and of each V times W columns, of which the last W begin at column `last`; a block of the
// depth.
template <int R, int V, int W, class T>
COMPOSIT_INLINE void tiny_tile(const TinyProduct<T>& p, int64_t depth, int64_t last,
                               bool is_first) {
    Few<T, W> sums[R][V];
    repeat<R>([&](int i) COMPOSIT_STEP {
        repeat<V>([&](int v) COMPOSIT_STEP { sums[i][v] = Few<T, W>{}; });
    });
    const T *left = p.left, *right = p.right;
    for (int64_t k = 0; k < depth; ++k, left += p.left_depth, right += p.right_depth) {
        Few<T, W> row[V];
        repeat<V>([&](int v) COMPOSIT_STEP {
            __builtin_memcpy(&row[v], right + (v == 0 ? 0 : last), sizeof row[v]);
        });
        repeat<R>([&](int i) COMPOSIT_STEP {
            const Few<T, W> factor = left[i * p.left_row] - Few<T, W>{};
            repeat<V>([&](int v) COMPOSIT_STEP {
                sums[i][v] = fused_few<T, W>(factor, row[v], sums[i][v]);
            });
        });
    }
    const auto place = [&](int i, int v) {
        return p.output + i * p.output_row + (v > 0 ? last : 0);
    };
    if (!is_first)  // before the first is stored: columns of both vectors may be the same
        repeat<R>([&](int i) COMPOSIT_STEP {
            repeat<V>([&](int v) COMPOSIT_STEP {
                Few<T, W> before;
                __builtin_memcpy(&before, place(i, v), sizeof before);
                sums[i][v] = before + sums[i][v];
            });
        });
    repeat<R>([&](int i) COMPOSIT_STEP {
        repeat<V>([&](int v) COMPOSIT_STEP {
            __builtin_memcpy(place(i, v), &sums[i][v], sizeof sums[i][v]);
        });
    });
}

// A block of the depth of one product.
template <int V, int W, class T>
COMPOSIT_INLINE void tiny_block(TinyProduct<T> p, int64_t rows, int64_t depth, int64_t last,
                                bool is_first) {
    const auto forward = [&](int64_t count) {
        p.left += count * p.left_row, p.output += count * p.output_row, rows -= count;
    };
    for (; rows >= 4; forward(4)) tiny_tile<4, V, W>(p, depth, last, is_first);
    if (rows == 3) tiny_tile<3, V, W>(p, depth, last, is_first);
    if (rows == 2) tiny_tile<2, V, W>(p, depth, last, is_first);
    if (rows == 1) tiny_tile<1, V, W>(p, depth, last, is_first);
}

template <int V, int W, class T>
COMPOSIT_APART void tiny_products(const Contraction<T>& c, const ContractPart& part) {
    const auto stride = [](const Loops& loops, const int64_t* strides) {
        return loops.rank == 0 ? 0 : strides[0];
    };
    const int64_t depth = iterations(c.depth), last = iterations(c.columns) - W;
    TinyProduct<T> p;
    p.left_row = stride(c.rows, c.left_rows), p.left_depth = stride(c.depth, c.left_depth);
    p.right_depth = stride(c.depth, c.right_depth), p.output_row = stride(c.rows, c.output_rows);
    for (int64_t b = part.batch_begin; b < part.batch_end; ++b) {
        p.left = c.left + offset_of(c.batch, c.left_batch, b) + part.row_begin * p.left_row;
        p.right = c.right + offset_of(c.batch, c.right_batch, b);
        p.output = c.output + offset_of(c.batch, c.output_batch, b) + part.row_begin * p.output_row;
        int64_t k = 0;
        do {  // at least once: without depth the result is zeros
            tiny_block<V, W>(p, part.row_end - part.row_begin, least(depth - k, contract_depth),
                             last, k == 0);
            p.left += contract_depth * p.left_depth, p.right += contract_depth * p.right_depth;
            k += contract_depth;
        } while (k < depth);
    }
}

// The most multiply-adds of a block of the depth that take less time than packing would.
constexpr int64_t most_tiny_work = 32768;

template <class T>
inline bool is_tiny(const Contraction<T>& c, const ContractPart& part) {
    const int64_t rows = iterations(c.rows), columns = iterations(c.columns),
                  depth = iterations(c.depth);
    return c.finish == nullptr && !c.left_is_packed && !c.right_is_packed && c.rows.rank <= 1 &&
           c.columns.rank == 1 && c.depth.rank <= 1 && columns > 1 &&
           columns <= 2 * vector_lanes<T> &&
           rows * columns * least(depth, contract_depth) <= most_tiny_work &&
           c.right_columns[0] == 1 && c.output_columns[0] == 1 && part.column_begin == 0 &&
           part.column_end == columns;
}

// As few vectors as cover the columns, each one read and stored whole.
template <class T, int W = vector_lanes<T>>
inline void contract_tiny(const Contraction<T>& c, const ContractPart& part) {
    const int64_t columns = iterations(c.columns);
    if constexpr (W > 2)
        if (columns < W) return contract_tiny<T, W / 2>(c, part);
    if (columns == W) return tiny_products<1, W>(c, part);
    tiny_products<2, W>(c, part);
}
