// What is left of a contraction's columns beside whole register tiles: half tiles, and a few
// columns times rows of a packed left operand, which are the vectors' lanes here.
#pragma once

#include "composit/backends/c_family/prelude/contract_tile.h"

template <class T, int R>
constexpr int row_vectors = (R + vector_lanes<T> - 1) / vector_lanes<T>;

// As many columns are worked on together at most, each one a multiply-add for every vector of rows;
// of what is left of them 1, 2, or 3 and one that does not count.
constexpr int narrow_group = 4;
constexpr int64_t narrow_columns_of(int64_t count) {
    return count >= narrow_group - 1 ? narrow_group : count;
}

// As many tiles of rows are worked on together, so that the sums wait for each other less.
template <class T, int N>
constexpr int narrow_tiles_together() {
    const int sums = vector_bytes == 64 ? 16 : 8;
    const int tiles = sums / (N * row_vectors<T, tile_rows>);
    return tiles >= 4 ? 4 : tiles >= 2 ? 2 : 1;
}

// A tile of one vector of columns: of few rows its sums would wait for each other.
constexpr bool has_half_tiles = tile_rows > 8;

// The most columns that take less time in groups than in a tile, which is R multiply-adds at each
// depth if it is a half one, else 2 R. (Groups wait for their loads, too.)
template <class T>
constexpr int narrow_columns = narrow_group * ((has_half_tiles ? 4 : 9) * tile_rows /
                                               (6 * narrow_group * row_vectors<T, tile_rows>));

// The most columns of a panel that are better split: into those of a half tile and groups.
template <class T>
constexpr int split_columns =
    has_half_tiles ? vector_lanes<T> + 2 * narrow_group : narrow_columns<T>;

// How many of the columns of a panel that is split are in groups, after a half tile if there is
// one.
template <class T>
constexpr int64_t narrow_part(int64_t count) {
    const int64_t half = has_half_tiles && count > narrow_columns<T> ? vector_lanes<T> : 0;
    return count > half ? count - half : 0;
}

// The last whole panel and what is left of a half one are a wide panel, for which tiles have half
// the rows and three vectors of columns: they wait less for their loads than half tiles do. One
// column more may stand beside it.
template <class T>
constexpr bool may_have_lone = has_half_tiles && tile_rows <= vector_lanes<T>;

// Whether so many columns beside whole panels are the end of a wide one.
template <class T>
constexpr bool is_wide_end(int64_t count) {
    return has_half_tiles && count > narrow_columns<T> &&
           count <= vector_lanes<T> + may_have_lone<T> && count < tile_columns<T>;
}

// The lanes of R rows; elements of what follows them fill the last vector up, or zeros if `is_last`
// says that nothing might follow.
template <class T, int R, int V>
COMPOSIT_INLINE void load_rows(const T* from, bool is_last, Vector<T> (&rows)[V]) {
    constexpr int lanes = vector_lanes<T>;
    if (is_last) {
        T copy[V * lanes] = {};
        __builtin_memcpy(copy, from, R * sizeof(T));
        repeat<V>([&](int v) COMPOSIT_STEP { rows[v] = load(copy + v * lanes); });
        return;
    }
    repeat<V>([&](int v) COMPOSIT_STEP { rows[v] = load(from + v * lanes); });
}

template <class T, int R, int tiles, int N, int V>
COMPOSIT_INLINE void narrow_step(const T* const (&left)[tiles], const T* right, int64_t k,
                                 bool is_last, Vector<T> (&sums)[tiles][N][V]) {
    Vector<T> rows[tiles][V];
    repeat<tiles>([&](int t) COMPOSIT_STEP { load_rows<T, R>(left[t] + k * R, is_last, rows[t]); });
    __asm__("" ::: "memory");  // keeps g++ from loading them again for each column
    repeat<N>([&](int j) COMPOSIT_STEP {
        const Vector<T> factor = right[k * tile_columns<T> + j] - Vector<T>{};
        repeat<tiles>([&](int t) COMPOSIT_STEP {
            repeat<V>([&](int v) COMPOSIT_STEP {
                sums[t][j][v] = fused_lanes<T>(rows[t][v], factor, sums[t][j][v]);
            });
        });
    });
}

// Tiles of R packed rows, `stride` elements apart, times a group of columns of a packed panel, from
// `right` on, of which `out.count` are wanted.
template <class T, int R, int tiles, int N>
void contract_narrow(const T* left, int64_t stride, const T* right, int64_t depth,
                     const TileOutput<T>& out) {
    constexpr int lanes = vector_lanes<T>, V = row_vectors<T, R>;
    constexpr int64_t beyond = V * lanes - R, last = (beyond + R - 1) / R;
    for (int64_t i = 0; i < out.row_count; ++i)
        __builtin_prefetch(out.at + out.rows[i] + out.columns[0], 1);
    Vector<T> sums[tiles][N][V];
    const T* at[tiles];  // in registers
    repeat<tiles>([&](int t) COMPOSIT_STEP {
        at[t] = left + t * stride;
        repeat<N>([&](int j) COMPOSIT_STEP {
            repeat<V>([&](int v) COMPOSIT_STEP { sums[t][j][v] = Vector<T>{}; });
        });
    });
    int64_t k = 0;
    for (; k < depth - last; ++k) narrow_step<T, R, tiles, N>(at, right, k, false, sums);
    for (; k < depth; ++k) narrow_step<T, R, tiles, N>(at, right, k, true, sums);
    T plain[tiles][N][V * lanes];
    __builtin_memcpy(plain, sums, sizeof plain);
    if (out.finish != nullptr) {
        T turned[tiles * R][tile_columns<T>];
        for (int64_t i = 0; i < out.row_count; ++i)
            for (int64_t j = 0; j < out.count; ++j) turned[i][j] = plain[i / R][j][i % R];
        return put_sums(turned[0], out);
    }
    for (int t = 0; t < tiles; ++t)
        for (int i = 0; i < R; ++i) {
            if (t * R + i == out.row_count) return;
            T* const row = out.at + out.rows[t * R + i];
#pragma GCC unroll 4
            for (int j = 0; j < N; ++j) {
                if (j == out.count) break;
                T& to = row[out.columns[j]];
                to = out.is_first ? plain[t][j][i] : to + plain[t][j][i];
            }
        }
}
