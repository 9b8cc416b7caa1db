// Transposing small blocks in registers: how strided operands are read a vector at a time.
#pragma once

#include "composit/backends/c_family/prelude/vector.h"

// to[k * to_stride + i] = from[i * from_stride + k] for i, k < transpose_block<T>.
template <class T>
constexpr int transpose_block = sizeof(T) == 4   ? 4
                                : sizeof(T) == 8 ? 2
                                                 : 1;

#if defined(__clang__)
#define COMPOSIT_PICK(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#else
#define COMPOSIT_PICK(a, b, ...) __builtin_shuffle(a, b, Picks{__VA_ARGS__})
#endif

// The offsets of the block's rows in `from` are given one by one.
template <class T>
COMPOSIT_INLINE void transpose(const T* from, const int64_t* rows, T* to, int64_t to_stride) {
    if constexpr (sizeof(T) == 4) {
        typedef uint32_t Four __attribute__((vector_size(16)));
        typedef int32_t Picks __attribute__((vector_size(16), unused));
        Four a, b, c, d;
        __builtin_memcpy(&a, from + rows[0], 16);
        __builtin_memcpy(&b, from + rows[1], 16);
        __builtin_memcpy(&c, from + rows[2], 16);
        __builtin_memcpy(&d, from + rows[3], 16);
        const Four low_ac = COMPOSIT_PICK(a, c, 0, 4, 1, 5);
        const Four high_ac = COMPOSIT_PICK(a, c, 2, 6, 3, 7);
        const Four low_bd = COMPOSIT_PICK(b, d, 0, 4, 1, 5);
        const Four high_bd = COMPOSIT_PICK(b, d, 2, 6, 3, 7);
        a = COMPOSIT_PICK(low_ac, low_bd, 0, 4, 1, 5);
        b = COMPOSIT_PICK(low_ac, low_bd, 2, 6, 3, 7);
        c = COMPOSIT_PICK(high_ac, high_bd, 0, 4, 1, 5);
        d = COMPOSIT_PICK(high_ac, high_bd, 2, 6, 3, 7);
        __builtin_memcpy(to, &a, 16);
        __builtin_memcpy(to + to_stride, &b, 16);
        __builtin_memcpy(to + 2 * to_stride, &c, 16);
        __builtin_memcpy(to + 3 * to_stride, &d, 16);
    } else if constexpr (sizeof(T) == 8) {
        typedef uint64_t Two __attribute__((vector_size(16)));
        typedef int64_t Picks __attribute__((vector_size(16), unused));
        Two a, b;
        __builtin_memcpy(&a, from + rows[0], 16);
        __builtin_memcpy(&b, from + rows[1], 16);
        const Two low = COMPOSIT_PICK(a, b, 0, 2), high = COMPOSIT_PICK(a, b, 1, 3);
        __builtin_memcpy(to, &low, 16);
        __builtin_memcpy(to + to_stride, &high, 16);
    } else {
        *to = from[rows[0]];
    }
}

// Whether transpose_tall is there.
#if defined(__has_builtin)
#define COMPOSIT_TALL (COMPOSIT_VECTOR_BYTES >= 32 && __has_builtin(__builtin_shufflevector))
#else
#define COMPOSIT_TALL 0
#endif
template <class T>
constexpr bool transposes_tall = COMPOSIT_TALL && sizeof(T) == 4;

// The same for eight rows of four elements of 4 bytes: to[k * to_stride + i], i < 8, k < 4.
template <class T>
COMPOSIT_INLINE void transpose_tall(const T* from, const int64_t* rows, T* to, int64_t to_stride) {
#if COMPOSIT_TALL
    typedef uint32_t Four __attribute__((vector_size(16)));
    typedef uint32_t Eight __attribute__((vector_size(32)));
    typedef int32_t Picks __attribute__((vector_size(32), unused));
    Eight pairs[4];  // row i beside row i + 4
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) {
        Four low, high;
        __builtin_memcpy(&low, from + rows[i], 16);
        __builtin_memcpy(&high, from + rows[i + 4], 16);
        pairs[i] = __builtin_shufflevector(low, high, 0, 1, 2, 3, 4, 5, 6, 7);
    }
    const Eight low_ac = COMPOSIT_PICK(pairs[0], pairs[2], 0, 8, 1, 9, 4, 12, 5, 13);
    const Eight high_ac = COMPOSIT_PICK(pairs[0], pairs[2], 2, 10, 3, 11, 6, 14, 7, 15);
    const Eight low_bd = COMPOSIT_PICK(pairs[1], pairs[3], 0, 8, 1, 9, 4, 12, 5, 13);
    const Eight high_bd = COMPOSIT_PICK(pairs[1], pairs[3], 2, 10, 3, 11, 6, 14, 7, 15);
    pairs[0] = COMPOSIT_PICK(low_ac, low_bd, 0, 8, 1, 9, 4, 12, 5, 13);
    pairs[1] = COMPOSIT_PICK(low_ac, low_bd, 2, 10, 3, 11, 6, 14, 7, 15);
    pairs[2] = COMPOSIT_PICK(high_ac, high_bd, 0, 8, 1, 9, 4, 12, 5, 13);
    pairs[3] = COMPOSIT_PICK(high_ac, high_bd, 2, 10, 3, 11, 6, 14, 7, 15);
#pragma GCC unroll 4
    for (int k = 0; k < 4; ++k) __builtin_memcpy(to + k * to_stride, &pairs[k], 32);
#else
    transpose(from, rows, to, to_stride);
    transpose(from, rows + 4, to + 4, to_stride);
#endif
}

// The same for two rows of four elements of 4 bytes.
template <class T>
COMPOSIT_INLINE void transpose_pair(const T* from, const int64_t* rows, T* to, int64_t to_stride) {
    typedef uint32_t Four __attribute__((vector_size(16)));
    typedef int32_t Picks __attribute__((vector_size(16), unused));
    Four a, b;
    __builtin_memcpy(&a, from + rows[0], 16);
    __builtin_memcpy(&b, from + rows[1], 16);
    const Four low = COMPOSIT_PICK(a, b, 0, 4, 1, 5), high = COMPOSIT_PICK(a, b, 2, 6, 3, 7);
    const char* halves[2] = {reinterpret_cast<const char*>(&low),
                             reinterpret_cast<const char*>(&high)};
    for (int k = 0; k < 4; ++k) __builtin_memcpy(to + k * to_stride, halves[k / 2] + k % 2 * 8, 8);
}

// to[i] = from[2 * i] for four elements of 4 bytes, reading nothing behind the last of them.
template <class T>
COMPOSIT_INLINE void copy_every_second(const T* from, T* to) {
    typedef uint32_t Four __attribute__((vector_size(16)));
    typedef int32_t Picks __attribute__((vector_size(16), unused));
    Four low, high;
    __builtin_memcpy(&low, from, 16);
    __builtin_memcpy(&high, from + 3, 16);
    const Four both = COMPOSIT_PICK(low, high, 0, 2, 5, 7);
    __builtin_memcpy(to, &both, 16);
}

// The same for as many elements as a vector has.
template <class T>
COMPOSIT_INLINE void copy_every_second_of_vectors(const T* from, T* to) {
    if constexpr (vector_bytes < 32) return copy_every_second(from, to);
    typedef uint32_t Words __attribute__((vector_size(COMPOSIT_VECTOR_BYTES)));
    typedef int32_t Picks __attribute__((vector_size(COMPOSIT_VECTOR_BYTES), unused));
    Words low, high;
    __builtin_memcpy(&low, from, sizeof low);
    __builtin_memcpy(&high, from + vector_lanes<T> - 1, sizeof high);
#if COMPOSIT_VECTOR_BYTES == 64
    low = COMPOSIT_PICK(low, high, 0, 2, 4, 6, 8, 10, 12, 14, 17, 19, 21, 23, 25, 27, 29, 31);
#elif COMPOSIT_VECTOR_BYTES == 32
    low = COMPOSIT_PICK(low, high, 0, 2, 4, 6, 9, 11, 13, 15);
#endif
    __builtin_memcpy(to, &low, sizeof low);
}
#undef COMPOSIT_PICK
#undef COMPOSIT_TALL
