// Sorting: the positions of the elements of a row in the order of their values.
#pragma once

#include "composit/backends/c_family/prelude/offsets.h"

// Rows of `length` elements that lie `stride` apart; rows of output and spare are consecutive.
template <class T>
struct SortTask {
    const T* input;
    int64_t* output;
    int64_t* spare;
    Loops outer;
    const int64_t *input_outer, *output_outer, *spare_outer;  // strides, one per loop
    int64_t length, stride;
};

// NaN come last.
template <class T>
COMPOSIT_INLINE bool comes_before(T a, T b) {
    if constexpr (is_floating<T>) return a < b || (b != b && a == a);
    return a < b;
}

// Neighbouring sorted runs from[0, middle) and from[middle, end) into one.
template <class T>
inline void merge_runs(const T* row, int64_t stride, const int64_t* from, int64_t middle,
                       int64_t end, int64_t* to) {
    int64_t left = 0, right = middle;
    for (int64_t i = 0; i < end; ++i) {
        const bool takes_right =
            left == middle ||
            (right < end && comes_before(row[from[right] * stride], row[from[left] * stride]));
        to[i] = takes_right ? from[right++] : from[left++];
    }
}

template <class T>
inline void sort_row(const T* row, int64_t stride, int64_t length, int64_t* output,
                     int64_t* spare) {
    constexpr int64_t run = 16;  // so few are sorted as they come
    for (int64_t begin = 0; begin < length; begin += run) {
        const int64_t end = begin + run < length ? begin + run : length;
        for (int64_t i = begin; i < end; ++i) {
            const T value = row[i * stride];
            int64_t j = i;
            for (; j > begin && comes_before(value, row[output[j - 1] * stride]); --j)
                output[j] = output[j - 1];
            output[j] = i;
        }
    }
    int64_t* from = output;
    int64_t* to = spare;
    for (int64_t width = run; width < length; width *= 2) {
        for (int64_t begin = 0; begin < length; begin += 2 * width) {
            const int64_t left = length - begin;
            merge_runs(row, stride, from + begin, width < left ? width : left,
                       2 * width < left ? 2 * width : left, to + begin);
        }
        int64_t* const sorted = to;
        to = from;
        from = sorted;
    }
    if (from != output)
        __builtin_memcpy(output, from, static_cast<size_t>(length) * sizeof(int64_t));
}

// Rows begin <= r < end.
template <class T>
inline void sort_rows(const SortTask<T>& s, int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r)
        sort_row(s.input + offset_of(s.outer, s.input_outer, r), s.stride, s.length,
                 s.output + offset_of(s.outer, s.output_outer, r),
                 s.spare + offset_of(s.outer, s.spare_outer, r));
}
