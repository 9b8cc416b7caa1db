// Vectors of the target's width and the operations on them that every other prelude header needs.
//
// Prelude headers open no namespace: whoever includes or embeds them wraps all of them in one of
// its own, one per instruction set, so that the linker never mixes code for different CPUs:
//
//     #include <cstddef>
//     #include <cstdint>
//     #pragma GCC push_options
//     #pragma GCC target("avx2,fma")
//     #define COMPOSIT_VECTOR_BYTES 32
//     namespace avx2 {
//     …the headers, in the order of prelude_dependencies…
//     }
//     #pragma GCC pop_options
//
// COMPOSIT_VECTOR_BYTES is 64, 32 or 16; without it the compiler's own target decides. The results
// are the same bits whatever it is.
#pragma once

#include <cstddef>
#include <cstdint>

#ifndef COMPOSIT_VECTOR_BYTES
#if defined(__AVX512F__)
#define COMPOSIT_VECTOR_BYTES 64
#elif defined(__AVX__)
#define COMPOSIT_VECTOR_BYTES 32
#else
#define COMPOSIT_VECTOR_BYTES 16
#endif
#endif
#define COMPOSIT_INLINE __attribute__((always_inline)) inline
// Of functions that are called once for much work: a copy in every caller costs the time to compile
// it and saves none.
#define COMPOSIT_APART __attribute__((noinline))

constexpr int vector_bytes = COMPOSIT_VECTOR_BYTES;

template <class T>
struct VectorOf {
    typedef T type __attribute__((vector_size(COMPOSIT_VECTOR_BYTES)));
};
template <class T>
using Vector = typename VectorOf<T>::type;
template <class T>
constexpr int vector_lanes = vector_bytes / static_cast<int>(sizeof(T));

template <class T>
COMPOSIT_INLINE Vector<T> load(const T* from) {
    Vector<T> v;
    __builtin_memcpy(&v, from, sizeof v);
    return v;
}

template <class T>
COMPOSIT_INLINE void store(T* to, const Vector<T>& v) {
    __builtin_memcpy(to, &v, sizeof v);
}

// step(0), …, step(n - 1). Unlike a loop that the optimiser unrolls, it lets arrays of vectors be
// registers at -O1, too. `step` is a lambda that says COMPOSIT_STEP.
#define COMPOSIT_STEP __attribute__((always_inline))
template <int n, class Step>
COMPOSIT_INLINE void repeat(const Step& step) {
    if constexpr (n >= 4) {  // four by four: each round is compiled as a function of its own
        repeat<n - 4>(step);
        step(n - 4), step(n - 3), step(n - 2), step(n - 1);
    } else if constexpr (n > 0) {
        repeat<n - 1>(step);
        step(n - 1);
    }
}

COMPOSIT_INLINE float fused(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
COMPOSIT_INLINE double fused(double a, double b, double c) { return __builtin_fma(a, b, c); }

// a * b + c in each lane.
template <class T>
COMPOSIT_INLINE Vector<T> fused_lanes(const Vector<T>& a, const Vector<T>& b, const Vector<T>& c) {
#if defined(__x86_64__) && !defined(__clang__) && COMPOSIT_VECTOR_BYTES == 64
    if constexpr (sizeof(T) == 4)
        return __builtin_ia32_vfmaddps512_mask(a, b, c, uint16_t(-1), 4);
    else
        return __builtin_ia32_vfmaddpd512_mask(a, b, c, uint8_t(-1), 4);
#elif defined(__x86_64__) && !defined(__clang__) && COMPOSIT_VECTOR_BYTES == 32
    if constexpr (sizeof(T) == 4)
        return __builtin_ia32_vfmaddps256(a, b, c);
    else
        return __builtin_ia32_vfmaddpd256(a, b, c);
#else
    // The loop that fills a local vector is the form that compiles to one instruction, if the
    // compiler makes vectors of loops.
    Vector<T> result;
    for (int i = 0; i < vector_lanes<T>; ++i) result[i] = fused(a[i], b[i], c[i]);
    return result;
#endif
}

// The unsigned twin of a signed integer type, any other type itself: sums and products of integers
// are formed in it, because they wrap.
template <class T>
struct WrappingOf {
    typedef T type;
};
template <>
struct WrappingOf<int8_t> {
    typedef uint8_t type;
};
template <>
struct WrappingOf<int16_t> {
    typedef uint16_t type;
};
template <>
struct WrappingOf<int32_t> {
    typedef uint32_t type;
};
template <>
struct WrappingOf<int64_t> {
    typedef uint64_t type;
};
template <class T>
using Wrapping = typename WrappingOf<T>::type;

template <class T>
constexpr bool is_floating = false;
template <>
inline constexpr bool is_floating<float> = true;
template <>
inline constexpr bool is_floating<double> = true;
template <>
inline constexpr bool is_floating<Vector<float>> = true;
template <>
inline constexpr bool is_floating<Vector<double>> = true;
