// Contractions of integers (Sum, Product: they wrap) and bool (Any, All), where order does not
// matter.
#pragma once

#include "composit/backends/c_family/prelude/combine.h"
#include "composit/backends/c_family/prelude/contract.h"

// One part of the output; T is unsigned, see Wrapping.
template <class Add, class Multiply, class T>
inline void contract_plain(const Contraction<T>& c, const ContractPart& part) {
    constexpr int64_t strip = 256;
    OffsetWindow<strip> right_columns, output_columns;
    OffsetWindow<contract_depth> left_depth, right_depth;
    const int64_t depth = iterations(c.depth);
    for (int64_t b = part.batch_begin; b < part.batch_end; ++b) {
        const T* left = c.left + offset_of(c.batch, c.left_batch, b);
        const T* right = c.right + offset_of(c.batch, c.right_batch, b);
        T* output = c.output + offset_of(c.batch, c.output_batch, b);
        for (int64_t j = part.column_begin; j < part.column_end; j += strip) {
            const int64_t width = part.column_end - j < strip ? part.column_end - j : strip;
            right_columns.move(c.columns, c.right_columns, j, width);
            output_columns.move(c.columns, c.output_columns, j, width);
            const bool is_consecutive = are_consecutive(right_columns.offsets, width);
            for (int64_t i = part.row_begin; i < part.row_end; ++i) {
                const T* row = left + offset_of(c.rows, c.left_rows, i);
                T sums[strip] = {};
                for (int64_t k = 0; k < depth; ++k) {
                    const int64_t inside = k % contract_depth;
                    if (inside == 0) {
                        const int64_t count =
                            depth - k < contract_depth ? depth - k : contract_depth;
                        left_depth.move(c.depth, c.left_depth, k, count);
                        right_depth.move(c.depth, c.right_depth, k, count);
                    }
                    const T factor = row[left_depth.offsets[inside]];
                    const T* from = right + right_depth.offsets[inside];
                    if (is_consecutive) {
                        from += right_columns.offsets[0];
                        for (int64_t e = 0; e < width; ++e)
                            sums[e] = Add::of(sums[e], Multiply::of(factor, from[e]));
                    } else {
                        for (int64_t e = 0; e < width; ++e)
                            sums[e] = Add::of(sums[e],
                                              Multiply::of(factor, from[right_columns.offsets[e]]));
                    }
                }
                T* to = output + offset_of(c.rows, c.output_rows, i);
                for (int64_t e = 0; e < width; ++e) to[output_columns.offsets[e]] = sums[e];
            }
        }
    }
}
