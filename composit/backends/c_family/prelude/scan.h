// Running combinations from the left, one after the other.
#pragma once

#include "composit/backends/c_family/prelude/combine.h"
#include "composit/backends/c_family/prelude/pieces.h"

// out[i * stride] = carry op x[0] op … op x[i]; without a carry yet (is_first) the chain starts at
// x[0]. The carry is left at the last result, for the next chunk of the same row.
template <class Op, class T>
inline void scan_row(const T* x, int64_t n, T& carry, bool is_first, T* out, int64_t stride) {
    if (n == 0) return;
    T last = is_first ? x[0] : Op::of(carry, x[0]);  // in a register: `out` might be the carry
    out[0] = last;
    in_pieces(n, module_goes_on, [&](int64_t begin, int64_t end) {
        int64_t i = begin > 0 ? begin : 1;
        if (stride == 1) {
#pragma GCC unroll 4
            for (; i < end; ++i) out[i] = last = Op::of(last, x[i]);
        }
        for (; i < end; ++i) {
            last = Op::of(last, x[i]);
            out[i * stride] = last;
        }
    });
    carry = last;
}

// The same for `width` neighbouring rows, of which `x` holds the next element each; carry and out
// hold `width`.
template <class Op, class T>
inline void scan_columns(const T* x, int64_t width, T* carry, bool is_first, T* out) {
    if (is_first)
        __builtin_memcpy(carry, x, static_cast<size_t>(width) * sizeof(T));
    else
        combine<Op>(carry, x, carry, width);
    __builtin_memcpy(out, carry, static_cast<size_t>(width) * sizeof(T));
}
