// The register tile of a contraction: a few rows times two vectors of columns, or one, over at most
// 256 depth positions.
#pragma once

#include "composit/backends/c_family/prelude/contract_ahead.h"

// A tile of three vectors has half the rows.
template <class T>
constexpr int wide_columns = 3 * vector_lanes<T>;

// Where the tile's operands lie: element (i, k) of a tile of R rows of left at left[k * R + i] when
// packed, else at left[rows[i] + depths[k]], as start(i)[offset<R>(k)]; row k of right at
// right[k * W], else at right[depths[k]].
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
// The rows of a panel of W columns.
template <class T, int W = tile_columns<T>>
struct PackedRight {
    const T* at;
    COMPOSIT_INLINE const T* operator()(int64_t k) const { return at + k * W; }
};
template <class T>
struct DirectRight {
    const T* at;
    const int64_t* depths;
    COMPOSIT_INLINE const T* operator()(int64_t k) const { return at + depths[k]; }
};

// Half of a packed tile.
template <class T>
struct HalfLeft : PackedLeft<T> {
    template <int R>
    COMPOSIT_INLINE int64_t offset(int64_t k) const {
        return k * 2 * R;
    }
};

// Where the results of a tile go: element (i, j) to at[rows[i] + columns[j]] for i < row_count, j <
// count.
template <class T>
struct TileOutput {
    T* at;
    const int64_t* rows;
    const int64_t* columns;
    int64_t row_count, count;
    bool is_consecutive;      // a full tile whose columns are neighbours in memory
    bool is_first;            // the first depth block: its results are stored, later ones are added
    const Finish<T>* finish;  // in the last depth block, if sums are finished; else null
    int64_t b, row, column;   // the number of element (0, 0)
    // Of a wide tile: one more column, packed on its own, with results for so many rows, which are
    // lanes of vectors from lone_lane on.
    const T* lone = nullptr;
    int64_t lone_lane = 0, lone_rows = 0;
};

// Stores, adds or finishes sums in the order of a whole tile: sums[i * tile_columns + j].
template <class T>
COMPOSIT_APART void put_sums(T* __restrict sums, const TileOutput<T>& out) {
    const int64_t count = out.count;
    const bool is_first = out.is_first, is_finished = out.finish != nullptr;
    const bool is_run = out.is_consecutive || are_consecutive(out.columns, count);
    for (int64_t i = 0; i < out.row_count; ++i) {
        T* const row = sums + i * tile_columns<T>;
        T* __restrict to = out.at + out.rows[i];
        if (is_run) {
            to += out.columns[0];
            if (!is_first)
                for (int64_t j = 0; j < count; ++j) row[j] = to[j] + row[j];
            if (!is_finished)
                for (int64_t j = 0; j < count; ++j) to[j] = row[j];
            continue;
        }
        const int64_t* const columns = out.columns;
        if (!is_first)
            for (int64_t j = 0; j < count; ++j) row[j] = to[columns[j]] + row[j];
        if (!is_finished)
            for (int64_t j = 0; j < count; ++j) to[columns[j]] = row[j];
    }
    if (is_finished)
        out.finish->run(out.finish->operands, sums, out.b, out.row, out.row_count, out.column,
                        count);
}

template <class T, int R, int V>
COMPOSIT_INLINE void put_tile(const Vector<T> (&sums)[R][V], const TileOutput<T>& out) {
    constexpr int lanes = vector_lanes<T>, first = tile_columns<T>;
    T plain[R][tile_columns<T>];
    const bool is_finished = out.finish != nullptr;
    if (out.is_consecutive && (V <= 2 || !is_finished)) {
        repeat<R>([&](int i) COMPOSIT_STEP {
            if (i >= out.row_count) return;
            T* const row = out.at + out.rows[i] + out.columns[0];
            T* const to = is_finished ? plain[i] : row;
            repeat<V>([&](int v) COMPOSIT_STEP {
                store(to + v * lanes,
                      out.is_first ? sums[i][v] : load(row + v * lanes) + sums[i][v]);
            });
        });
        if (is_finished)
            out.finish->run(out.finish->operands, plain[0], out.b, out.row, out.row_count,
                            out.column, out.count);
        return;
    }
    repeat<R>([&](int i) COMPOSIT_STEP {
        repeat<(V < 2 ? V : 2)>([&](int v)
                                    COMPOSIT_STEP { store(plain[i] + v * lanes, sums[i][v]); });
    });
    if constexpr (V <= 2) return put_sums(plain[0], out);
    TileOutput<T> part = out;
    part.count = out.count < first ? out.count : first;
    put_sums(plain[0], part);
    if (out.count <= first) return;
    repeat<R>([&](int i) COMPOSIT_STEP { store(plain[i], sums[i][V - 1]); });
    part.columns += first, part.column += first, part.count = out.count - first;
    put_sums(plain[0], part);
}

// Brings what a tile's results are stored to, and made of, near: a few rows in each step. All at
// once they would fill the processor's list of lines it waits for, behind which the operands'
// stand.
template <class T, int V>
class ResultsAhead {
  public:
    COMPOSIT_INLINE ResultsAhead(const TileOutput<T>& out, int64_t depth)
        : out_(out),
          other_(out.finish != nullptr ? out.finish->fetched : 0),
          rows_of_step_(depth < 8 * depth_of_step ? tile_rows : 2) {}

    COMPOSIT_INLINE void step() {
        for (const int64_t end = row_ + rows_of_step_; row_ < end && row_ < out_.row_count;
             ++row_) {
            const T* const row = out_.at + out_.rows[row_] + out_.columns[0];
            repeat<V>([&](int v)
                          COMPOSIT_STEP { __builtin_prefetch(row + v * vector_lanes<T>, 1); });
            if (other_ == 0) continue;
            const char* const read = reinterpret_cast<const char*>(row) + other_;
            repeat<V>([&](int v) COMPOSIT_STEP { __builtin_prefetch(read + v * vector_bytes); });
        }
    }

  private:
    const TileOutput<T>& out_;
    const int64_t other_, rows_of_step_;
    int64_t row_ = 0;
};

// The sums of one column beside a tile, whose packed rows are lanes, after or before others that
// are of no account.
template <class T, bool is_there>
struct LoneColumn {
    const T* column;
    int64_t first;
    Vector<T> sums{};

    COMPOSIT_INLINE explicit LoneColumn(const TileOutput<T>& out)
        : column(out.lone), first(out.lone_lane) {}
    COMPOSIT_INLINE void add(const T* rows, int64_t k) {
        const Vector<T> factor = column[k] - Vector<T>{};
        sums = fused_lanes<T>(load(rows - first), factor, sums);
    }
    COMPOSIT_INLINE void put(const TileOutput<T>& out) const {
        T plain[vector_lanes<T>], turned[vector_lanes<T>][tile_columns<T>];
        store(plain, sums);
        for (int64_t i = 0; i < out.lone_rows; ++i) turned[i][0] = plain[first + i];
        TileOutput<T> part = out;
        part.columns += wide_columns<T>, part.column += wide_columns<T>;
        part.row_count = out.lone_rows, part.count = 1, part.is_consecutive = false;
        put_sums(turned[0], part);
    }
};
template <class T>
struct LoneColumn<T, false> {
    COMPOSIT_INLINE explicit LoneColumn(const TileOutput<T>&) {}
    COMPOSIT_INLINE void add(const T*, int64_t) {}
    COMPOSIT_INLINE void put(const TileOutput<T>&) const {}
};

// R rows of V vectors of columns, and with `lone` one more column.
template <class T, int R, int V = 2, bool lone = false, class Left, class Right>
void contract_tile(Left left, Right right, int64_t depth, const TileOutput<T>& out,
                   Ahead<T>& ahead) {
    ResultsAhead<T, V> results(out, depth);
    const T* starts[R];  // in registers; rows that are not wanted repeat the last one
    Vector<T> sums[R][V];
    LoneColumn<T, lone> lone_column(out);
    repeat<R>([&](int i) COMPOSIT_STEP {
        starts[i] = left.start(Left::is_packed || i < out.row_count ? i : out.row_count - 1);
        repeat<V>([&](int v) COMPOSIT_STEP { sums[i][v] = Vector<T>{}; });
    });
    for (int64_t k = 0; k < depth;) {
        LinesOfStep next = ahead.step();
        results.step();
        const int64_t end = depth - k < depth_of_step ? depth : k + depth_of_step;
#pragma GCC unroll 4
        for (; k < end; ++k) {
            next.fetch();
            const int64_t offset = left.template offset<R>(k);
            const T* row = right(k);
            Vector<T> columns[V];
            repeat<V>([&](int v) COMPOSIT_STEP { columns[v] = load(row + v * vector_lanes<T>); });
            lone_column.add(starts[0] + offset, k);
            repeat<R>([&](int i) COMPOSIT_STEP {
                const Vector<T> factor = starts[i][offset] - Vector<T>{};
                // Keeps g++ from loading neighbours at once and shuffling them apart.
                __asm__("" ::: "memory");
                repeat<V>([&](int v) COMPOSIT_STEP {
                    sums[i][v] = fused_lanes<T>(factor, columns[v], sums[i][v]);
                });
            });
        }
    }
    put_tile<T, R>(sums, out);
    lone_column.put(out);
}

// One row times four panels of columns: enough chains of fma to keep the processor busy.
template <class T, class Left, class Right>
void contract_row(Left left, const Right (&rights)[4], int64_t depth,
                  const TileOutput<T> (&outs)[4]) {
    Vector<T> sums[4][1][2];
    repeat<4>([&](int p) COMPOSIT_STEP { sums[p][0][0] = sums[p][0][1] = Vector<T>{}; });
    for (int64_t k = 0; k < depth; ++k) {
        const Vector<T> factor = left.start(0)[left.template offset<1>(k)] - Vector<T>{};
        repeat<4>([&](int p) COMPOSIT_STEP {
            const T* row = rights[p](k);
            sums[p][0][0] = fused_lanes<T>(factor, load(row), sums[p][0][0]);
            sums[p][0][1] = fused_lanes<T>(factor, load(row + vector_lanes<T>), sums[p][0][1]);
        });
    }
    repeat<4>([&](int p) COMPOSIT_STEP { put_tile<T, 1>(sums[p], outs[p]); });
}
