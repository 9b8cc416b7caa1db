// The cores that several functions share: exp and log reduced to a short interval, exp(-x^2), the
// argument of sin.
#pragma once

#include "composit/ir/scalar/library_pair.h"
#include "composit/ir/scalar/library_parts.h"

namespace composit::ir::scalar::parts {

// x = exponent * ln(2) + rest + rest_low, |rest| <= ln(2) / 2 and a little, exponent integral, rest
// exact. |x| must be below 2^10 * ln(2) (float32: 2^7 * 1.5 * ln(2)); NaN passes into `rest`.
struct ExpArgument {
    Expr rest;
    Expr rest_low;
    Expr exponent;
    Expr shifted;  // exponent + exponent_shift, for power_of_two
};
ExpArgument reduce_exp(const Expr& x);
ExpArgument reduce_exp(const Pair& x);          // x.low is below an ulp of x.high
Expr exp_of_rest(const ExpArgument& argument);  // error below 0.6 ulp
Pair exp_pair_of_rest(const ExpArgument& argument);
Expr expm1_of_rest(const ExpArgument& argument);

// a / b, rounded nearly correctly; a is finite, b in [1, 4]. The sign of a zero is lost.
Expr divide_closely(const Pair& a, const Pair& b);

// x = 2^exponent * (1 + fraction), sqrt(1/2) <= 1 + fraction < sqrt(2), for positive finite x,
// subnormal too.
struct LogArgument {
    Expr fraction;
    Expr exponent;
};
LogArgument reduce_log(const Expr& x);
// The same, but where x is not positive the exponent is NaN, and a flag is raised: see
// signaling_nan.
LogArgument reduce_log_and_signal(const Expr& x);
// log(1 + fraction), relative error below an ulp, without its rounding to one number.
Pair log_of_fraction(const Expr& fraction);
// exponent * ln(2) + log(1 + fraction)
Expr join_log(const LogArgument& argument);
// log's values outside (0, inf): NaN below 0, -inf at 0, x itself at inf and NaN; `inside`
// elsewhere, which comes of reduce_log_and_signal.
Expr log_limits(const Expr& x, const Expr& inside);
// log2(x) for positive finite x.
Expr log2_inside(const Expr& x);
// log(x) for positive finite x, with what its rounding loses.
Pair log_pair(const Expr& x);
// log(1 + x) for finite x > -1; NaN for NaN.
Expr log1p_inside(const Expr& x);
Expr log1p_inside(const Pair& x);
// The same, but NaN, with a flag raised, where x is -1 or less.
Expr log1p_and_signal(const Expr& x);

// |sin(pi x)| for float64, relative error about an ulp; NaN at infinities.
Expr absolute_sin_of_pi(const Expr& x);

// gelu and gelu_slope of float32.
Expr gelu_of_float32(const Expr& x);
Expr gelu_slope_of_float32(const Expr& x);

// log2(x) of a positive normal float64, relative error about 2^-66.
Pair log2_pair(const Expr& x);

}  // namespace composit::ir::scalar::parts
