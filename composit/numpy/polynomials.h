// Polynomials as NumPy's older functions take them: coefficients from the highest power down.
//
// Each function is NumPy's of that name. Where the length of a result depends on values (polymul
// and polydiv leave leading zeros out), they are evaluated at the call; NotSupported under
// placeholders.
#pragma once

#include "composit/numpy/operand.h"

#include <cstdint>
#include <optional>
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

// The polynomial with these zeros (1-d), or with the eigenvalues of a square matrix, and a leading
// 1. ValueError: other shapes.
[[nodiscard]] Tensor poly(const Tensor& zeros);

// Zeros of the polynomial (1-d): eigenvalues of its companion matrix, and 0 for every zero at its
// end. Evaluates p: complex where a zero is. ValueError: other dimensions.
[[nodiscard]] Tensor roots(const Tensor& p);

// The polynomial of a degree that is nearest to y (1-d, or columns) at x (1-d) by the squares of
// the distances, each multiplied by its weight.
struct PolynomialFit {
    Tensor coefficients;
    // linalg::lstsq's, of the scaled powers of x
    Tensor residuals, rank, singular_values;
    double rcond;       // len(x) times the precision of x's dtype unless given
    Tensor covariance;  // of the coefficients, but for the size of the distances
};
// TypeError: other dimensions or lengths. ValueError: a negative degree.
[[nodiscard]] PolynomialFit polyfit(const Tensor& x, const Tensor& y, int64_t degree,
                                    std::optional<double> rcond = {}, const Tensor& weights = {});

}  // namespace composit::numpy
