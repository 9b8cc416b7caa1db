// Contractions of which one number is left: scalar products of vectors.
#pragma once

#include "composit/backends/c_family/prelude/contract_described.h"

constexpr int lone_blocks =
    8;  // of the depth, worked on together: each chain of fma waits for itself

// Chains over `blocks` blocks that begin at element k; to[j] is the sum of block j.
template <int blocks, bool is_dense, class T>
COMPOSIT_INLINE void lone_chains(const T* left, int64_t left_stride, const T* right,
                                 int64_t right_stride, int64_t k, int64_t length, T* to) {
    const int64_t a = is_dense ? 1 : left_stride, b = is_dense ? 1 : right_stride;
    T sums[blocks] = {};
    for (int64_t i = k; i < k + length; ++i)
#pragma GCC unroll 8
        for (int j = 0; j < blocks; ++j)
            sums[j] = fused(left[(i + j * contract_depth) * a], right[(i + j * contract_depth) * b],
                            sums[j]);
    for (int j = 0; j < blocks; ++j) to[j] = sums[j];
}

template <bool is_dense, class T>
COMPOSIT_APART T lone_sum(const T* left, int64_t left_stride, const T* right, int64_t right_stride,
                          int64_t depth) {
    T total = 0, sums[lone_blocks];
    int64_t k = 0;
    const auto add = [&](int blocks) {
        for (int j = 0; j < blocks; ++j) total = k == 0 && j == 0 ? sums[0] : total + sums[j];
        k += blocks * contract_depth;
    };
    const auto left_of = [&] { return (depth - k) / contract_depth; };  // whole blocks
    while (left_of() >= 8) {
        lone_chains<8, is_dense>(left, left_stride, right, right_stride, k, contract_depth, sums);
        add(8);
    }
    if (left_of() >= 4) {
        lone_chains<4, is_dense>(left, left_stride, right, right_stride, k, contract_depth, sums);
        add(4);
    }
    if (left_of() >= 2) {
        lone_chains<2, is_dense>(left, left_stride, right, right_stride, k, contract_depth, sums);
        add(2);
    }
    while (k < depth) {
        const int64_t length = depth - k < contract_depth ? depth - k : contract_depth;
        lone_chains<1, is_dense>(left, left_stride, right, right_stride, k, length, sums);
        add(1);
    }
    return total;
}

// Whether one number is left of each batch, and its depth is one loop.
template <class T>
inline bool is_lone(const Contraction<T>& c) {
    return c.finish == nullptr && !c.left_is_packed && !c.right_is_packed && c.depth.rank == 1 &&
           iterations(c.rows) == 1 && iterations(c.columns) == 1;
}

template <class T>
inline void contract_lone(const Contraction<T>& c, const ContractPart& part) {
    const int64_t a = c.left_depth[0], b = c.right_depth[0], depth = c.depth.extents[0];
    for (int64_t i = part.batch_begin; i < part.batch_end; ++i) {
        const T* left = c.left + offset_of(c.batch, c.left_batch, i);
        const T* right = c.right + offset_of(c.batch, c.right_batch, i);
        c.output[offset_of(c.batch, c.output_batch, i)] =
            a == 1 && b == 1 ? lone_sum<true>(left, a, right, b, depth)
                             : lone_sum<false>(left, a, right, b, depth);
    }
}
