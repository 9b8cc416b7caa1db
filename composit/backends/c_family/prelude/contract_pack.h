// Copies blocks of a contraction's operands into the order in which the register tile reads them.
#pragma once

#include "composit/backends/c_family/prelude/contract_tile.h"
#include "composit/backends/c_family/prelude/transpose.h"

// The rows of the next tile when `left` remain; it may have more, filled up with what is of no
// account. Tiles of 4 rows keep the processor busy, smaller ones wait for their own results, so two
// of 4 do for 7 or 8 rows. Not in operands packed as a whole: parts of them end anywhere between
// tiles.
inline int next_tile_rows(int64_t left, bool is_whole) {
    if (left == 1) return 1;
    if (left <= 4) return 4;
    const bool is_two_fours = left <= 8 && (tile_rows > 8 || (left > tile_rows && !is_whole));
    return is_two_fours ? 4 : tile_rows;
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

// A vector whose elements lie in at most two runs of neighbours, the second behind the first, at
// any depth: rows of an image. Both are read as whole vectors, between the first element and the
// last.
template <class T>
class TwoRuns {
  public:
    // Whether the elements at across[0], across[1], … are such.
    bool find(const int64_t* across) {
        constexpr int lanes = vector_lanes<T>;
        int cut = 1;
        while (cut < lanes && across[cut] == across[0] + cut) ++cut;
        first_ = across[0];
        second_ = cut < lanes ? across[cut] - cut : first_;
        for (int i = 0; i < lanes; ++i) is_first_[i] = i < cut ? ~Word(0) : Word(0);
        return second_ >= first_ && (cut == lanes || are_consecutive(across + cut, lanes - cut));
    }

    COMPOSIT_INLINE void copy(const T* from, T* to) const {
        Words first, second;
        __builtin_memcpy(&first, from + first_, sizeof first);
        __builtin_memcpy(&second, from + second_, sizeof second);
        const Words both = (first & is_first_) | (second & ~is_first_);
        __builtin_memcpy(to, &both, sizeof both);
    }

  private:
    typedef typename WordOf<sizeof(T)>::type Word;
    typedef Word Words __attribute__((vector_size(COMPOSIT_VECTOR_BYTES)));
    int64_t first_ = 0, second_ = 0;
    Words is_first_{};
};

// A right operand that is packed while it is read: the rows of a panel whose vectors are TwoRuns.
template <class T>
struct PackingRight {
    const T* from;
    const int64_t* along;
    T* to;
    TwoRuns<T> low{}, high{};

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
template <int W, int R, class T>
inline void pack_transposed(const T* from, const int64_t* across, const int64_t* along,
                            int64_t depth, T* to) {
    constexpr int block = R == 1 ? 1 : transpose_block<T>;
    for (int64_t k = 0; k < depth;) {
        const T* at = from + along[k];
        if (block > 1 && k + block <= depth && are_consecutive(along + k, block)) {
            if constexpr (R == 8) transpose_tall(at, across, to + k * W, W);
            if constexpr (R == block) transpose(at, across, to + k * W, W);
            if constexpr (R == 2 && block == 4) transpose_pair(at, across, to + k * W, W);
            k += block;
        } else {
            for (int r = 0; r < R; ++r) to[k * W + r] = at[across[r]];
            ++k;
        }
    }
}

// A panel whose rows are strided.
template <int W, class T>
inline void pack_strided(const T* from, const int64_t* across, int64_t count, const int64_t* along,
                         int64_t depth, T* to) {
    constexpr int block = transpose_block<T>;
    int64_t i = 0;
    if constexpr (transposes_tall<T> && W >= 8)
        for (; i + 8 <= count; i += 8)
            pack_transposed<W, 8>(from, across + i, along, depth, to + i);
    for (; i + block <= count; i += block)
        pack_transposed<W, block>(from, across + i, along, depth, to + i);
    if constexpr (block == 4 && W % 4 != 0)
        for (; i + 2 <= count; i += 2)
            pack_transposed<W, 2>(from, across + i, along, depth, to + i);
    for (; i < count; ++i) pack_transposed<W, 1>(from, across + i, along, depth, to + i);
}

// Groups of four offsets, each the second behind the one before: images under windows of stride 2.
inline bool are_every_second(const int64_t* offsets, int64_t count) {
    if (count % 4 != 0) return false;
    bool yes = true;
    for (int64_t i = 0; i < count; ++i) yes &= offsets[i] == offsets[i - i % 4] + i % 4 * 2;
    return yes;
}

// to[k * W + i] = from[across[i] + along[k]] for i < count; zero for count <= i < W.
template <int W, class T>
inline void pack_panel(const T* from, const int64_t* across, int64_t count, const int64_t* along,
                       int64_t depth, T* to) {
    if constexpr (W == tile_columns<T>) {
        PackingRight<T> row{from, along, to};
        if (count == W && row.find(across)) {
            for (int64_t k = 0; k < depth; ++k) row(k);
            return;
        }
    } else if (count == W && are_consecutive(across, count)) {
        for (int64_t k = 0; k < depth; ++k)
            __builtin_memcpy(to + k * W, from + across[0] + along[k], W * sizeof(T));
        return;
    }
    for (int64_t i = count; i < W; ++i)
        for (int64_t k = 0; k < depth; ++k) to[k * W + i] = T(0);
    if constexpr (sizeof(T) == 4) {
        if (are_every_second(across, count)) {
            for (int64_t k = 0; k < depth; ++k)
                for (int64_t i = 0; i < count; i += 4)
                    copy_every_second(from + across[i] + along[k], to + k * W + i);
            return;
        }
    }
    if (are_mostly_neighbours(along, depth))
        return pack_strided<W>(from, across, count, along, depth, to);
    for (int64_t k = 0; k < depth; ++k)
        for (int64_t i = 0; i < count; ++i) to[k * W + i] = from[across[i] + along[k]];
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
    if (width == tile_rows) return pack_panel<tile_rows>(from, rows, count, depths, depth, to);
    if (width == 4) return pack_panel<4>(from, rows, count, depths, depth, to);
    pack_panel<1>(from, rows, count, depths, depth, to);
}
template <class T>
inline void pack_left(const T* from, const int64_t* rows, int64_t count, const int64_t* depths,
                      int64_t depth, T* to) {
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

// Panels of tile_columns columns, the last one filled up with zeros.
template <class T>
inline void pack_right(const T* from, const int64_t* columns, int64_t count, const int64_t* depths,
                       int64_t depth, T* to) {
    constexpr int64_t width = tile_columns<T>;
    constexpr int several = 4;
    int64_t j = 0;
    for (; j + several * width <= count && are_consecutive(columns + j, several * width);
         j += several * width, to += several * width * depth)
        pack_neighbours<width, several>(from + columns[j], depths, depth, to);
    for (; j < count; j += width, to += width * depth)
        pack_panel<width>(from, columns + j, count - j < width ? count - j : width, depths, depth,
                          to);
}

// The rows, or columns, of the next panel of a whole operand, for Contraction's left_is_packed and
// right_is_packed: panels like those above, each over the whole depth, one after the other.
template <class T>
inline int64_t panel_width(bool is_left, int64_t remaining) {
    return is_left ? next_tile_rows(remaining, true) : tile_columns<T>;
}
