// What the definitions of the library's functions share: checks, polynomials, powers of two,
// special values.
#pragma once

#include "composit/ir/scalar/expr.h"

#include <cmath>
#include <limits>
#include <span>
#include <vector>

namespace composit::ir::scalar::parts {

inline constexpr double infinity = std::numeric_limits<double>::infinity();
inline constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

// NotSupported unless the dtype is float32 or float64.
void require_float(const char* function, const Expr& x);
inline bool is_float32(const Expr& x) { return x.dtype() == DType::float32; }
// `value` in the dtype of `x`.
inline Expr constant_like(const Expr& x, double value) { return Expr::constant(x.dtype(), value); }
inline Expr to_float64(const Expr& x) { return Expr::cast(x, DType::float64); }
inline Expr to_float32(const Expr& x) { return Expr::cast(x, DType::float32); }

// c[0] + c[1] x + c[2] x^2 + …, by Horner's rule with fma.
Expr polynomial(const Expr& x, std::span<const double> c);

// The unsigned integer of the same width, and back.
Expr bits_of_float(const Expr& x);
Expr float_of_bits(const Expr& bits);
int mantissa_bits(const Expr& x);  // 23 or 52
int exponent_bias(const Expr& x);  // 127 or 1023
double smallest_normal(const Expr& x);

// Adding 1.5 * 2^mantissa_bits rounds to an integer, half to even, and leaves it in the low bits.
double rounding_shift(const Expr& x);
// The same plus the exponent's bias, so that the low bits are those of an exponent.
double exponent_shift(const Expr& x);
// 2^n, from n + exponent_shift(n); n must be an exponent of a normal number.
Expr power_of_two(const Expr& shifted);
// A NaN that raises the processor's flag for invalid operations in any arithmetic: by that an
// evaluation notices errors (execute/floating_errors.h) which a definition handles by choosing
// between values, which raises nothing. Choose between it and a factor.
Expr signaling_nan(const Expr& x);
// x * 2^n for an integral float n in ±2 * exponent_bias, rounded once, also where the result is
// subnormal.
Expr scale(const Expr& x, const Expr& n);
// The same from `shifted`, which is n + scale_shift(n).
Expr scale_by_shifted(const Expr& x, const Expr& shifted);
// rounding_shift and both biases.
double scale_shift(const Expr& x);

// The low bits of an integral float64 x >= 0 as uint64; anything for other x.
Expr low_bits(const Expr& x);
// table[bits % 2^n], the table filled with zeros up to 2^n. Compilers look up in vectors only what
// they cannot see to be constant for some x: choose by bits, not by conditions.
Expr table_entry(std::vector<double> table, const Expr& bits);

// x with bounds, NaN kept.
Expr at_most(const Expr& x, double bound);
Expr at_least(const Expr& x, double bound);
// |x| with a bound, which NaN becomes, too: of bits, which processors compare quickest.
Expr magnitude_at_most(const Expr& x, double bound);

}  // namespace composit::ir::scalar::parts
