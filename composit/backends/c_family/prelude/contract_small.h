// Small products, such as 17 x 8 by 8 x 17, of which a batch has many: their lengths are known when
// the code is compiled, and no tables of offsets are made.
//
// Each element is one chain of fma from +0, as in contract.h: depth is at most contract_depth.
#pragma once

#include "composit/backends/c_family/prelude/contract_described.h"
#include "composit/backends/c_family/prelude/transpose.h"

// Where an operand lies: element (i, j) at i * row + j * column.
template <class T>
struct SmallOperand {
    T* at;
    int64_t row, column;
};

// So many rows of two vectors fit the registers.
constexpr int small_rows = tile_rows < 6 ? tile_rows : 6;

// A vector of results, of which the first `C` are wanted.
template <int C, class T>
COMPOSIT_INLINE void put_small(const Vector<T>& sums, T* to, int64_t column) {
    constexpr int lanes = vector_lanes<T>;
    if (column == 1 && C == lanes) return store(to, sums);
    T plain[lanes];
    store(plain, sums);
    for (int e = 0; e < C; ++e) to[e * column] = plain[e];
}

// `R` rows times `V` vectors of columns, the second one `S` columns after the first; depth is `K`.
template <class T, int K, int R, int V, int S, int C>
COMPOSIT_INLINE void small_tile(const SmallOperand<const T>& left, const T* right, int64_t width,
                                const SmallOperand<T>& out) {
    Vector<T> sums[R][V];
    repeat<R>([&](int i) COMPOSIT_STEP {
        repeat<V>([&](int v) COMPOSIT_STEP { sums[i][v] = Vector<T>{}; });
    });
#pragma GCC unroll 4
    for (int64_t k = 0; k < K; ++k) {
        Vector<T> row[V];
        repeat<V>([&](int v) COMPOSIT_STEP { row[v] = load(right + k * width + v * S); });
        repeat<R>([&](int i) COMPOSIT_STEP {
            const Vector<T> factor = left.at[i * left.row + k * left.column] - Vector<T>{};
            __asm__("" ::: "memory");  // see contract_tile
            repeat<V>([&](int v) COMPOSIT_STEP {
                sums[i][v] = fused_lanes<T>(factor, row[v], sums[i][v]);
            });
        });
    }
    repeat<R>([&](int i) COMPOSIT_STEP {
        repeat<V>([&](int v) COMPOSIT_STEP {
            put_small<C>(sums[i][v], out.at + i * out.row + v * S * out.column, out.column);
        });
    });
}

// All `M` rows times one or two vectors of columns, from column `first` on.
template <int M, int K, int V, int S, int C, class T>
COMPOSIT_INLINE void small_panel(SmallOperand<const T> left, const T* right, int64_t width,
                                 SmallOperand<T> out, int64_t first) {
    constexpr int rest = M % small_rows;
    right += first;
    out.at += first * out.column;
    for (int i = 0; i + small_rows <= M; i += small_rows) {
        small_tile<T, K, small_rows, V, S, C>(left, right, width, out);
        left.at += small_rows * left.row;
        out.at += small_rows * out.row;
    }
    if constexpr (rest > 0) small_tile<T, K, rest, V, S, C>(left, right, width, out);
}

// The right operand with its rows side by side, each filled up with zeros from `N` to `W`.
template <int N, int W, int K, class T>
COMPOSIT_INLINE void copy_small(const SmallOperand<const T>& right, T* to) {
    constexpr int block = transpose_block<T>;
    constexpr int whole_depth = K / block * block, whole_columns = N / block * block;
    const bool is_transposed = right.row == 1;
    if (is_transposed) {
        int64_t at[block];
        for (int j = 0; j < whole_columns; j += block) {
            for (int e = 0; e < block; ++e) at[e] = (j + e) * right.column;
            for (int k = 0; k < whole_depth; k += block)
                transpose(right.at + k, at, to + k * W + j, W);
        }
    }
    for (int k = 0; k < K; ++k) {
        for (int j = is_transposed && k < whole_depth ? whole_columns : 0; j < N; ++j)
            to[k * W + j] = right.at[k * right.row + j * right.column];
        for (int j = N; j < W; ++j) to[k * W + j] = T(0);
    }
}

// `left` is M x K, `right` K x N. The last vector of columns begins where it ends
// with the last column, so it may compute some again.
template <int M, int N, int K, class T>
COMPOSIT_INLINE void contract_small(const SmallOperand<const T>& left,
                                    const SmallOperand<const T>& right,
                                    const SmallOperand<T>& out) {
    constexpr int lanes = vector_lanes<T>, pair = 2 * lanes;
    constexpr int width = N < lanes ? lanes : N, rest = N % pair;
    alignas(64) T copy[K * width];
    const bool is_copied = right.column != 1 || N != width;
    if (is_copied) copy_small<N, width, K>(right, copy);
    const T* from = is_copied ? copy : right.at;
    const int64_t step = is_copied ? width : right.row;
    if constexpr (N <= lanes) {
        small_panel<M, K, 1, 0, N>(left, from, step, out, 0);
    } else if constexpr (N < pair) {
        small_panel<M, K, 2, N - lanes, lanes>(left, from, step, out, 0);
    } else {
        for (int j = 0; j + pair <= N; j += pair)
            small_panel<M, K, 2, lanes, lanes>(left, from, step, out, j);
        if constexpr (rest > lanes)
            small_panel<M, K, 2, lanes, lanes>(left, from, step, out, N - pair);
        else if constexpr (rest > 0)
            small_panel<M, K, 1, 0, lanes>(left, from, step, out, N - lanes);
    }
}
