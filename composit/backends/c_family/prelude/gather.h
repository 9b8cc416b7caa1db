// Gathering: slices of data selected by integer indices. Elements are moved as bytes: T only has
// the right size.
#pragma once

#include "composit/backends/c_family/prelude/indices.h"

template <class T>
struct GatherTask {
    const T* data;
    T* output;
    Loops outer, inner;
    IndexAxes axes;
    const int64_t* data_inner;  // strides, one per loop
    const int64_t* output_outer;
    const int64_t* output_inner;
};

template <class T>
inline void copy_elements(const T* from, const int64_t* from_offsets, T* to,
                          const int64_t* to_offsets, int64_t count) {
    for (int64_t i = 0; i < count; ++i) to[to_offsets[i]] = from[from_offsets[i]];
}

constexpr int64_t scattered_at_a_time = 16;  // elements
constexpr int64_t shortest_run = 8;          // elements that are worth a copy of bytes

// Copies bytes that do not overlap. Slices are mostly a few lines of the cache, for which a call of
// memcpy takes as long as the copy itself.
COMPOSIT_INLINE void copy_bytes(unsigned char* to, const unsigned char* from, int64_t count) {
    constexpr int64_t step = vector_bytes;
    if (count < step || count > 4096) {
        __builtin_memcpy(to, from, static_cast<size_t>(count));
        return;
    }
    int64_t i = 0;
    for (; i + 4 * step <= count; i += 4 * step) {
        const Vector<unsigned char> a = load(from + i), b = load(from + i + step),
                                    c = load(from + i + 2 * step), d = load(from + i + 3 * step);
        store(to + i, a);
        store(to + i + step, b);
        store(to + i + 2 * step, c);
        store(to + i + 3 * step, d);
    }
    for (; i + step <= count; i += step) store(to + i, load(from + i));
    if (i < count) store(to + count - step, load(from + count - step));  // some once more
}

// Elements at `selected` places, side by side. Four at a time: vector gathers take longer.
template <class T>
COMPOSIT_APART void copy_selected(const T* from, const int64_t* selected, T* to, int64_t count) {
    int64_t r = 0;
    for (; r + 4 <= count; r += 4) {
        const T a = from[selected[r]], b = from[selected[r + 1]], c = from[selected[r + 2]],
                d = from[selected[r + 3]];
        to[r] = a;
        to[r + 1] = b;
        to[r + 2] = c;
        to[r + 3] = d;
    }
    for (; r < count; ++r) to[r] = from[selected[r]];
}

// Slices of elements that lie side by side, selected by one line of indices and laid out in a line:
// each is looked up as it is copied. `from` and `to` are those of place 0 and of outer index 0.
template <class T>
inline IndexFault gather_lines(const GatherTask<T>& g, int64_t begin, int64_t end, const T* from,
                               T* to, int64_t width) {
    const int64_t* const indices = g.axes.indices[0];
    const int64_t stride = g.axes.strides[0][0], apart = g.axes.axis_strides[0];
    const int64_t length = g.axes.lengths[0], step = g.output_outer[0];
    const int64_t bytes = width * static_cast<int64_t>(sizeof(T));
    for (int64_t o = begin; o < end; ++o) {
        const int64_t given = indices[o * stride];
        const int64_t place = given + (given < 0 ? length : 0);
        if (place < 0 || place >= length) return {o, 0, given};
        copy_bytes(reinterpret_cast<unsigned char*>(to + o * step),
                   reinterpret_cast<const unsigned char*>(from + place * apart), bytes);
    }
    return {-1, 0, 0};
}

// How many elements of a slice lie side by side in the data and in the output; 1: none do.
template <class T>
inline int64_t run_length(const GatherTask<T>& g) {
    const int last = g.inner.rank - 1;
    if (last < 0 || g.data_inner[last] != 1 || g.output_inner[last] != 1) return 1;
    return g.inner.extents[last];
}

// Of one element for each of the outer indices begin <= o < end. Stops at the first index out of
// bounds and returns it.
template <class T>
inline IndexFault gather_elements(const GatherTask<T>& g, int64_t begin, int64_t end) {
    if (are_lines(g.axes, g.outer)) {
        const int64_t step = g.output_outer[0];
        const auto move = [data = g.data, to = g.output, step](int64_t o, int64_t place)
                              COMPOSIT_STEP { to[o * step] = data[place]; };
        return select_in_line(g.axes, begin, end, move);
    }
    OffsetWindow<index_window> output_outer;
    int64_t selected[index_window];
    for (int64_t o = begin; o < end; o += index_window) {
        const int64_t count = end - o < index_window ? end - o : index_window;
        const IndexFault fault = select_offsets(g.axes, g.outer, o, count, selected);
        if (fault.outer >= 0) return fault;
        output_outer.move(g.outer, g.output_outer, o, count);
        const int64_t* const places = output_outer.offsets;
        if (are_consecutive(places, count))
            copy_selected(g.data, selected, g.output + places[0], count);
        else
            copy_elements(g.data, selected, g.output, places, count);
    }
    return {-1, 0, 0};
}

// Of slices for the outer indices begin <= o < end. Stops at the first index out of bounds and
// returns it.
template <class T>
inline IndexFault gather(const GatherTask<T>& g, int64_t begin, int64_t end) {
    OffsetWindow<index_window> data_inner, output_inner, output_outer;
    int64_t selected[index_window];
    const int64_t inner = iterations(g.inner), run = run_length(g);
    for (int64_t i = 0; i < inner; i += index_window) {
        const int64_t width = inner - i < index_window ? inner - i : index_window;
        data_inner.move(g.inner, g.data_inner, i, width);
        output_inner.move(g.inner, g.output_inner, i, width);
        const bool is_consecutive = are_consecutive(data_inner.offsets, width) &&
                                    are_consecutive(output_inner.offsets, width);
        if (is_consecutive && width > 1 && g.axes.count == 1 && g.outer.rank == 1) {
            const IndexFault fault = gather_lines(g, begin, end, g.data + data_inner.offsets[0],
                                                  g.output + output_inner.offsets[0], width);
            if (fault.outer >= 0) return fault;
            continue;
        }
        for (int64_t o = begin; o < end; o += index_window) {
            const int64_t count = end - o < index_window ? end - o : index_window;
            const IndexFault fault = select_offsets(g.axes, g.outer, o, count, selected);
            if (fault.outer >= 0) return fault;
            output_outer.move(g.outer, g.output_outer, o, count);
            if (is_consecutive && width > 1) {
                const T* const from = g.data + data_inner.offsets[0];
                T* const to = g.output + output_inner.offsets[0];
                const int64_t bytes = width * static_cast<int64_t>(sizeof(T));
                for (int64_t r = 0; r < count; ++r)
                    copy_bytes(reinterpret_cast<unsigned char*>(to + output_outer.offsets[r]),
                               reinterpret_cast<const unsigned char*>(from + selected[r]), bytes);
                continue;
            }
            if (g.axes.count == 1 && g.axes.axis_strides[0] == 1 &&
                are_consecutive(output_outer.offsets, count)) {
                // What is selected lies in a line, and so does where it goes.
                for (int64_t j = 0; j < width; ++j) {
                    const T* const from = g.data + data_inner.offsets[j];
                    T* const to = g.output + output_outer.offsets[0] + output_inner.offsets[j];
                    copy_selected(from, selected, to, count);
                }
                continue;
            }
            if (run >= shortest_run) {
                for (int64_t j = 0; j < width;) {
                    const int64_t rest = run - (i + j) % run;
                    const int64_t length = rest < width - j ? rest : width - j;
                    const T* const from = g.data + data_inner.offsets[j];
                    T* const to = g.output + output_inner.offsets[j];
                    const int64_t bytes = length * static_cast<int64_t>(sizeof(T));
                    for (int64_t r = 0; r < count; ++r)
                        copy_bytes(reinterpret_cast<unsigned char*>(to + output_outer.offsets[r]),
                                   reinterpret_cast<const unsigned char*>(from + selected[r]),
                                   bytes);
                    j += length;
                }
                continue;
            }
            // Elements of a slice that lie apart share lines of the cache with those of the next
            // slices rather than with each other: few of them at a time, of all slices.
            constexpr int64_t step = scattered_at_a_time;
            for (int64_t j = 0; j < width; j += step)
                for (int64_t r = 0; r < count; ++r)
                    copy_elements(g.data + selected[r], data_inner.offsets + j,
                                  g.output + output_outer.offsets[r], output_inner.offsets + j,
                                  width - j < step ? width - j : step);
        }
    }
    return {-1, 0, 0};
}
