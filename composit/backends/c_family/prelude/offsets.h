// Nests of loops as tables: the memory offset of each flattened (row-major) index.
#pragma once

#include "composit/backends/c_family/prelude/vector.h"

constexpr int max_rank = 64;

// The extents of nested loops, outermost first. Rank 0 is one iteration.
struct Loops {
    int rank;
    const int64_t* extents;
};

inline int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

inline int64_t iterations(const Loops& loops) {
    int64_t count = 1;
    for (int d = 0; d < loops.rank; ++d) count *= loops.extents[d];
    return count;
}

// The offset of one flattened index under `strides`.
inline int64_t offset_of(const Loops& loops, const int64_t* strides, int64_t flat) {
    int64_t offset = 0;
    for (int d = loops.rank - 1; d >= 0; --d) {
        offset += flat % loops.extents[d] * strides[d];
        flat /= loops.extents[d];
    }
    return offset;
}

// offsets[i] = the offset of index begin + i, for 0 <= i < count.
COMPOSIT_APART inline void fill_offsets(const Loops& loops, const int64_t* strides, int64_t begin,
                                        int64_t count, int64_t* offsets) {
    if (loops.rank == 0) {
        for (int64_t i = 0; i < count; ++i) offsets[i] = 0;
        return;
    }
    const int last = loops.rank - 1;
    const int64_t extent = loops.extents[last], stride = strides[last];
    const Loops outer = {last, loops.extents};
    for (int64_t i = 0; i < count;) {
        const int64_t inner = (begin + i) % extent;
        const int64_t base = offset_of(outer, strides, (begin + i) / extent) + inner * stride;
        const int64_t left = extent - inner < count - i ? extent - inner : count - i;
        for (int64_t j = 0; j < left; ++j) offsets[i + j] = base + j * stride;
        i += left;
    }
}

// offsets[i] == offsets[0] + i for all i < count.
COMPOSIT_APART inline bool are_consecutive(const int64_t* offsets, int64_t count) {
    int64_t apart = 0;  // bits that differ: a loop over booleans would not become vectors
    for (int64_t i = 1; i < count; ++i) apart |= offsets[i] ^ (offsets[0] + i);
    return apart == 0;
}

// How many offsets, from the first on, are groups of `run` neighbours.
template <int run>
COMPOSIT_APART int64_t consecutive_runs(const int64_t* offsets, int64_t count) {
    int64_t end = 0;
    while (end + run <= count && are_consecutive(offsets + end, run)) end += run;
    return end;
}

// Whole groups of `run` offsets, neighbours inside each.
template <int run>
inline bool are_runs(const int64_t* offsets, int64_t count) {
    if (count % run != 0) return false;
    bool yes = true;
    for (int64_t i = 0; i < count; i += run)
        for (int j = 1; j < run; ++j) yes &= offsets[i + j] == offsets[i] + j;
    return yes;
}

// A window of one operand's offsets, refilled only when the window moves.
template <int capacity>
struct OffsetWindow {
    int64_t begin = -1, count = 0;
    int64_t offsets[capacity];

    void move(const Loops& loops, const int64_t* strides, int64_t new_begin, int64_t new_count) {
        if (begin == new_begin && count == new_count) return;
        begin = new_begin;
        count = new_count;
        fill_offsets(loops, strides, begin, count, offsets);
    }
};
