// Scattering: data[selected] = or op= update, in the row-major order of the outer indices.
#pragma once

#include "composit/backends/c_family/prelude/combine.h"
#include "composit/backends/c_family/prelude/indices.h"

struct Replace {
    template <class V>
    static COMPOSIT_INLINE V of(const V&, const V& b) {
        return b;
    }
};

template <class T>
struct ScatterTask {
    const T* update;
    T* data;
    Loops outer, inner;
    IndexAxes axes;
    const int64_t* data_inner;  // strides, one per loop
    const int64_t* update_outer;
    const int64_t* update_inner;
};

// Of one element for each of `outer` outer indices. Stops at the first index out of bounds and
// returns it.
template <class Op, class T>
inline IndexFault scatter_elements(const ScatterTask<T>& s, int64_t outer) {
    if (are_lines(s.axes, s.outer)) {
        const int64_t step = s.update_outer[0];
        const auto move = [data = s.data, from = s.update, step](int64_t o, int64_t place)
                              COMPOSIT_STEP { data[place] = Op::of(data[place], from[o * step]); };
        return select_in_line(s.axes, 0, outer, move);
    }
    OffsetWindow<index_window> update_outer;
    int64_t selected[index_window];
    for (int64_t o = 0; o < outer; o += index_window) {
        const int64_t count = outer - o < index_window ? outer - o : index_window;
        const IndexFault fault = select_offsets(s.axes, s.outer, o, count, selected);
        if (fault.outer >= 0) return fault;
        update_outer.move(s.outer, s.update_outer, o, count);
        for (int64_t r = 0; r < count; ++r) {
            T& element = s.data[selected[r]];
            element = Op::of(element, s.update[update_outer.offsets[r]]);
        }
    }
    return {-1, 0, 0};
}

// All outer indices, for the inner ones begin <= i < end: threads may split the inner range only.
// Stops at the first index out of bounds and returns it.
template <class Op, class T>
inline IndexFault scatter(const ScatterTask<T>& s, int64_t begin, int64_t end) {
    OffsetWindow<index_window> data_inner, update_inner, update_outer;
    int64_t selected[index_window];
    const int64_t outer = iterations(s.outer);
    for (int64_t i = begin; i < end; i += index_window) {
        const int64_t width = end - i < index_window ? end - i : index_window;
        data_inner.move(s.inner, s.data_inner, i, width);
        update_inner.move(s.inner, s.update_inner, i, width);
        const bool is_consecutive = are_consecutive(data_inner.offsets, width) &&
                                    are_consecutive(update_inner.offsets, width);
        for (int64_t o = 0; o < outer; o += index_window) {
            const int64_t count = outer - o < index_window ? outer - o : index_window;
            const IndexFault fault = select_offsets(s.axes, s.outer, o, count, selected);
            if (fault.outer >= 0) return fault;
            update_outer.move(s.outer, s.update_outer, o, count);
            for (int64_t r = 0; r < count; ++r) {
                T* to = s.data + selected[r];
                const T* from = s.update + update_outer.offsets[r];
                if (is_consecutive) {
                    T* run = to + data_inner.offsets[0];
                    combine<Op>(run, from + update_inner.offsets[0], run, width);
                } else {
                    for (int64_t e = 0; e < width; ++e) {
                        T& element = to[data_inner.offsets[e]];
                        element = Op::of(element, from[update_inner.offsets[e]]);
                    }
                }
            }
        }
    }
    return {-1, 0, 0};
}
