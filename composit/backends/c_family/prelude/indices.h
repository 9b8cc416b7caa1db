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
        const auto size = static_cast<uint64_t>(length),
                   distance = static_cast<uint64_t>(axes.axis_strides[j]);
        bool is_outside = false;  // one of them: no branch for each
        for (int64_t i = 0; i < count; ++i) {
            const int64_t index = indices[offsets[i]];
            is_outside |= (index < -length) | (index >= length);
            // Unsigned: what is outside may overflow.
            const uint64_t place = static_cast<uint64_t>(index) + (index < 0 ? size : 0);
            selected[i] =
                static_cast<int64_t>(static_cast<uint64_t>(selected[i]) + place * distance);
        }
        for (int64_t i = 0; is_outside && i < count; ++i) {
            const int64_t index = indices[offsets[i]];
            if (index >= -length && index < length) continue;
            if (fault.outer < 0 || begin + i < fault.outer) fault = {begin + i, j, index};
            break;
        }
    }
    return fault;
}
