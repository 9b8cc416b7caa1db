// Sorting rows: the positions of the elements in the order of their values, or the values.
//
// Equal elements, as 0 and -0 are, keep their order, NaN come last: the result is one only, however
// it is found.
#pragma once

#include "composit/backends/c_family/prelude/offsets.h"
#include "composit/backends/c_family/prelude/sort_keys.h"
#include "composit/backends/c_family/prelude/transpose.h"

// Rows of `length` elements that lie `stride` apart; rows of output and spare are consecutive.
// `spare` has as many bytes as the output.
template <class T>
struct SortTask {
    const T* input;
    void* output;  // T, or int64_t for positions
    void* spare;
    Loops outer;
    const int64_t *input_outer, *output_outer, *spare_outer;  // strides, one per loop
    int64_t length, stride;
    GoesOn goes_on = module_goes_on;
};

constexpr int64_t short_row = 128;  // up to which rows are sorted side by side
constexpr int64_t few_rows = 3;     // up to which that takes longer than one row after the other

// NaN come last.
template <class T>
COMPOSIT_INLINE bool comes_before(T a, T b) {
    return key_of_bits<T>(element_at<SortKey<T>>(&a, 0)) <
           key_of_bits<T>(element_at<SortKey<T>>(&b, 0));
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

// The positions by comparisons alone.
template <class T>
inline void merge_row(const T* row, int64_t stride, int64_t length, int64_t* output, int64_t* spare,
                      GoesOn goes_on) {
    for (int64_t i = 0; i < length; ++i) output[i] = i;
    int64_t* from = output;
    int64_t* to = spare;
    for (int64_t width = 1; width < length; width *= 2) {
        if (goes_on && !goes_on()) return;
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

template <class T>
COMPOSIT_INLINE SortKey<T> bits_at(const T* row, int64_t i) {
    return element_at<SortKey<T>>(row, i);
}

// ----- values

// Puts those elements back in their places whose keys do not tell them: zeros, and NaN at the end.
template <class T>
inline void restore_lost(const T* row, int64_t stride, int64_t length, void* output) {
    typedef SortKey<T> K;
    int64_t zero = 0, last = length;  // where zeros begin, and NaN
    for (int64_t i = 0; i < length; ++i) {
        const K bits = bits_at(row, i * stride);
        zero += key_of_bits<T>(bits) < key_of_bits<T>(0);
        last -= is_not_a_number<T>(bits);
    }
    for (int64_t i = 0; i < length; ++i) {
        const K bits = bits_at(row, i * stride);
        if (is_not_a_number<T>(bits))
            set_element(output, last++, bits);
        else if (key_of_bits<T>(bits) == key_of_bits<T>(0))
            set_element(output, zero++, bits);
    }
}

template <class T>
inline void sort_values(const T* row, int64_t stride, int64_t length, void* output, void* spare,
                        GoesOn goes_on) {
    typedef SortKey<T> K;
    K either = 0, both = ~K(0);
    bool loses = false;
    for (int64_t i = 0; i < length; ++i) {
        const K bits = bits_at(row, i * stride), key = key_of_bits<T>(bits);
        either |= key;
        both &= key;
        loses |= is_lost<T>(bits);
        set_element(output, i, key);
    }
    const void* const sorted =
        sort_keys<K>(output, spare, length, static_cast<K>(either ^ both), goes_on);
    if (!sorted) return;
    for (int64_t i = 0; i < length; ++i)
        set_element(output, i, bits_of_key<T>(element_at<K>(sorted, i)));
    if (is_floating<T> && loses) restore_lost(row, stride, length, output);
}

// The bits of rows side by side.
template <class T>
inline void load_lanes(const SortTask<T>& s, const int64_t* rows,
                       SortKey<T> (*keys)[vector_lanes<SortKey<T>>]) {
    constexpr int lanes = vector_lanes<SortKey<T>>, block = transpose_block<T>;
    const int64_t whole = s.stride == 1 ? s.length / block * block : 0;
    for (int lane = 0; lane < lanes; lane += block)
        for (int64_t i = 0; i < whole; i += block)
            transpose(s.input + i, rows + lane, reinterpret_cast<T*>(&keys[i][lane]), lanes);
    for (int64_t i = whole; i < s.length; ++i)
        for (int lane = 0; lane < lanes; ++lane)
            keys[i][lane] = bits_at(s.input, rows[lane] + i * s.stride);
}

// And back to rows of the output.
template <class T>
inline void store_lanes(const SortTask<T>& s, const int64_t* results, int count,
                        SortKey<T> (*bits)[vector_lanes<SortKey<T>>]) {
    constexpr int lanes = vector_lanes<SortKey<T>>, block = transpose_block<T>;
    const int64_t whole = s.length / block * block,
                  distance = count > 1 ? results[1] - results[0] : 0;
    T* const output = static_cast<T*>(s.output);
    int64_t lines[block];
    for (int i = 0; i < block; ++i) lines[i] = i * lanes;
    int lane = 0;
    for (; lane + block <= count; lane += block) {
        bool is_even = true;
        for (int k = 1; k < block; ++k)
            is_even &= results[lane + k] - results[lane] == k * distance;
        if (!is_even) break;
        for (int64_t i = 0; i < whole; i += block)
            transpose(reinterpret_cast<const T*>(&bits[i][lane]), lines, output + results[lane] + i,
                      distance);
        for (int k = 0; k < block; ++k)
            for (int64_t i = whole; i < s.length; ++i)
                set_element(output, results[lane + k] + i, bits[i][lane + k]);
    }
    for (; lane < count; ++lane)
        for (int64_t i = 0; i < s.length; ++i)
            set_element(output, results[lane] + i, bits[i][lane]);
}

// At most one row in each lane: `count` of them, where their elements begin, and their results.
template <class T>
inline void sort_short_values(const SortTask<T>& s, const int64_t* rows, const int64_t* results,
                              int count) {
    typedef SortKey<T> K;
    constexpr int lanes = vector_lanes<K>;
    K keys[short_row][lanes];
    load_lanes(s, rows, keys);
    K loses = 0;
    for (int64_t i = 0; i < s.length; ++i)
        for (int lane = 0; lane < lanes; ++lane) {
            loses |= is_lost<T>(keys[i][lane]);
            keys[i][lane] = key_of_bits<T>(keys[i][lane]);
        }
    sort_lanes<K>(keys, s.length);
    for (int64_t i = 0; i < s.length; ++i)
        for (int lane = 0; lane < lanes; ++lane) keys[i][lane] = bits_of_key<T>(keys[i][lane]);
    store_lanes(s, results, count, keys);
    if (!is_floating<T> || !loses) return;
    for (int lane = 0; lane < count; ++lane)
        restore_lost(s.input + rows[lane], s.stride, s.length,
                     static_cast<char*>(s.output) + results[lane] * int64_t(sizeof(T)));
}

// ----- positions

// Items are 32 bits of a key, and behind them the position.
COMPOSIT_INLINE int64_t position_in(uint64_t item) {
    return static_cast<int64_t>(item & 0xffffffff);
}

// Items in the order of their upper bits, put in that of the whole keys, of which those bits of
// `shift` were left out. False, and all items still there, where much is to be done.
template <class T>
inline bool insert_items(const T* row, int64_t stride, int64_t n, void* items, bool may_give_up) {
    int64_t moves_left = 4 * n;
    for (int64_t i = 1; i < n; ++i) {
        const uint64_t item = element_at<uint64_t>(items, i);
        if (element_at<uint64_t>(items, i - 1) >> 32 != item >> 32) continue;
        const SortKey<T> key = key_of_bits<T>(bits_at(row, position_in(item) * stride));
        int64_t j = i;
        for (; j > 0; --j) {
            const uint64_t before = element_at<uint64_t>(items, j - 1);
            if (before >> 32 != item >> 32 ||
                key_of_bits<T>(bits_at(row, position_in(before) * stride)) <= key)
                break;
            set_element(items, j, before);
        }
        set_element(items, j, item);
        moves_left -= i - j;
        if (moves_left < 0 && may_give_up) return false;
    }
    return true;
}

template <class T>
inline void sort_positions(const T* row, int64_t stride, int64_t length, int64_t* output,
                           int64_t* spare, GoesOn goes_on) {
    typedef SortKey<T> K;
    K either = 0, both = ~K(0);
    for (int64_t i = 0; i < length; ++i) {
        const K key = key_of_bits<T>(bits_at(row, i * stride));
        either |= key;
        both &= key;
    }
    const K different = either ^ both;
    const int width = bit_width(different);
    if (length > int64_t(0xffffffff)) return merge_row(row, stride, length, output, spare, goes_on);
    const int shift = width > 32 ? width - 32 : 0;
    for (int64_t i = 0; i < length; ++i) {
        const uint64_t key = key_of_bits<T>(bits_at(row, i * stride));
        set_element(output, i, (key >> shift) << 32 | static_cast<uint64_t>(i));
    }
    const int low = shift || different == 0 ? 0 : __builtin_ctzll(different);
    void* const sorted =
        radix_sort<uint64_t>(output, spare, length, 32 + low, 32 + width - shift, goes_on);
    if (!sorted) return;
    if (shift && !insert_items(row, stride, length, sorted, true))
        return merge_row(row, stride, length, output, spare, goes_on);
    for (int64_t i = 0; i < length; ++i)
        set_element(output, i, position_in(element_at<uint64_t>(sorted, i)));
}

template <class T>
inline void sort_short_positions(const SortTask<T>& s, const int64_t* rows, const int64_t* results,
                                 int count) {
    constexpr int lanes = vector_lanes<uint64_t>;
    uint64_t items[short_row][lanes];
    SortKey<T> either = 0, both = ~SortKey<T>(0);
    for (int64_t i = 0; i < s.length; ++i)
        for (int lane = 0; lane < lanes; ++lane) {
            const SortKey<T> key = key_of_bits<T>(bits_at(s.input, rows[lane] + i * s.stride));
            either |= key;
            both &= key;
            items[i][lane] = key;
        }
    const int width = bit_width(static_cast<SortKey<T>>(either ^ both));
    const int shift = width > 32 ? width - 32 : 0;
    for (int64_t i = 0; i < s.length; ++i)
        for (int lane = 0; lane < lanes; ++lane)
            items[i][lane] = (items[i][lane] >> shift) << 32 | static_cast<uint64_t>(i);
    sort_lanes<uint64_t>(items, s.length);
    for (int lane = 0; lane < count; ++lane) {
        int64_t* const result = static_cast<int64_t*>(s.output) + results[lane];
        for (int64_t i = 0; i < s.length; ++i) set_element(result, i, items[i][lane]);
        if (shift) insert_items(s.input + rows[lane], s.stride, s.length, result, false);
        for (int64_t i = 0; i < s.length; ++i)
            result[i] = position_in(element_at<uint64_t>(result, i));
    }
}

// ----- few rows

// Signed integers in which the keys of a dtype are compared, in the order of the keys.
template <class T>
struct RankedKey {
    typedef int32_t type;
};
template <>
struct RankedKey<uint64_t> {
    typedef int64_t type;
};

// One short row: the place of an element is the number of those that come before it. All are
// compared with all, many at a time.
template <class T, bool gives_values>
inline void rank_row(const T* row, int64_t stride, int64_t length, void* output) {
    typedef typename RankedKey<SortKey<T>>::type Key;
    constexpr int lanes = vector_lanes<Key>;
    constexpr Key least = static_cast<Key>(Wrapping<Key>(1) << (8 * sizeof(Key) - 1));
    alignas(64) Key keys[short_row];
    alignas(64) Key ranks[short_row];
    for (int64_t i = 0; i < length; ++i)
        keys[i] = static_cast<Key>(key_of_bits<T>(bits_at(row, i * stride))) ^ least;
    const int64_t whole = (length + lanes - 1) / lanes * lanes;
    for (int64_t i = length; i < whole; ++i) keys[i] = 0;
    Vector<Key> lane;
    for (int k = 0; k < lanes; ++k) lane[k] = k;
    for (int64_t i = 0; i < length; i += lanes) {
        const Vector<Key> here = load(keys + i);
        Vector<Key> rank = {};  // of truths: less by one for each
        for (int64_t j = 0; j < i; ++j) rank += (keys[j] - Vector<Key>{}) <= here;
        const int64_t end = i + lanes < length ? i + lanes : length;
        for (int64_t j = i; j < end; ++j) {
            const Vector<Key> key = keys[j] - Vector<Key>{};
            rank +=
                (key < here) | ((key == here) & (static_cast<Key>(j - i) - Vector<Key>{} < lane));
        }
        for (int64_t j = end; j < length; ++j) rank += (keys[j] - Vector<Key>{}) < here;
        store(ranks + i, -rank);
    }
    for (int64_t i = 0; i < length; ++i) {
        if constexpr (gives_values)
            set_element(output, ranks[i], bits_at(row, i * stride));
        else
            static_cast<int64_t*>(output)[ranks[i]] = i;
    }
}

// Rows begin <= r < end.
template <class T, bool gives_values>
inline void sort_rows(const SortTask<T>& s, int64_t begin, int64_t end) {
    if (s.length <= short_row) {
        constexpr int lanes = gives_values ? vector_lanes<SortKey<T>> : vector_lanes<uint64_t>;
        int64_t rows[lanes], results[lanes];
        for (int64_t r = begin; r < end; r += lanes) {
            const int64_t count = end - r < lanes ? end - r : lanes;
            fill_offsets(s.outer, s.input_outer, r, count, rows);
            for (int64_t lane = count; lane < lanes; ++lane) rows[lane] = rows[0];
            fill_offsets(s.outer, s.output_outer, r, count, results);
            if (count <= few_rows) {
                constexpr int64_t size = gives_values ? sizeof(T) : sizeof(int64_t);
                for (int64_t k = 0; k < count; ++k)
                    rank_row<T, gives_values>(s.input + rows[k], s.stride, s.length,
                                              static_cast<char*>(s.output) + results[k] * size);
                continue;
            }
            if constexpr (gives_values)
                sort_short_values(s, rows, results, static_cast<int>(count));
            else
                sort_short_positions(s, rows, results, static_cast<int>(count));
        }
        return;
    }
    for (int64_t r = begin; r < end; ++r) {
        const T* const row = s.input + offset_of(s.outer, s.input_outer, r);
        const int64_t to = offset_of(s.outer, s.output_outer, r),
                      spare = offset_of(s.outer, s.spare_outer, r);
        if constexpr (gives_values)
            sort_values(row, s.stride, s.length, static_cast<T*>(s.output) + to,
                        static_cast<T*>(s.spare) + spare, s.goes_on);
        else
            sort_positions(row, s.stride, s.length, static_cast<int64_t*>(s.output) + to,
                           static_cast<int64_t*>(s.spare) + spare, s.goes_on);
    }
}
