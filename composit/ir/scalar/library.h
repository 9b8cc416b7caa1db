// Our own definitions of the transcendental functions, in the scalar language.
//
// Each takes float32 or float64 (NotSupported for other dtypes) and returns an expression of the
// same dtype, made of exactly rounded operations only and without branches: the same bits from the
// interpreter, from generated C++, one by one or in vectors. Values at signed zeros, infinities and
// NaN are C's (annex F of C11) and thereby NumPy's; subnormal arguments and results are kept.
// Errors in ulp (units in the last place of the exact result), measured, are in docs/accuracy.md;
// all are below 2 ulp in float32 and 4 ulp in float64 unless said below.
#pragma once

#include "composit/ir/scalar/expr.h"

namespace composit::ir::scalar {

// ----- library_exponential.cpp: x = k ln(2) + r, a polynomial in r, scaled by 2^k
Expr exp_of(const Expr& x);
Expr exp2_of(const Expr& x);
Expr expm1_of(const Expr& x);
Expr sigmoid_of(const Expr& x);  // 1 / (1 + exp(-x)); sigmoid(-inf) = 0
Expr silu_of(const Expr& x);     // x sigmoid(x); silu(-inf) = -0

// ----- library_logarithm.cpp: x = 2^k (1 + f), a polynomial in f or f / (2 + f)
Expr log_of(const Expr& x);
Expr log2_of(const Expr& x);  // exact at powers of two
Expr log10_of(const Expr& x);
Expr log1p_of(const Expr& x);
Expr softplus_of(const Expr& x);  // log(1 + exp(x))

// ----- library_log_of_sum.cpp: log(exp(x) + exp(y)), and the same to base 2.
// In float64 the bound holds for results above 2^-55 of exp(smaller operand). Below, which only
// pairs reach of which one is the nearest number to the zero, the error grows as they shrink.
Expr logaddexp_of(const Expr& x, const Expr& y);
Expr logaddexp2_of(const Expr& x, const Expr& y);

// ----- library_hyperbolic.cpp: exp(x) - 1 and log(1 + x)
Expr tanh_of(const Expr& x);
Expr sinh_of(const Expr& x);
Expr cosh_of(const Expr& x);
Expr arcsinh_of(const Expr& x);
Expr arccosh_of(const Expr& x);
Expr arctanh_of(const Expr& x);

// ----- library_error_function.cpp: polynomials near 0, exp(-x^2) times a polynomial in x / (x + 4)
// elsewhere
Expr erf_of(const Expr& x);
Expr erfc_of(const Expr& x);
// x Phi(x), Phi the normal distribution; gelu(-inf) = -0. In float32 negative results have the
// error of a number near -1/4.
Expr gelu_of(const Expr& x);
Expr gelu_slope_of(const Expr& x);  // Phi(x) + x phi(x), to the accuracy of Phi(-|x|)

// ----- library_normal.cpp
// z with Phi(z) = p: -inf at 0, inf at 1, NaN outside [0, 1]; exact differences from 1/2 and 1
// count.
Expr ndtri_of(const Expr& x);

// ----- library_trigonometric.cpp: reduction by Payne and Hanek for all magnitudes, polynomials
Expr sin_of(const Expr& x);
Expr cos_of(const Expr& x);
Expr tan_of(const Expr& x);

// ----- library_inverse_trigonometric.cpp
Expr arcsin_of(const Expr& x);
Expr arccos_of(const Expr& x);
Expr arctan_of(const Expr& x);
Expr arctan2_of(const Expr& y, const Expr& x);

// ----- library_power.cpp: float64 powers from a logarithm of 66 bits
Expr power_of(const Expr& x, const Expr& y);
Expr cbrt_of(const Expr& x);
Expr hypot_of(const Expr& x, const Expr& y);

// ----- library_gamma.cpp: log |gamma(x)|; inf at 0 and the negative integers
Expr lgamma_of(const Expr& x);

}  // namespace composit::ir::scalar
