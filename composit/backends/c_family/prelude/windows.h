// Results of one filter at several neighbouring windows of a row of an image.
#pragma once

#include "composit/backends/c_family/prelude/few_lanes.h"

#if defined(__clang__)
#define COMPOSIT_PICK(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#else
#define COMPOSIT_PICK(a, b, ...) __builtin_shuffle(a, b, Picks{__VA_ARGS__})
#endif

// W sums of 16 or 32 bytes together, of windows that begin `step` elements apart: 1 or 2. Sums of
// every second window have an order of their own, which is that of one exchange within 16 bytes for
// each vector that is read.
template <class T, int W, int step>
class WindowSums {
  public:
    // Adds factor * from[i * step] to sum i by one fma. Nothing behind from[(W - 1) * step] is
    // read.
    COMPOSIT_INLINE void add(T factor, const T* from) {
        sums_ = fused_few<T, W>(factor - Few<T, W>{}, read(from), sums_);
    }
    COMPOSIT_INLINE void put(T* to) const {
        const Few<T, W> sums = step == 1 ? sums_ : in_order(sums_);
        __builtin_memcpy(to, &sums, sizeof sums);
    }

  private:
    static COMPOSIT_INLINE Few<T, W> load(const T* from) {
        Few<T, W> all;
        __builtin_memcpy(&all, from, sizeof all);
        return all;
    }
    static COMPOSIT_INLINE Few<T, W> read(const T* from) {
        if constexpr (step == 1) return load(from);
        const Few<T, W> low = load(from), high = load(from + W - 1);
        if constexpr (sizeof(T) == 4 && W == 8) {
            typedef int32_t Picks __attribute__((vector_size(32), unused));
            return COMPOSIT_PICK(low, high, 0, 2, 9, 11, 4, 6, 13, 15);
        } else if constexpr (sizeof(T) == 4) {
            typedef int32_t Picks __attribute__((vector_size(16), unused));
            return COMPOSIT_PICK(low, high, 0, 2, 5, 7);
        } else if constexpr (W == 4) {
            typedef int64_t Picks __attribute__((vector_size(32), unused));
            return COMPOSIT_PICK(low, high, 0, 5, 2, 7);
        } else {
            typedef int64_t Picks __attribute__((vector_size(16), unused));
            return COMPOSIT_PICK(low, high, 0, 3);
        }
    }
    static COMPOSIT_INLINE Few<T, W> in_order(const Few<T, W>& sums) {
        if constexpr (sizeof(T) == 4 && W == 8) {
            typedef int32_t Picks __attribute__((vector_size(32), unused));
            return COMPOSIT_PICK(sums, sums, 0, 1, 4, 5, 2, 3, 6, 7);
        } else if constexpr (sizeof(T) == 8 && W == 4) {
            typedef int64_t Picks __attribute__((vector_size(32), unused));
            return COMPOSIT_PICK(sums, sums, 0, 2, 1, 3);
        } else {
            return sums;
        }
    }

    Few<T, W> sums_{};
};
#undef COMPOSIT_PICK
