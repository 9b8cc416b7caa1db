// Polynomials from their zeros and from points, and zeros of polynomials, by way of matrices.
#include "composit/base/error.h"
#include "composit/base/errors_as.h"
#include "composit/numpy/assembling.h"
#include "composit/numpy/complex_parts.h"
#include "composit/numpy/creation.h"
#include "composit/numpy/elementwise.h"
#include "composit/numpy/index_arrays.h"
#include "composit/numpy/linalg.h"
#include "composit/numpy/linear.h"
#include "composit/numpy/manipulation.h"
#include "composit/numpy/operators.h"
#include "composit/numpy/polynomials.h"
#include "composit/numpy/reductions.h"
#include "composit/numpy/sorting.h"
#include "composit/ops/ops.h"
#include "composit/ops/part.h"

#include <limits>

namespace composit::numpy {
namespace {

using ops::part;

// float64 for integers and bool.
Tensor inexact(const Tensor& x) {
    const Tensor given = strong(x);
    return ir::is_inexact(given.dtype()) ? given : ops::astype(given, DType::float64);
}

double precision_of(DType dtype) {
    if (dtype == DType::float32 || dtype == DType::complex64)
        return std::numeric_limits<float>::epsilon();
    return std::numeric_limits<double>::epsilon();
}

}  // namespace

Tensor poly(const Tensor& given) {
    return errors_as("poly", [&] {
        Tensor roots = atleast_1d(strong(given));
        const Shape& shape = roots.shape();
        user_check(shape.size() == 1 || (shape.size() == 2 && shape[0] == shape[1] && shape[0] > 0),
                   "poly: input must be 1d or non-empty square 2d array, not of shape ", shape,
                   ".");
        roots = inexact(shape.size() == 2 ? linalg::eigvals(roots) : roots);
        if (roots.dtype() == DType::float16) roots = ops::astype(roots, DType::float64);
        // Pairs of conjugates give real coefficients.
        bool is_real = false;
        if (ir::is_complex(roots.dtype())) {
            const Tensor paired = apply("equal", {sort(roots), sort(apply("conjugate", {roots}))});
            is_real = truth("poly", all(paired), "complex zeros outside");
        }
        const Tensor zero = zeros({1}, roots.dtype()), opposite = -roots;
        Tensor y = ones({1}, roots.dtype());
        for (int64_t i = 0; i < roots.size(); ++i)
            y = concatenate({y, zero}) + concatenate({zero, y * part(opposite, 0, i, 1)});
        if (is_real) return apply("real", {y});
        return y;
    });
}

Tensor roots(const Tensor& p) {
    const Tensor given = atleast_1d(strong(p));
    user_check(given.rank() == 1, "roots: Input must be a rank-1 array, not of shape ",
               given.shape(), ".");
    return errors_as("roots", [&] {
        const Array places = concrete("roots", "p", flatnonzero(given));
        if (places.size() == 0) return zeros({0}, DType::float64);
        const int64_t first = places.data_as<int64_t>()[0];
        const int64_t last = places.data_as<int64_t>()[places.size() - 1];
        const Tensor inner = inexact(part(given, 0, first, last - first + 1));
        const int64_t count = inner.size() - 1;
        Tensor found = zeros({0}, DType::float64);
        if (count > 0) {
            const Tensor row = -part(inner, 0, 1, count) / part(inner, 0, 0, 1);
            const Tensor below = eye(count - 1, count, 0, inner.dtype());
            found = linalg::eigvals(concatenate({expand_dims(row, 0), below}));
        }
        return concatenate({found, zeros({given.size() - 1 - last}, found.dtype())});
    });
}

PolynomialFit polyfit(const Tensor& x, const Tensor& y, int64_t degree, std::optional<double> rcond,
                      const Tensor& weights) {
    user_check(degree >= 0, "polyfit: expected deg >= 0, not ", degree, ".");
    user_check<TypeError>(x.rank() == 1, "polyfit: expected 1D vector for x, not shape ", x.shape(),
                          ".");
    user_check<TypeError>(x.size() > 0, "polyfit: expected non-empty vector for x.");
    user_check<TypeError>(y.rank() == 1 || y.rank() == 2,
                          "polyfit: expected 1D or 2D array for y, not shape ", y.shape(), ".");
    user_check<TypeError>(x.size() == y.shape()[0],
                          "polyfit: expected x and y to have same length: ", x.size(), " and ",
                          y.shape()[0], ".");
    return errors_as("polyfit", [&]() -> PolynomialFit {
        const Tensor at = inexact(x);
        Tensor left = vander(at, degree + 1), right = inexact(y);
        if (weights) {
            const Tensor w = inexact(weights);
            user_check<TypeError>(w.rank() == 1,
                                  "polyfit: expected a 1-d array for weights, not shape ",
                                  w.shape(), ".");
            user_check<TypeError>(w.size() == y.shape()[0],
                                  "polyfit: expected w and y to have the same length: ", w.size(),
                                  " and ", y.shape()[0], ".");
            left = ops::astype(left * expand_dims(w, 1), left.dtype());
            right = ops::astype(right * (y.rank() == 2 ? expand_dims(w, 1) : w), right.dtype());
        }
        const double least =
            rcond.value_or(static_cast<double>(x.size()) * precision_of(at.dtype()));
        const Tensor scale = apply("sqrt", {sum(left * left, 0)});
        left = left / scale;
        const auto [solution, residuals, rank, singular] = linalg::lstsq(left, right, least);
        const Tensor covariance = linalg::inv(dot(transpose(left), left)) / outer(scale, scale);
        const Tensor divisor = y.rank() == 2 ? expand_dims(scale, 1) : scale;
        return {solution / divisor, residuals, rank, singular, least, covariance};
    });
}

}  // namespace composit::numpy
