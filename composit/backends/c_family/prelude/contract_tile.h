// The register tile of a contraction: a few rows times two vectors of columns, over at most 256
// depth positions.
#pragma once

#include "composit/backends/c_family/prelude/offsets.h"

constexpr int64_t contract_depth =
    256;  // part of the meaning: one fma chain each, results added in order

// 12 rows of two vectors fill 32 registers, 6 rows fill 16.
constexpr int tile_rows = vector_bytes == 64 ? 12 : vector_bytes == 32 ? 6 : 4;
template <class T>
constexpr int tile_columns = 2 * vector_lanes<T>;

// Where the tile's operands lie: element (i, k) of a tile of R rows of left at left[k * R + i] when
// packed, else at left[rows[i] + depths[k]], as start(i)[offset<R>(k)]; row k of right at
// right[k * tile_columns], else at right[depths[k]].
template <class T>
struct PackedLeft {
    static constexpr bool is_packed = true;
    const T* at;
    COMPOSIT_INLINE const T* start(int64_t i) const { return at + i; }
    template <int R>
    COMPOSIT_INLINE int64_t offset(int64_t k) const {
        return k * R;
    }
};
template <class T>
struct DirectLeft {
    static constexpr bool is_packed = false;
    const T* at;
    const int64_t* rows;
    const int64_t* depths;
    COMPOSIT_INLINE const T* start(int64_t i) const { return at + rows[i]; }
    template <int>
    COMPOSIT_INLINE int64_t offset(int64_t k) const {
        return depths[k];
    }
};
template <class T>
struct PackedRight {
    const T* at;
    COMPOSIT_INLINE const T* operator()(int64_t k) const { return at + k * tile_columns<T>; }
};
template <class T>
struct DirectRight {
    const T* at;
    const int64_t* depths;
    COMPOSIT_INLINE const T* operator()(int64_t k) const { return at + depths[k]; }
};

// Where its results go: element (i, j) to at[rows[i] + columns[j]] for i < row_count, j < count.
template <class T>
struct TileOutput {
    T* at;
    const int64_t* rows;
    const int64_t* columns;
    int64_t row_count, count;
    bool is_consecutive;  // a full tile whose columns are neighbours in memory
    bool is_first;        // the first depth block: its results are stored, later ones are added
};

template <class T, int R>
COMPOSIT_INLINE void put_tile(const Vector<T> (&sums)[R][2], const TileOutput<T>& out) {
    constexpr int lanes = vector_lanes<T>;
    if (out.is_consecutive) {
#pragma GCC unroll 16
        for (int i = 0; i < R; ++i) {
            if (i == out.row_count) break;
            T* row = out.at + out.rows[i] + out.columns[0];
            store(row, out.is_first ? sums[i][0] : load(row) + sums[i][0]);
            store(row + lanes, out.is_first ? sums[i][1] : load(row + lanes) + sums[i][1]);
        }
        return;
    }
    T plain[R][2 * lanes];
#pragma GCC unroll 16
    for (int i = 0; i < R; ++i) {
        store(plain[i], sums[i][0]);
        store(plain[i] + lanes, sums[i][1]);
    }
    for (int64_t i = 0; i < out.row_count; ++i) {
        for (int64_t j = 0; j < out.count; ++j) {
            T& to = out.at[out.rows[i] + out.columns[j]];
            to = out.is_first ? plain[i][j] : to + plain[i][j];
        }
    }
}

template <class T, int R, class Left, class Right>
void contract_tile(Left left, Right right, int64_t depth, const TileOutput<T>& out) {
    for (int64_t i = 0; i < out.row_count; ++i) {
        const T* const row = out.at + out.rows[i] + out.columns[0];
        __builtin_prefetch(row, 1);
        __builtin_prefetch(row + vector_lanes<T>, 1);
    }
    const T* starts[R];  // in registers; rows that are not wanted repeat the last one
    Vector<T> sums[R][2];
#pragma GCC unroll 16
    for (int i = 0; i < R; ++i) {
        starts[i] = left.start(Left::is_packed || i < out.row_count ? i : out.row_count - 1);
        sums[i][0] = sums[i][1] = Vector<T>{};
    }
#pragma GCC unroll 4
    for (int64_t k = 0; k < depth; ++k) {
        const int64_t offset = left.template offset<R>(k);
        const T* row = right(k);
        const Vector<T> low = load(row), high = load(row + vector_lanes<T>);
#pragma GCC unroll 16
        for (int i = 0; i < R; ++i) {
            const Vector<T> factor = starts[i][offset] - Vector<T>{};
            __asm__("" ::
                        : "memory");  // keeps g++ from loading neighbours at once and shuffling
                                      // them apart
            sums[i][0] = fused_lanes<T>(factor, low, sums[i][0]);
            sums[i][1] = fused_lanes<T>(factor, high, sums[i][1]);
        }
    }
    put_tile<T, R>(sums, out);
}

// One row times four panels of columns: enough chains of fma to keep the processor busy.
template <class T, class Left, class Right>
void contract_row(Left left, const Right (&rights)[4], int64_t depth,
                  const TileOutput<T> (&outs)[4]) {
    Vector<T> sums[4][1][2];
#pragma GCC unroll 4
    for (int p = 0; p < 4; ++p) sums[p][0][0] = sums[p][0][1] = Vector<T>{};
    for (int64_t k = 0; k < depth; ++k) {
        const Vector<T> factor = left.start(0)[left.template offset<1>(k)] - Vector<T>{};
#pragma GCC unroll 4
        for (int p = 0; p < 4; ++p) {
            const T* row = rights[p](k);
            sums[p][0][0] = fused_lanes<T>(factor, load(row), sums[p][0][0]);
            sums[p][0][1] = fused_lanes<T>(factor, load(row + vector_lanes<T>), sums[p][0][1]);
        }
    }
#pragma GCC unroll 4
    for (int p = 0; p < 4; ++p) put_tile<T, 1>(sums[p], outs[p]);
}
