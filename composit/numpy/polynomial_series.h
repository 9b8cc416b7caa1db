// numpy.polynomial: series in powers and in orthogonal polynomials, coefficients from the lowest
// degree up.
//
// One set of functions serves all bases; numpy.polynomial's names put the basis in front: polyval
// is val(Basis::power, …), chebfit is fit(Basis::chebyshev, …).
#pragma once

#include "composit/numpy/operand.h"

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace composit::numpy::polynomial {

enum class Basis { power, chebyshev, legendre, hermite, hermite_e, laguerre };

// "poly", "cheb", "leg", "herm", "herme", "lag": how NumPy's names begin.
[[nodiscard]] std::string_view prefix(Basis basis);

// The series at x, by Clenshaw's recurrence. Each column of c is a series; with `tensor` at every
// x, without it the columns and x are broadcast.
//
//   val(Basis::chebyshev, x, array<double>({1, 0, 2}))  // T0(x) + 2 T2(x)
[[nodiscard]] Tensor val(Basis basis, const Tensor& x, const Tensor& c, bool tensor = true);
// The values of the polynomials up to a degree at x, along a new last axis. ValueError: a negative
// degree.
[[nodiscard]] Tensor vander(Basis basis, const Tensor& x, int64_t degree);

// The m-th derivative, and the m-th antiderivative that is k[i] at `lower`, after each step times
// `scale`. ValueError: a negative m, more constants than m.
[[nodiscard]] Tensor der(Basis basis, const Tensor& c, int64_t m = 1, const Operand& scale = 1,
                         int64_t axis = 0);
[[nodiscard]] Tensor integ(Basis basis, const Tensor& c, int64_t m = 1,
                           const std::vector<Tensor>& k = {}, const Operand& lower = 0,
                           const Operand& scale = 1, int64_t axis = 0);

// The matrix whose eigenvalues are the zeros, and those, in order; zeros at the end of c, whose
// values are needed, are left out. ValueError: a series of degree 0.
[[nodiscard]] Tensor companion(Basis basis, const Tensor& c);
[[nodiscard]] Tensor roots(Basis basis, const Tensor& c);

// The series of these degrees that is nearest to y (1-d, or columns) at x (1-d) by the squares of
// the distances, each times its weight; and what linalg::lstsq says.
struct SeriesFit {
    Tensor coefficients, residuals, rank, singular_values;
    double rcond;  // len(x) times the precision of x's dtype unless given
};
// TypeError: other dimensions or lengths. ValueError: a negative degree.
[[nodiscard]] SeriesFit fit(Basis basis, const Tensor& x, const Tensor& y,
                            std::vector<int64_t> degrees, std::optional<double> rcond = {},
                            const Tensor& weights = {});

}  // namespace composit::numpy::polynomial
