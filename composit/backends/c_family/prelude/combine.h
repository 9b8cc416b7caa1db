// The two-operand operations of reductions, scans and scatters, on one element or on a vector of
// them.
//
// Signed integers are combined as their unsigned twins (Wrapping<T>), bool as uint8_t holding 0
// or 1.
#pragma once

#include "composit/backends/c_family/prelude/vector.h"

struct Sum {
    template <class V>
    static COMPOSIT_INLINE V of(const V& a, const V& b) {
        return a + b;
    }
    template <class T>
    static constexpr T empty = T(0);
};

struct Product {
    template <class V>
    static COMPOSIT_INLINE V of(const V& a, const V& b) {
        if constexpr (sizeof(V) <= 2)  // C would multiply in signed int, which may overflow
            return static_cast<V>(static_cast<unsigned>(a) * static_cast<unsigned>(b));
        else
            return a * b;
    }
    template <class T>
    static constexpr T empty = T(1);
};

// NaN if either is NaN; on equal operands the first one, which decides between zeros.
struct Maximum {
    template <class V>
    static COMPOSIT_INLINE V of(const V& a, const V& b) {
        if constexpr (is_floating<V>)
            return b != b ? b : without_nan(a, b);
        else
            return without_nan(a, b);
    }
    // The same where `b` is no NaN; `a` where it is.
    template <class V>
    static COMPOSIT_INLINE V without_nan(const V& a, const V& b) {
        return b > a ? b : a;
    }
    template <class T>
    static constexpr T empty = T(0);  // never asked for: refused before
};

struct Minimum {
    template <class V>
    static COMPOSIT_INLINE V of(const V& a, const V& b) {
        if constexpr (is_floating<V>)
            return b != b ? b : without_nan(a, b);
        else
            return without_nan(a, b);
    }
    // The same where `b` is no NaN; `a` where it is.
    template <class V>
    static COMPOSIT_INLINE V without_nan(const V& a, const V& b) {
        return b < a ? b : a;
    }
    template <class T>
    static constexpr T empty = T(0);
};

// Whether Op is one of these, for which NaN can be looked for apart from everything else.
template <class Op>
constexpr bool is_extremum = false;
template <>
inline constexpr bool is_extremum<Maximum> = true;
template <>
inline constexpr bool is_extremum<Minimum> = true;

struct Any {
    template <class V>
    static COMPOSIT_INLINE V of(const V& a, const V& b) {
        return a | b;
    }
    template <class T>
    static constexpr T empty = T(0);
    template <class T>
    static bool decides(T value) {
        return value != 0;
    }
};

struct All {
    template <class V>
    static COMPOSIT_INLINE V of(const V& a, const V& b) {
        return a & b;
    }
    template <class T>
    static constexpr T empty = T(1);
    template <class T>
    static bool decides(T value) {
        return value == 0;
    }
};

// Whether one element may settle what the others cannot change.
template <class Op>
constexpr bool may_decide = false;
template <>
inline constexpr bool may_decide<Any> = true;
template <>
inline constexpr bool may_decide<All> = true;

// out[i] = a[i] op b[i]; out may be a or b.
template <class Op, class T>
inline void combine(const T* a, const T* b, T* out, int64_t n) {
    constexpr int lanes = vector_lanes<T>;
    int64_t i = 0;
    for (; i + lanes <= n; i += lanes) store(out + i, Op::of(load(a + i), load(b + i)));
    for (; i < n; ++i) out[i] = Op::of(a[i], b[i]);
}
