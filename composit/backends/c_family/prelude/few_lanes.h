// Vectors of a number of lanes of its own, whatever the target's width: of short rows.
#pragma once

#include "composit/backends/c_family/prelude/vector.h"

// So many numbers side by side.
template <class T, int W>
struct FewOf {
    typedef T type __attribute__((vector_size(W * sizeof(T))));
};
template <class T, int W>
using Few = typename FewOf<T, W>::type;

template <class T, int W>
COMPOSIT_INLINE Few<T, W> fused_few(const Few<T, W>& a, const Few<T, W>& b, const Few<T, W>& c) {
    if constexpr (W == vector_lanes<T>) return fused_lanes<T>(a, b, c);
#if defined(__FMA__) && !defined(__clang__)
    if constexpr (W * sizeof(T) == 16 && sizeof(T) == 4)
        return __builtin_ia32_vfmaddps(a, b, c);
    else if constexpr (W * sizeof(T) == 16)
        return __builtin_ia32_vfmaddpd(a, b, c);
    else if constexpr (W * sizeof(T) == 32 && sizeof(T) == 4)
        return __builtin_ia32_vfmaddps256(a, b, c);
    else if constexpr (W * sizeof(T) == 32)
        return __builtin_ia32_vfmaddpd256(a, b, c);
#endif
    Few<T, W> result;
    for (int i = 0; i < W; ++i) result[i] = fused(a[i], b[i], c[i]);
    return result;
}
