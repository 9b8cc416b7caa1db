// Polynomials as NumPy's older functions take them: coefficients from the highest power down.
//
// Each function is NumPy's of that name. Where the length of a result depends on values (polymul
// and polydiv leave leading zeros out), they are evaluated at the call; NotSupported under
// placeholders.
#pragma once

#include "composit/numpy/operand.h"

#include <cstdint>
#include <vector>

namespace composit::numpy {

// p[0] x^(n-1) + … + p[n-1], by Horner's rule; in the result_type of both. One node.
//
//   polyval(array<double>({1, 0, -2}), x)  // x^2 - 2
[[nodiscard]] Tensor polyval(const Tensor& p, const Tensor& x);

// Sums, differences and products of polynomials. ValueError: more than one dimension.
[[nodiscard]] Tensor polyadd(const Tensor& a, const Tensor& b);
[[nodiscard]] Tensor polysub(const Tensor& a, const Tensor& b);
[[nodiscard]] Tensor polymul(const Tensor& a, const Tensor& b);
// (quotient, remainder): a = quotient b + remainder, whose leading elements that are close to 0 are
// left out. Floating dtypes. IndexError without elements.
[[nodiscard]] std::vector<Tensor> polydiv(const Tensor& a, const Tensor& b);

// The `order`-th derivative; the `order`-th antiderivative, with the constants of integration
// (zeros, one for all, or one for each). ValueError: a negative order, too few constants.
[[nodiscard]] Tensor polyder(const Tensor& p, int64_t order = 1);
[[nodiscard]] Tensor polyint(const Tensor& p, int64_t order = 1, const Tensor& constants = {});

// The polynomial with these zeros (1-d) and a leading 1.
[[nodiscard]] Tensor poly(const Tensor& zeros);

}  // namespace composit::numpy
