// The register tile of a contraction: a few rows times two vectors of columns, or one, over at most
// 256 depth positions.
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

template <class T, int R, int V>
COMPOSIT_INLINE void put_tile(const Vector<T> (&sums)[R][V], const TileOutput<T>& out) {
    constexpr int lanes = vector_lanes<T>;
    if (out.is_consecutive) {
#pragma GCC unroll 16
        for (int i = 0; i < R; ++i) {
            if (i == out.row_count) break;
            T* row = out.at + out.rows[i] + out.columns[0];
#pragma GCC unroll 2
            for (int v = 0; v < V; ++v, row += lanes)
                store(row, out.is_first ? sums[i][v] : load(row) + sums[i][v]);
        }
        return;
    }
    T plain[R][V * lanes];
#pragma GCC unroll 16
    for (int i = 0; i < R; ++i)
#pragma GCC unroll 2
        for (int v = 0; v < V; ++v) store(plain[i] + v * lanes, sums[i][v]);
    for (int64_t i = 0; i < out.row_count; ++i) {
        for (int64_t j = 0; j < out.count; ++j) {
            T& to = out.at[out.rows[i] + out.columns[j]];
            to = out.is_first ? plain[i][j] : to + plain[i][j];
        }
    }
}

// Runs of `bytes` neighbouring bytes from at + starts[0], at + starts[1], …, which are fetched into
// the L2 cache before they are needed, a few lines at a time: a processor can wait for few at once.
template <class T>
class LinesAhead {
  public:
    LinesAhead() = default;
    // All are fetched in so many steps.
    LinesAhead(const T* at, const int64_t* starts, int64_t runs, int64_t bytes, int64_t steps)
        : at_(at),
          starts_(starts),
          runs_(runs),
          each_((bytes + 63) / 64),
          at_a_time_((runs * each_ + steps - 1) / steps) {}

    COMPOSIT_INLINE void step() {
        for (int64_t count = 0; count < at_a_time_ && run_ < runs_; ++count) {
            const char* const start = reinterpret_cast<const char*>(at_ + starts_[run_]);
            __builtin_prefetch(start + 64 * line_, 0, 2);
            if (++line_ == each_) line_ = 0, ++run_;
        }
    }

  private:
    const T* at_ = nullptr;
    const int64_t* starts_ = nullptr;
    int64_t runs_ = 0, each_ = 0, at_a_time_ = 0;
    int64_t run_ = 0, line_ = 0;
};

// What is fetched while tiles are in use, in `steps_of_tile` steps in each.
template <class T>
struct Ahead {
    LinesAhead<T> left, right;
};
constexpr int64_t depth_of_step = 16, steps_of_tile = contract_depth / depth_of_step;

template <class T, int R, int V = 2, class Left, class Right>
void contract_tile(Left left, Right right, int64_t depth, const TileOutput<T>& out,
                   Ahead<T>& ahead) {
    for (int64_t i = 0; i < out.row_count; ++i) {
        const T* const row = out.at + out.rows[i] + out.columns[0];
        __builtin_prefetch(row, 1);
        if (V == 2) __builtin_prefetch(row + vector_lanes<T>, 1);
    }
    const T* starts[R];  // in registers; rows that are not wanted repeat the last one
    Vector<T> sums[R][V];
#pragma GCC unroll 16
    for (int i = 0; i < R; ++i) {
        starts[i] = left.start(Left::is_packed || i < out.row_count ? i : out.row_count - 1);
#pragma GCC unroll 2
        for (int v = 0; v < V; ++v) sums[i][v] = Vector<T>{};
    }
    for (int64_t k = 0; k < depth;) {
        ahead.left.step();
        ahead.right.step();
        const int64_t end = depth - k < depth_of_step ? depth : k + depth_of_step;
#pragma GCC unroll 4
        for (; k < end; ++k) {
            const int64_t offset = left.template offset<R>(k);
            const T* row = right(k);
            Vector<T> columns[V];
#pragma GCC unroll 2
            for (int v = 0; v < V; ++v) columns[v] = load(row + v * vector_lanes<T>);
#pragma GCC unroll 16
            for (int i = 0; i < R; ++i) {
                const Vector<T> factor = starts[i][offset] - Vector<T>{};
                // Keeps g++ from loading neighbours at once and shuffling them apart.
                __asm__("" ::: "memory");
#pragma GCC unroll 2
                for (int v = 0; v < V; ++v)
                    sums[i][v] = fused_lanes<T>(factor, columns[v], sums[i][v]);
            }
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
