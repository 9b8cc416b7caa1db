// Transposing small blocks in registers: how strided operands are read a vector at a time.
#pragma once

#include "composit/backends/c_family/prelude/vector.h"

// to[k * to_stride + i] = from[i * from_stride + k] for i, k < transpose_block<T>.
template <class T>
constexpr int transpose_block = sizeof(T) == 4   ? 4
                                : sizeof(T) == 8 ? 2
                                                 : 1;

#if defined(__clang__)
#define COMPOSIT_INTERLEAVE4(a, b, i, j, k, l) __builtin_shufflevector(a, b, i, j, k, l)
#define COMPOSIT_INTERLEAVE2(a, b, i, j) __builtin_shufflevector(a, b, i, j)
#else
#define COMPOSIT_INTERLEAVE4(a, b, i, j, k, l) __builtin_shuffle(a, b, Picks{i, j, k, l})
#define COMPOSIT_INTERLEAVE2(a, b, i, j) __builtin_shuffle(a, b, Picks{i, j})
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
        const Four low_ac = COMPOSIT_INTERLEAVE4(a, c, 0, 4, 1, 5);
        const Four high_ac = COMPOSIT_INTERLEAVE4(a, c, 2, 6, 3, 7);
        const Four low_bd = COMPOSIT_INTERLEAVE4(b, d, 0, 4, 1, 5);
        const Four high_bd = COMPOSIT_INTERLEAVE4(b, d, 2, 6, 3, 7);
        a = COMPOSIT_INTERLEAVE4(low_ac, low_bd, 0, 4, 1, 5);
        b = COMPOSIT_INTERLEAVE4(low_ac, low_bd, 2, 6, 3, 7);
        c = COMPOSIT_INTERLEAVE4(high_ac, high_bd, 0, 4, 1, 5);
        d = COMPOSIT_INTERLEAVE4(high_ac, high_bd, 2, 6, 3, 7);
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
        const Two low = COMPOSIT_INTERLEAVE2(a, b, 0, 2), high = COMPOSIT_INTERLEAVE2(a, b, 1, 3);
        __builtin_memcpy(to, &low, 16);
        __builtin_memcpy(to + to_stride, &high, 16);
    } else {
        *to = from[rows[0]];
    }
}
#undef COMPOSIT_INTERLEAVE4
#undef COMPOSIT_INTERLEAVE2
