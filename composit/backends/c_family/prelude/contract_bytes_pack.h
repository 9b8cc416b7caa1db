// Copies of what a product of bytes reads: fours along the depth, of the rows of a tile, and of
// columns, in panels.
#pragma once

#include "composit/backends/c_family/prelude/contract_bytes_described.h"

// From one panel to the next: not a multiple of a page, or all would share a few of the cache's
// sets while they are packed side by side.
constexpr int64_t bytes_of_panel(int64_t fours) { return fours * byte_columns * 4 + 64; }

typedef uint8_t ColumnBytes __attribute__((vector_size(16)));
COMPOSIT_INLINE ColumnBytes load_bytes(const uint8_t* from) {
    ColumnBytes bytes;
    __builtin_memcpy(&bytes, from, sizeof bytes);
    return bytes;
}

// to[4 * j + d] = byte j of row(d), flipped, for j < 16.
template <class Row>
COMPOSIT_INLINE void interleave_fours(const Row& row, uint32_t flip, int8_t* to) {
    typedef uint16_t Pairs __attribute__((vector_size(16)));
    typedef uint32_t Fours __attribute__((vector_size(16)));
    const auto low = [](ColumnBytes a, ColumnBytes b) COMPOSIT_STEP {
        return reinterpret_cast<Pairs>(
            __builtin_shufflevector(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23));
    };
    const auto high = [](ColumnBytes a, ColumnBytes b) COMPOSIT_STEP {
        return reinterpret_cast<Pairs>(__builtin_shufflevector(a, b, 8, 24, 9, 25, 10, 26, 11, 27,
                                                               12, 28, 13, 29, 14, 30, 15, 31));
    };
    // Each vector is stored by itself: as parts of an array they would be read again for a larger
    // store, before they are written.
    const auto put = [&](Pairs a, Pairs b, int8_t* at) COMPOSIT_STEP {
        const Fours first =
            reinterpret_cast<Fours>(__builtin_shufflevector(a, b, 0, 8, 1, 9, 2, 10, 3, 11)) ^ flip;
        const Fours second =
            reinterpret_cast<Fours>(__builtin_shufflevector(a, b, 4, 12, 5, 13, 6, 14, 7, 15)) ^
            flip;
        __builtin_memcpy(at, &first, sizeof first);
        __builtin_memcpy(at + sizeof first, &second, sizeof second);
    };
    const ColumnBytes a = row(0), b = row(1), c = row(2), d = row(3);
    put(low(a, b), low(c, d), to);
    put(high(a, b), high(c, d), to + 32);
}

constexpr int columns_together = 16;  // those of a group

// How the offsets of a group's columns lie: in ascending runs, in which each column, or each second
// one, is read. Elements between a group's first and last column are elements of the array, so that
// 16 of them can be read at once.
struct ByteRuns {
    static constexpr int most = 4;
    int count = 0;            // 0: each column is read by itself
    int step = 1;             // between columns of a run
    int64_t starts[most];     // where column 0 would lie if it were of the run
    ColumnBytes masks[most];  // of the columns from the run's first one on

    void find(const int64_t* offsets) {
        int64_t least_gap = offsets[1] - offsets[0];
        for (int e = 2; e < columns_together; ++e)
            least_gap = least(least_gap, offsets[e] - offsets[e - 1]);
        count = 0;
        if (least_gap != 1 && least_gap != 2) return;
        step = static_cast<int>(least_gap);
        int found = 0;
        for (int e = 0; e < columns_together; ++e) {
            if (e > 0 && offsets[e] - offsets[e - 1] == step) continue;
            if (found == most) return;
            starts[found] = offsets[e] - step * e;
            for (int lane = 0; lane < columns_together; ++lane)
                masks[found][lane] = lane < e ? 0 : 255;
            ++found;
        }
        count = found;
    }
    bool are_neighbours() const { return count == 1 && step == 1; }

    // Byte j is that of column j.
    COMPOSIT_INLINE ColumnBytes columns(const uint8_t* from) const {
        ColumnBytes bytes = run(from, 0);
        for (int r = 1; r < count; ++r) bytes ^= (bytes ^ run(from, r)) & masks[r];
        return bytes;
    }

  private:
    COMPOSIT_INLINE ColumnBytes run(const uint8_t* from, int r) const {
        const uint8_t* const first = from + starts[r];
        if (step == 1) return load_bytes(first);
        return __builtin_shufflevector(load_bytes(first), load_bytes(first + 15), 0, 2, 4, 6, 8, 10,
                                       12, 14, 17, 19, 21, 23, 25, 27, 29, 31);
    }
};

// The groups of some columns. Where the last one would have fewer columns, it begins earlier: some
// columns are of two groups.
struct ByteGroups {
    ByteRuns runs[byte_column_block / columns_together];
    int64_t count;

    static int64_t begin(int64_t group, int64_t columns) {
        return least(group * columns_together, columns - columns_together);
    }
    void find(const int64_t* offsets, int64_t columns) {
        count =
            columns < columns_together ? 0 : (columns + columns_together - 1) / columns_together;
        for (int64_t g = 0; g < count; ++g) runs[g].find(offsets + begin(g, columns));
    }
};

// The fours of some columns along a part of the depth, in panels that lie `apart` bytes from one
// another. `offsets` are those of the columns, `along` those of the depth positions, which are
// neighbours if `are_words`; zeros fill fours and panels up.
template <uint32_t flip>
inline void pack_byte_columns(const uint8_t* bytes, const int64_t* offsets, int64_t count,
                              const ByteGroups& groups, const int64_t* along, int64_t length,
                              bool are_words, int8_t* to, int64_t apart) {
    const auto place = [&](int64_t k, int64_t e) COMPOSIT_STEP {
        return to + k * byte_columns + e / byte_columns * apart + e % byte_columns * 4;
    };
    const auto one_by_one = [&](int64_t k, int64_t first, int64_t last) COMPOSIT_STEP {
        const int64_t here = least(length - k, 4);
        for (int64_t e = first; e < last; ++e) {
            const uint8_t* const column = bytes + offsets[e];
            uint32_t four = 0;
            if (are_words && here == 4)
                __builtin_memcpy(&four, column + along[k], 4);
            else
                for (int64_t d = 0; d < here; ++d) four |= uint32_t{column[along[k + d]]} << 8 * d;
            four ^= flip >> 8 * (4 - here);
            __builtin_memcpy(place(k, e), &four, 4);
        }
    };
    if (groups.count == 0)
        for (int64_t k = 0; k < length; k += 4) one_by_one(k, 0, count);
    for (int64_t g = 0; g < groups.count; ++g) {
        const int64_t first = groups.begin(g, count);
        const ByteRuns& runs = groups.runs[g];
        const bool is_at_once = runs.are_neighbours() || (!are_words && runs.count > 0);
        constexpr int64_t width = byte_columns;
        const int64_t in_panel = least(width - first % width, columns_together);
        for (int64_t k = 0; k < length; k += 4) {
            if (!is_at_once || length - k < 4) {
                one_by_one(k, first, first + columns_together);
                continue;
            }
            int8_t fours[columns_together * 4];
            int8_t* const at = in_panel == columns_together ? place(k, first) : fours;
            const auto start = [&](int d) COMPOSIT_STEP { return bytes + along[k + d]; };
            if (runs.are_neighbours())
                interleave_fours(
                    [&](int d) COMPOSIT_STEP { return load_bytes(start(d) + runs.starts[0]); },
                    flip, at);
            else
                interleave_fours([&](int d) COMPOSIT_STEP { return runs.columns(start(d)); }, flip,
                                 at);
            if (at != fours) continue;
            for (int64_t e = 0, part = in_panel; e < columns_together;
                 e += part, part = least(width, columns_together - e))
                __builtin_memcpy(place(k, first + e), fours + 4 * e, 4 * part);
        }
    }
    for (int64_t e = count; e % byte_columns != 0; ++e)
        for (int64_t k = 0; k < length; k += 4) __builtin_memset(place(k, e), 0, 4);
}

// Fours of R rows, those of row i at to[k * R + i], filled up with zeros; with `wants_sums` the
// sums of the rows are added to `sums`.
template <int R, bool wants_sums, class Left>
inline void pack_byte_rows(const Left* const* rows, const int64_t* along, int64_t length,
                           uint32_t* to, uint32_t* sums) {
    const bool are_neighbours = are_consecutive(along, length);
    for (int i = 0; i < R; ++i) {
        const Left* const row = rows[i];
        int64_t k = 0;
        uint32_t sum = 0;
        if (are_neighbours) {
            const Left* const first = row + along[0];
            for (; k + 4 <= length; k += 4) __builtin_memcpy(to + k / 4 * R + i, first + k, 4);
            if constexpr (wants_sums)
                for (int64_t e = 0; e < k; ++e) sum += static_cast<uint32_t>(int32_t{first[e]});
        }
        for (; k < length; k += 4) {
            Left each[4] = {};
            for (int64_t d = 0; d < least(4, length - k); ++d) {
                each[d] = row[along[k + d]];
                sum += static_cast<uint32_t>(int32_t{each[d]});
            }
            __builtin_memcpy(to + k / 4 * R + i, each, 4);
        }
        sums[i] += sum;
    }
}
