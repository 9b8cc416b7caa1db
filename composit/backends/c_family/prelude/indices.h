// Integer indexing: which element each outer index of a gather or scatter selects, and which index
// is out of bounds.
#pragma once

#include "composit/backends/c_family/prelude/offsets.h"

// Index operand j at outer index o holds `indices[j][offset of o under strides[j]]`, an index along
// an axis of lengths[j] elements that lie axis_strides[j] apart. Negative indices count from the
// end.
struct IndexAxes {
    int count;
    const int64_t* const* indices;
    const int64_t* const* strides;
    const int64_t* axis_strides;
    const int64_t* lengths;
};

// The first index out of bounds: outer is -1 when there is none.
struct IndexFault {
    int64_t outer;
    int axis;       // which of the IndexAxes
    int64_t index;  // as the user gave it
};

constexpr int64_t index_window = 256;

// Adds to each of `count` selected offsets the place of index(i) along an axis of `length` elements
// that lie `distance` apart. Returns whether one of the indices is out of bounds.
template <class Index>
inline bool add_places(int64_t length, int64_t distance, int64_t count, int64_t* selected,
                       Index index) {
    // Unsigned: what is outside may overflow.
    const auto size = static_cast<uint64_t>(length), apart = static_cast<uint64_t>(distance);
    uint64_t outside = 0;  // one of them: no branch for each
    for (int64_t i = 0; i < count; ++i) {
        const int64_t given = index(i);
        const uint64_t place = static_cast<uint64_t>(given) + (given < 0 ? size : 0);
        outside |= place >= size ? 1 : 0;
        selected[i] = static_cast<int64_t>(static_cast<uint64_t>(selected[i]) + place * apart);
    }
    return outside != 0;
}

// selected[i] = the offset in data that outer index begin + i selects, for i < count <=
// index_window.
inline IndexFault select_offsets(const IndexAxes& axes, const Loops& outer, int64_t begin,
                                 int64_t count, int64_t* selected) {
    IndexFault fault = {-1, 0, 0};
    int64_t offsets[index_window];
    for (int64_t i = 0; i < count; ++i) selected[i] = 0;
    for (int j = 0; j < axes.count; ++j) {
        fill_offsets(outer, axes.strides[j], begin, count, offsets);
        const int64_t length = axes.lengths[j];
        const int64_t* const indices = axes.indices[j];
        const int64_t distance = axes.axis_strides[j];
        const bool is_outside =
            are_consecutive(offsets, count)
                ? add_places(length, distance, count, selected,
                             [from = indices + offsets[0]](int64_t i) { return from[i]; })
                : add_places(length, distance, count, selected,
                             [&](int64_t i) { return indices[offsets[i]]; });
        for (int64_t i = 0; is_outside && i < count; ++i) {
            const int64_t index = indices[offsets[i]];
            if (index >= -length && index < length) continue;
            if (fault.outer < 0 || begin + i < fault.outer) fault = {begin + i, j, index};
            break;
        }
    }
    return fault;
}

// Whether one line of indices selects along one axis.
inline bool are_lines(const IndexAxes& axes, const Loops& outer) {
    return axes.count == 1 && outer.rank == 1;
}

// Calls move(o, offset) for the outer indices begin <= o < end, of which are_lines, with the
// offset in data that each selects: nothing is kept between, so that the processor waits for many
// elements at once. Stops soon after the first index out of bounds, which selects nothing, and
// returns it.
template <class Move>
COMPOSIT_INLINE IndexFault select_in_line(const IndexAxes& axes, int64_t begin, int64_t end,
                                          const Move& move) {
    const int64_t* const indices = axes.indices[0];
    const int64_t stride = axes.strides[0][0], apart = axes.axis_strides[0];
    const int64_t length = axes.lengths[0];
    for (int64_t o = begin; o < end; ++o) {
        const int64_t given = indices[o * stride];
        const int64_t place = given + (given < 0 ? length : 0);
        if (static_cast<uint64_t>(place) >= static_cast<uint64_t>(length)) return {o, 0, given};
        move(o, place * apart);
        __asm__("" ::: "memory");  // vector gathers take longer
    }
    return {-1, 0, 0};
}
