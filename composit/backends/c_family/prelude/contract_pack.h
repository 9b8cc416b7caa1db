// Copies blocks of a contraction's operands into the order in which the register tile reads them.
#pragma once

#include "composit/backends/c_family/prelude/contract_tile.h"
#include "composit/backends/c_family/prelude/transpose.h"

// Whether tiles of so many rows occur among `count` rows.
constexpr bool has_tiles_of(int rows, int count, bool is_whole) {
    for (int left = count; left > 0; left -= next_tile_rows(left, is_whole))
        if (next_tile_rows(left, is_whole) == rows) return true;
    return false;
}

// Unsigned integers of a size.
template <size_t B>
struct WordOf {
    typedef uint32_t type;
};
template <>
struct WordOf<8> {
    typedef uint64_t type;
};

// A vector whose elements lie in at most N runs of neighbours, each behind the one before, at any
// depth: rows of an image. All are read as whole vectors, between the first element and the last.
template <class T, int N>
class Runs {
  public:
    // Whether the elements at across[0], across[1], … are such.
    bool find(const int64_t* across) {
        constexpr int lanes = vector_lanes<T>;
        int end = 0;
        for (int n = 0; n < N; ++n) {
            const int begin = end;
            starts_[n] = begin < lanes ? across[begin] - begin : starts_[n - 1];
            if (n > 0 && starts_[n] < starts_[n - 1]) return false;
            while (end < lanes && across[end] == starts_[n] + end) ++end;
            for (int i = 0; i < lanes; ++i)
                is_in_[n][i] = begin <= i && i < end ? ~Word(0) : Word(0);
        }
        is_one_ = are_consecutive(across, lanes);
        return end == lanes;
    }

    COMPOSIT_INLINE void copy(const T* from, T* to) const {
        // Loads of whole vectors that cross lines of the cache take as long as two; most vectors
        // are one run, and the processor foresees which.
        Words all;
        __builtin_memcpy(&all, from + starts_[0], sizeof all);
        if (!is_one_) {
            all &= is_in_[0];
#pragma GCC unroll 4
            for (int n = 1; n < N; ++n) {
                Words run;
                __builtin_memcpy(&run, from + starts_[n], sizeof run);
                all |= run & is_in_[n];
            }
        }
        __builtin_memcpy(to, &all, sizeof all);
    }

  private:
    typedef typename WordOf<sizeof(T)>::type Word;
    typedef Word Words __attribute__((vector_size(COMPOSIT_VECTOR_BYTES)));
    int64_t starts_[N] = {};
    Words is_in_[N] = {};
    bool is_one_ = false;
};

// A right operand that is packed while it is read: the rows of a panel whose vectors are two runs.
template <class T>
struct PackingRight {
    const T* from;
    const int64_t* along;
    T* to;
    Runs<T, 2> low{}, high{};

    // Whether the elements at across[0], across[1], … are such.
    bool find(const int64_t* across) {
        return low.find(across) && high.find(across + vector_lanes<T>);
    }
    COMPOSIT_INLINE const T* operator()(int64_t k) const {
        T* const row = to + k * tile_columns<T>;
        low.copy(from + along[k], row);
        high.copy(from + along[k], row + vector_lanes<T>);
        return row;
    }
};

// Whether most depth positions come in groups of four neighbours.
inline bool are_mostly_neighbours(const int64_t* along, int64_t depth) {
    int64_t count = 0;
    for (int64_t k = 1; k < depth; ++k) count += along[k] == along[k - 1] + 1;
    return 4 * count >= 3 * (depth - 1);
}

// `R` rows of a panel at all depths: blocks of them are transposed in registers.
template <int R, class T>
inline void pack_transposed(const T* from, const int64_t* across, const int64_t* along,
                            int64_t depth, T* to, int64_t width) {
    constexpr int block = R == 1 ? 1 : transpose_block<T>;
    for (int64_t k = 0; k < depth;) {
        const T* at = from + along[k];
        if (block > 1 && k + block <= depth && are_consecutive(along + k, block)) {
            if constexpr (R == 8) transpose_tall(at, across, to + k * width, width);
            if constexpr (R == block) transpose(at, across, to + k * width, width);
            if constexpr (R == 2 && block == 4) transpose_pair(at, across, to + k * width, width);
            k += block;
        } else {
            for (int r = 0; r < R; ++r) to[k * width + r] = at[across[r]];
            ++k;
        }
    }
}

// Rows of neighbours are too short for the processor to find out what comes next: it is asked for
// while as many rows are packed.
template <class T>
inline void fetch_rows(const T* from, const int64_t* across, int64_t count, int64_t depth) {
    const int64_t bytes = depth * static_cast<int64_t>(sizeof(T));
    for (int64_t i = 0; i < count; ++i) {
        const char* const row = reinterpret_cast<const char*>(from + across[i]);
        for (int64_t at = 0; at < bytes; at += 64) __builtin_prefetch(row + at);
    }
}

// A panel whose rows are strided. The offsets of `known` rows are there, those of later panels too.
template <class T>
COMPOSIT_APART void pack_strided(const T* from, const int64_t* across, int64_t count,
                                 const int64_t* along, int64_t depth, T* to, int64_t width,
                                 int64_t known) {
    constexpr int block = transpose_block<T>;
    constexpr int64_t ahead = 16;  // rows: what two groups hold is on its way
    int64_t i = 0;
    if constexpr (transposes_tall<T>)
        for (; i + 8 <= count; i += 8) {
            if (i + ahead + 8 <= known) fetch_rows(from + along[0], across + i + ahead, 8, depth);
            pack_transposed<8>(from, across + i, along, depth, to + i, width);
        }
    for (; i + block <= count; i += block)
        pack_transposed<block>(from, across + i, along, depth, to + i, width);
    if constexpr (block == 4)
        for (; i + 2 <= count; i += 2)
            pack_transposed<2>(from, across + i, along, depth, to + i, width);
    for (; i < count; ++i) pack_transposed<1>(from, across + i, along, depth, to + i, width);
}

// Groups of `run` offsets, each the second behind the one before: images under windows of stride 2.
inline bool are_every_second(const int64_t* offsets, int64_t count, int64_t run) {
    if (count % run != 0) return false;
    bool yes = true;
    for (int64_t i = 0; i < count; ++i) yes &= offsets[i] == offsets[i - i % run] + i % run * 2;
    return yes;
}

// Panels whose rows are neighbours in memory: W of them at each depth.
template <int W, class T>
inline void pack_consecutive(const T* from, const int64_t* along, int64_t depth, T* to) {
    for (int64_t k = 0; k < depth; ++k)
        __builtin_memcpy(to + k * W, from + along[k], W * sizeof(T));
}

// A panel of rows, or columns, that are anywhere: to[k * width + i] = from[across[i] + along[k]]
// for i < count; zero for count <= i < filled.
template <class T>
COMPOSIT_APART void pack_any(const T* from, const int64_t* across, int64_t count,
                             const int64_t* along, int64_t depth, T* to, int64_t width,
                             int64_t filled, int64_t known) {
    if (count < filled)
        for (int64_t k = 0; k < depth; ++k)
            for (int64_t i = count; i < filled; ++i) to[k * width + i] = T(0);
    if constexpr (sizeof(T) == 4) {
        constexpr int lanes = vector_lanes<T>;
        if (are_every_second(across, count, lanes)) {
            for (int64_t k = 0; k < depth; ++k)
                for (int64_t i = 0; i < count; i += lanes)
                    copy_every_second_of_vectors(from + across[i] + along[k], to + k * width + i);
            return;
        }
        if (are_every_second(across, count, 4)) {
            for (int64_t k = 0; k < depth; ++k)
                for (int64_t i = 0; i < count; i += 4)
                    copy_every_second(from + across[i] + along[k], to + k * width + i);
            return;
        }
    }
    if (are_mostly_neighbours(along, depth))
        return pack_strided(from, across, count, along, depth, to, width, known);
    int64_t i = 0;
    for (Runs<T, 4> runs; i + vector_lanes<T> <= count && runs.find(across + i);
         i += vector_lanes<T>)
        for (int64_t k = 0; k < depth; ++k) runs.copy(from + along[k], to + k * width + i);
    for (int64_t k = 0; k < depth; ++k)
        for (int64_t j = i; j < count; ++j) to[k * width + j] = from[across[j] + along[k]];
}

// A panel of columns.
template <int W, class T>
inline void pack_right_panel(const T* from, const int64_t* columns, int64_t count,
                             const int64_t* depths, int64_t depth, T* to, int64_t filled = W,
                             int64_t known = 0) {
    if constexpr (W == tile_columns<T>) {
        PackingRight<T> row{from, depths, to};
        if (count == W && row.find(columns)) {
            for (int64_t k = 0; k < depth; ++k) row(k);
            return;
        }
    } else if (count == W && are_consecutive(columns, count)) {
        return pack_consecutive<W>(from + columns[0], depths, depth, to);
    }
    pack_any(from, columns, count, depths, depth, to, W, filled, known);
}

// `P` panels whose rows lie side by side: all of them at each depth, as memory is read best.
template <int W, int P, class T>
inline void pack_neighbours(const T* from, const int64_t* along, int64_t depth, T* to) {
    for (int64_t k = 0; k < depth; ++k) {
        const T* row = from + along[k];
#pragma GCC unroll 8
        for (int p = 0; p < P; ++p)
            __builtin_memcpy(to + (p * depth + k) * W, row + p * W, W * sizeof(T));
    }
}

// Panels of tile_rows rows (the last ones smaller, see next_tile_rows), one after the other.
template <class T>
inline void pack_left_panel(int width, const T* from, const int64_t* rows, int64_t count,
                            const int64_t* depths, int64_t depth, T* to) {
    if (count == width && are_consecutive(rows, count)) {
        const T* const at = from + rows[0];
        if (width == tile_rows) return pack_consecutive<tile_rows>(at, depths, depth, to);
        if (tile_rows > 8 && width == 8) return pack_consecutive<8>(at, depths, depth, to);
        if (width == 4) return pack_consecutive<4>(at, depths, depth, to);
    }
    pack_any(from, rows, count, depths, depth, to, width, width, 0);
}
template <class T>
COMPOSIT_APART void pack_left(const T* from, const int64_t* rows, int64_t count,
                              const int64_t* depths, int64_t depth, T* to) {
    constexpr int several = 8, together = several * tile_rows;
    int64_t i = 0;
    // As long as the last of several tiles is a full one.
    while (i + together <= count && are_consecutive(rows + i, together) &&
           next_tile_rows(count - i - together + tile_rows, false) == tile_rows) {
        pack_neighbours<tile_rows, several>(from + rows[i], depths, depth, to);
        i += together;
        to += together * depth;
    }
    while (i < count) {
        const int width = next_tile_rows(count - i, false);
        const int64_t some = count - i < width ? count - i : width;
        pack_left_panel(width, from, rows + i, some, depths, depth, to);
        to += width * depth;
        i += width;
    }
}

// The panels of a left operand that is not packed yet. One of which all that is read finds room is
// packed once, for every block of columns; any other one anew for each.
template <class T>
class LeftPanels {
  public:
    // room: elements at `memory`.
    LeftPanels(T* memory, int64_t room) : memory_(memory), room_(room) {}

    // Those of `count` rows, at `depth` of whole_depth positions from k on. is_all: no other rows
    // of `from` are read.
    void pack(const T* from, const int64_t* rows, int64_t count, bool is_all, const int64_t* depths,
              int64_t k, int64_t depth, int64_t whole_depth) {
        const int64_t whole = (count + tile_rows - 1) / tile_rows * tile_rows;
        const bool is_kept = is_all && whole * whole_depth <= room_;
        panels_ = memory_ + (is_kept ? whole * k : 0);
        if (is_kept && kept_ == from && k < kept_depth_) return;
        pack_left(from, rows, count, depths, depth, panels_);
        kept_ = is_kept ? from : nullptr;
        kept_depth_ = k + depth;
    }
    const T* begin() const { return panels_; }

  private:
    T *memory_, *panels_ = nullptr;
    int64_t room_;
    const T* kept_ = nullptr;  // whose panels are there, up to kept_depth_
    int64_t kept_depth_ = 0;
};

// Panels of tile_columns columns; one that is incomplete has `filled` columns, the last ones zeros.
// The offsets of `known` columns are there, those of later panels too.
template <class T>
COMPOSIT_APART void pack_right(const T* from, const int64_t* columns, int64_t count,
                               const int64_t* depths, int64_t depth, int64_t filled, T* to,
                               int64_t known = 0) {
    constexpr int64_t width = tile_columns<T>;
    constexpr int several = 4;
    int64_t j = 0;
    for (; j + several * width <= count && are_consecutive(columns + j, several * width);
         j += several * width, to += several * width * depth)
        pack_neighbours<width, several>(from + columns[j], depths, depth, to);
    for (; j < count; j += width, to += width * depth)
        pack_right_panel<width>(from, columns + j, count - j < width ? count - j : width, depths,
                                depth, to, count - j < width ? filled : width, known - j);
}

// The panels of rows, or columns, [begin, end), which are multiples of packed_together or all.
template <bool is_left, class T>
inline void pack_whole(const Packing<T>& p, int64_t begin, int64_t end) {
    constexpr int64_t most_depth = 256;
    const int64_t count = iterations(p.across), depth = iterations(p.depth);
    OffsetWindow<packed_together> across;
    OffsetWindow<most_depth> along;
    for (int64_t at = begin; at < end; at += packed_together) {
        const int64_t some = end - at < packed_together ? end - at : packed_together;
        across.move(p.across, p.across_strides, at, some);
        for (int64_t k = 0; k < depth; k += most_depth) {
            along.move(p.depth, p.depth_strides, k,
                       depth - k < most_depth ? depth - k : most_depth);
            for (int64_t i = 0; i < some;) {
                const int64_t width = panel_width<T>(is_left, count - at - i);
                const int64_t left = some - i < width ? some - i : width;
                T* const to = p.to + (at + i) * depth + k * width;
                if constexpr (is_left)
                    pack_left_panel(static_cast<int>(width), p.from, across.offsets + i, left,
                                    along.offsets, along.count, to);
                else
                    pack_right_panel<tile_columns<T>>(p.from, across.offsets + i, left,
                                                      along.offsets, along.count, to, width,
                                                      some - i);
                i += width;
            }
        }
    }
}
