// PyTorch's special functions that composit::numpy has no row for: by its rows, by series,
// continued fractions and recurrences. Integers are computed in the default dtype (dtypes.h).
//
// Series are summed in float64; results have the dtype of the first tensor. Gradients are those of
// the graph, or given where the graph's would lose digits.
#pragma once

#include "composit/numpy/operand.h"

#include <cstdint>

namespace composit::aten {

using ir::Tensor;
using numpy::Operand;

// ----- of the normal distribution
// The x with erf(x) = y; NaN beyond -1 and 1.
[[nodiscard]] Tensor erfinv(const Tensor& y);
// The area below the normal distribution up to x; the x with ndtr(x) = y; log(ndtr(x)), also where
// ndtr(x) is 0.
[[nodiscard]] Tensor ndtr(const Tensor& x);
[[nodiscard]] Tensor ndtri(const Tensor& y);
[[nodiscard]] Tensor log_ndtr(const Tensor& x);
// exp(x^2) erfc(x)
[[nodiscard]] Tensor erfcx(const Tensor& x);
// log(x). The slope of log overflows at denormal numbers; that of this function, which takes the
// logarithm of a multiple there, times x is 1.
[[nodiscard]] Tensor log_to_the_least(const Tensor& x);
// -x log(x); 0 at 0, -infinity below.
[[nodiscard]] Tensor entr(const Tensor& x);
// x log1p(y); 0 where x is 0.
[[nodiscard]] Tensor xlog1py(const Operand& x, const Operand& y);

// ----- gamma's
// Hurwitz's zeta function, for x > 1 and q > 0.
[[nodiscard]] Tensor zeta(const Operand& x, const Operand& q);
// The nth derivative of digamma. ValueError, PyTorch's words, for a negative n.
[[nodiscard]] Tensor polygamma(int64_t n, const Tensor& x);
// The logarithm of the multivariate gamma function.
[[nodiscard]] Tensor multigammaln(const Tensor& x, int64_t p);
// The incomplete gamma functions, regularised: lower and upper. Their gradient is that by x.
[[nodiscard]] Tensor gammainc(const Operand& a, const Operand& x);
[[nodiscard]] Tensor gammaincc(const Operand& a, const Operand& x);
// The incomplete beta function, regularised, of a and b up to some thousands; NaN unless both are
// positive and x lies in [0, 1].
[[nodiscard]] Tensor betainc(const Operand& a, const Operand& b, const Operand& x);

// ----- Bessel's functions, of order 0 and 1
// J_n and Y_n, which is -infinity at 0 and NaN below.
[[nodiscard]] Tensor bessel_j(int64_t order, const Tensor& x);
[[nodiscard]] Tensor bessel_y(int64_t order, const Tensor& x);
// I_n, or exp(-|x|) I_n(x).
[[nodiscard]] Tensor modified_bessel_i(int64_t order, const Tensor& x, bool is_scaled = false);
// K_n, or exp(x) K_n(x); infinity at 0, NaN below.
[[nodiscard]] Tensor modified_bessel_k(int64_t order, const Tensor& x, bool is_scaled = false);
// Airy's Ai; NaN at infinities, as PyTorch has it.
[[nodiscard]] Tensor airy_ai(const Tensor& x);
// sin(x) / x
[[nodiscard]] Tensor spherical_bessel_j0(const Tensor& x);

// ----- orthogonal polynomials of degree n; 0 where that is negative
enum class Chebyshev { t, u, v, w };
// Of the kinds T, U, V and W; shifted: of 2 x - 1.
[[nodiscard]] Tensor chebyshev_polynomial(Chebyshev kind, const Tensor& x, int64_t n,
                                          bool is_shifted = false);
[[nodiscard]] Tensor hermite_polynomial_h(const Tensor& x, int64_t n);
[[nodiscard]] Tensor hermite_polynomial_he(const Tensor& x, int64_t n);
[[nodiscard]] Tensor laguerre_polynomial_l(const Tensor& x, int64_t n);
[[nodiscard]] Tensor legendre_polynomial_p(const Tensor& x, int64_t n);

}  // namespace composit::aten
