// Folding: the reverse of a sliding-window view. Windows that overlap are added, from +0, in
// row-major order of the position within the window.
#pragma once

#include "composit/backends/c_family/prelude/combine.h"
#include "composit/backends/c_family/prelude/offsets.h"

// output[o, p] = sum over w of input[o, q, w] where p = q * step + w * dilation for a q < count
// along every axis.
template <class T>
struct FoldTask {
    const T* input;
    T* output;
    Loops outer, positions, counts, window;  // the last three have one loop per spatial axis
    const int64_t *steps, *dilations;
    const int64_t *input_outer, *input_counts, *input_window;  // strides, one per loop
    const int64_t *output_outer, *output_positions;
    int64_t run;  // elements that lie side by side in input and output under every index: channels
                  // kept last, else 1
};

template <class T>
inline void add_strided(const T* from, int64_t from_stride, T* to, int64_t to_stride, int64_t n) {
    if (from_stride == 1 && to_stride == 1) return combine<Sum>(to, from, to, n);
    for (int64_t i = 0; i < n; ++i) to[i * to_stride] = to[i * to_stride] + from[i * from_stride];
}

template <class T>
inline void clear_positions(const FoldTask<T>& f, T* output) {
    const int64_t count = iterations(f.positions);
    for (int64_t p = 0; p < count; ++p) {
        T* to = output + offset_of(f.positions, f.output_positions, p);
        for (int64_t c = 0; c < f.run; ++c) to[c] = T(0);
    }
}

// Adds the elements that all windows have at one position within the window.
template <class T>
inline void fold_window_position(const FoldTask<T>& f, int64_t position, const T* input,
                                 T* output) {
    const int axes = f.window.rank, last = axes - 1;
    int64_t valid[max_rank] = {1},
            to_strides[max_rank];  // windows per axis whose element falls inside
    for (int d = last; d >= 0; --d) {
        const int64_t w = position % f.window.extents[d];
        position /= f.window.extents[d];
        const int64_t start = w * f.dilations[d], room = f.positions.extents[d] - start;
        if (room <= 0) return;
        const int64_t fitting = (room - 1) / f.steps[d] + 1;
        valid[d] = fitting < f.counts.extents[d] ? fitting : f.counts.extents[d];
        if (valid[d] == 0) return;
        input += w * f.input_window[d];
        output += start * f.output_positions[d];
        to_strides[d] = f.steps[d] * f.output_positions[d];
    }
    const Loops rows = {axes == 0 ? 0 : last, valid};
    const int64_t row_count = iterations(rows), row_length = axes == 0 ? 1 : valid[last];
    for (int64_t r = 0; r < row_count; ++r) {
        const T* from = input + offset_of(rows, f.input_counts, r);
        T* to = output + offset_of(rows, to_strides, r);
        if (f.run == 1 && axes > 0) {
            add_strided(from, f.input_counts[last], to, to_strides[last], row_length);
            continue;
        }
        for (int64_t q = 0; q < row_length; ++q) {
            combine<Sum>(to, from, to, f.run);
            if (axes > 0) from += f.input_counts[last], to += to_strides[last];
        }
    }
}

// Outer indices begin <= o < end.
template <class T>
inline void fold(const FoldTask<T>& f, int64_t begin, int64_t end) {
    const int64_t window = iterations(f.window);
    for (int64_t o = begin; o < end; ++o) {
        const T* input = f.input + offset_of(f.outer, f.input_outer, o);
        T* output = f.output + offset_of(f.outer, f.output_outer, o);
        clear_positions(f, output);
        for (int64_t w = 0; w < window; ++w) fold_window_position(f, w, input, output);
    }
}
