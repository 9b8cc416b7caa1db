// Sorting by keys: unsigned integers in the order of values.
//
// 0 and -0 have one key, and so have all NaN, which is the largest.
#pragma once

#include "composit/backends/c_family/prelude/pieces.h"

template <size_t bytes>
struct KeyOfSize;
template <>
struct KeyOfSize<1> {
    typedef uint8_t type;
};
template <>
struct KeyOfSize<2> {
    typedef uint16_t type;
};
template <>
struct KeyOfSize<4> {
    typedef uint32_t type;
};
template <>
struct KeyOfSize<8> {
    typedef uint64_t type;
};
template <class T>
using SortKey = typename KeyOfSize<sizeof(T)>::type;

// Element i of memory that is declared as something else.
template <class K>
COMPOSIT_INLINE K element_at(const void* base, int64_t i) {
    K value;
    __builtin_memcpy(&value, static_cast<const char*>(base) + i * static_cast<int64_t>(sizeof(K)),
                     sizeof value);
    return value;
}
template <class K>
COMPOSIT_INLINE void set_element(void* base, int64_t i, K value) {
    __builtin_memcpy(static_cast<char*>(base) + i * static_cast<int64_t>(sizeof(K)), &value,
                     sizeof value);
}

template <class T>
constexpr bool is_signed_number = T(-1) < T(0);
template <class T>
constexpr SortKey<T> sign_bit = static_cast<SortKey<T>>(SortKey<T>(1) << (8 * sizeof(T) - 1));
// The exponent of infinity.
template <class T>
constexpr SortKey<T> infinite_bits = 0;
template <>
inline constexpr uint32_t infinite_bits<float> = 0x7f800000u;
template <>
inline constexpr uint64_t infinite_bits<double> = 0x7ff0000000000000u;

template <class T>
COMPOSIT_INLINE bool is_not_a_number(SortKey<T> bits) {
    if constexpr (is_floating<T>) return (bits & ~sign_bit<T>) > infinite_bits<T>;
    return false;
}

// Of an element's bits: nothing is computed with floats, so that no flag is raised.
template <class T>
COMPOSIT_INLINE SortKey<T> key_of_bits(SortKey<T> bits) {
    if constexpr (is_floating<T>) {
        const SortKey<T> positive = bits == sign_bit<T> ? 0 : bits;
        const SortKey<T> key = positive & sign_bit<T> ? ~positive : positive | sign_bit<T>;
        return is_not_a_number<T>(bits) ? ~SortKey<T>(0) : key;
    } else if constexpr (is_signed_number<T>) {
        return bits ^ sign_bit<T>;
    } else {
        return bits;
    }
}
template <class T>
COMPOSIT_INLINE SortKey<T> bits_of_key(SortKey<T> key) {
    if constexpr (is_floating<T>)
        return key & sign_bit<T> ? key ^ sign_bit<T> : ~key;
    else if constexpr (is_signed_number<T>)
        return key ^ sign_bit<T>;
    else
        return key;
}
// Whether the key does not tell the bits.
template <class T>
COMPOSIT_INLINE bool is_lost(SortKey<T> bits) {
    if constexpr (is_floating<T>) return bits == sign_bit<T> || is_not_a_number<T>(bits);
    return false;
}

COMPOSIT_INLINE int bit_width(uint64_t value) { return value ? 64 - __builtin_clzll(value) : 0; }

constexpr int digit_bits = 8, digit_count = 1 << digit_bits;

template <class K>
COMPOSIT_INLINE int64_t digit_of(K key, int shift) {
    return static_cast<int64_t>(key >> shift) & (digit_count - 1);
}

// By the bits from `low` to `high`, which it leaves out, equal ones in the order they have. Returns
// where the result is: in `keys` or in `spare`; null where it was told to end.
template <class K>
inline void* radix_sort(void* keys, void* spare, int64_t n, int low, int high, GoesOn goes_on) {
    const int passes = (high - low + digit_bits - 1) / digit_bits;
    int64_t places[sizeof(K)][digit_count];
    for (int d = 0; d < passes; ++d)
        for (int64_t& place : places[d]) place = 0;
    const bool is_counted = in_pieces(n, goes_on, [&](int64_t first, int64_t end) {
        for (int64_t i = first; i < end; ++i) {
            const K key = element_at<K>(keys, i);
            for (int d = 0; d < passes; ++d) ++places[d][digit_of(key, low + d * digit_bits)];
        }
    });
    if (!is_counted) return nullptr;
    void* from = keys;
    void* to = spare;
    for (int d = 0; d < passes; ++d) {
        const int shift = low + d * digit_bits;
        int64_t* const place = places[d];
        if (place[digit_of(element_at<K>(from, 0), shift)] == n) continue;
        int64_t begin = 0;
        for (int64_t digit = 0; digit < digit_count; ++digit) {
            const int64_t count = place[digit];
            place[digit] = begin;
            begin += count;
        }
        const bool is_moved = in_pieces(n, goes_on, [&](int64_t first, int64_t end) {
            for (int64_t i = first; i < end; ++i) {
                const K key = element_at<K>(from, i);
                set_element(to, place[digit_of(key, shift)]++, key);
            }
        });
        if (!is_moved) return nullptr;
        void* const sorted = to;
        to = from;
        from = sorted;
    }
    return from;
}

// Keys in whose order only the first `prefix` bits are right: neighbours that are not in order are
// few, or this gives up and returns false; the keys are the same ones then, too.
template <class K>
inline bool insert_neighbours(void* keys, int64_t n) {
    int64_t moves_left = 4 * n;
    for (int64_t i = 1; i < n; ++i) {
        const K key = element_at<K>(keys, i);
        int64_t j = i;
        for (; j > 0; --j) {
            const K before = element_at<K>(keys, j - 1);
            if (before <= key) break;
            set_element(keys, j, before);
        }
        set_element(keys, j, key);
        moves_left -= i - j;
        if (moves_left < 0) return false;
    }
    return true;
}

// Returns where the result is, as radix_sort. `different` are the bits in which keys differ.
template <class K>
inline void* sort_keys(void* keys, void* spare, int64_t n, uint64_t different, GoesOn goes_on) {
    const int high = bit_width(different);
    const int low = different ? __builtin_ctzll(different) : 0;
    constexpr int prefix = 32;  // in which a million keys are hardly ever equal
    if (high - low <= prefix + digit_bits) return radix_sort<K>(keys, spare, n, low, high, goes_on);
    void* const sorted = radix_sort<K>(keys, spare, n, high - prefix, high, goes_on);
    if (!sorted || insert_neighbours<K>(sorted, n)) return sorted;
    return radix_sort<K>(sorted, sorted == keys ? spare : keys, n, low, high, goes_on);
}

// As many rows side by side as a vector has lanes, each in ascending order: Batcher's merges by odd
// and even places, which compare the same places whatever the keys are.
template <class K>
inline void sort_lanes(K (*keys)[vector_lanes<K>], int64_t n) {
    for (int64_t p = 1; p < n; p *= 2)
        for (int64_t k = p; k >= 1; k /= 2)
            for (int64_t j = k % p; j + k < n; j += 2 * k)
                for (int64_t i = j; i < j + k && i + k < n; ++i) {
                    if ((i ^ (i + k)) >= 2 * p) continue;  // in different runs of 2 p
                    const Vector<K> a = load(keys[i]), b = load(keys[i + k]);
                    const auto is_less = b < a;
                    store<K>(keys[i], is_less ? b : a);
                    store<K>(keys[i + k], is_less ? a : b);
                }
}
