// Searching: how many elements of a row in ascending order come before each value.
#pragma once

#include "composit/backends/c_family/prelude/offsets.h"

// Elements of a row of `sorted` lie `stride` apart.
template <class T>
struct SearchTask {
    const T* sorted;
    const T* values;
    int64_t* output;
    Loops outer;
    const int64_t *sorted_outer, *values_outer, *output_outer;  // strides, one per loop
    int64_t length, stride;
    bool is_right;
};

constexpr int64_t search_window = 64;  // values that are looked for at a time

// What elements are compared as: of the size of a position, which go well with it in vectors.
template <class T>
struct WidenedOf {
    typedef int64_t type;
};
template <>
struct WidenedOf<uint64_t> {
    typedef uint64_t type;
};
template <>
struct WidenedOf<float> {
    typedef double type;
};
template <>
struct WidenedOf<double> {
    typedef double type;
};
template <class T>
using Widened = typename WidenedOf<T>::type;

// Quiet: a comparison of NaN raises no flag. NaN come last.
template <class T>
COMPOSIT_INLINE bool is_before(T a, T b) {
    if constexpr (is_floating<T>) return __builtin_isless(a, b) | ((b != b) & (a == a));
    return a < b;
}

// For `count` values whose rows begin at those offsets. No branch depends on an element, so that
// the halvings of several values go on side by side; loads stand in a loop of their own, because
// those of another size than a position fill no vector.
template <bool is_right, class T>
COMPOSIT_INLINE void halve(const T* sorted, const int64_t* rows, int64_t length, int64_t stride,
                           const Widened<T>* values, int64_t count, int64_t* results) {
    int64_t low[search_window] = {}, high[search_window], at[search_window];
    Widened<T> elements[search_window];
    for (int64_t i = 0; i < count; ++i) high[i] = length;
    for (int64_t left = length; left > 0; left /= 2) {
        for (int64_t i = 0; i < count; ++i) {
            const int64_t middle = (low[i] + high[i]) >> 1;
            // Once low is the length, nothing changes any more.
            at[i] = rows[i] + (middle - (middle == length)) * stride;
        }
        for (int64_t i = 0; i < count; ++i) elements[i] = sorted[at[i]];
        for (int64_t i = 0; i < count; ++i) {
            const int64_t middle = (low[i] + high[i]) >> 1;
            const bool comes_first =
                is_right ? !is_before(values[i], elements[i]) : is_before(elements[i], values[i]);
            const int64_t is_open = -static_cast<int64_t>(low[i] < high[i]);
            const int64_t goes_right = is_open & -static_cast<int64_t>(comes_first);
            const int64_t goes_left = is_open & ~goes_right;
            low[i] = (low[i] & ~goes_right) | ((middle + 1) & goes_right);
            high[i] = (high[i] & ~goes_left) | (middle & goes_left);
        }
    }
    for (int64_t i = 0; i < count; ++i) results[i] = low[i];
}

// Values begin <= i < end.
template <class T>
inline void search_rows(const SearchTask<T>& s, int64_t begin, int64_t end) {
    int64_t rows[search_window], offsets[search_window], results[search_window];
    Widened<T> values[search_window];
    for (int64_t i = begin; i < end; i += search_window) {
        const int64_t count = end - i < search_window ? end - i : search_window;
        fill_offsets(s.outer, s.sorted_outer, i, count, rows);
        fill_offsets(s.outer, s.values_outer, i, count, offsets);
        for (int64_t k = 0; k < count; ++k) values[k] = s.values[offsets[k]];
        if (s.is_right)
            halve<true>(s.sorted, rows, s.length, s.stride, values, count, results);
        else
            halve<false>(s.sorted, rows, s.length, s.stride, values, count, results);
        fill_offsets(s.outer, s.output_outer, i, count, offsets);
        for (int64_t k = 0; k < count; ++k) s.output[offsets[k]] = results[k];
    }
}
