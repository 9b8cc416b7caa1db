// Zeros of series and series nearest to points, by way of matrices.
#include "composit/base/error.h"
#include "composit/base/errors_as.h"
#include "composit/numpy/creation.h"
#include "composit/numpy/elementwise.h"
#include "composit/numpy/index_arrays.h"
#include "composit/numpy/linalg.h"
#include "composit/numpy/manipulation.h"
#include "composit/numpy/operators.h"
#include "composit/numpy/polynomial_series.h"
#include "composit/numpy/reductions.h"
#include "composit/numpy/sorting.h"
#include "composit/ops/ops.h"
#include "composit/ops/part.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace composit::numpy::polynomial {
namespace {

using ops::part;

Tensor inexact(const Tensor& x) {
    const Tensor given = strong(x);
    return ir::is_inexact(given.dtype()) ? given : ops::astype(given, DType::float64);
}

// The coefficients without the zeros of the highest degrees.
Tensor trimmed(const std::string& name, const Tensor& c) {
    const Tensor given = inexact(atleast_1d(c));
    user_check(given.rank() == 1, name, ": Coefficient array is not 1-d, but of shape ",
               given.shape(), ".");
    user_check(given.size() > 0, name, ": Coefficient array is empty. One is required.");
    const Array places = concrete(name, "c", flatnonzero(given));
    const int64_t last = places.size() ? places.data_as<int64_t>()[places.size() - 1] : 0;
    return part(given, 0, 0, last + 1);
}

// What a basis has above, on and below the diagonal of its companion matrix of n rows, and what
// the last column's quotients are multiplied by.
struct Companion {
    std::vector<double> beside, on, factors;
    double factor = 1;

    Companion(Basis basis, int64_t n)
        : beside(static_cast<size_t>(n)), on(beside), factors(beside) {
        std::fill(factors.begin(), factors.end(), 1.0);
        const auto real = [](size_t i) { return static_cast<double>(i); };
        const size_t size = beside.size();
        switch (basis) {
            case Basis::power: break;
            case Basis::chebyshev:
                for (size_t i = 0; i < size; ++i) {
                    beside[i] = i == 0 ? std::sqrt(0.5) : 0.5;
                    factors[i] = i == 0 ? 1.0 : std::sqrt(0.5);
                }
                divide_by_last();
                factor = 0.5;
                break;
            case Basis::legendre:
                for (size_t i = 0; i < size; ++i) factors[i] = 1.0 / std::sqrt(real(2 * i + 1));
                for (size_t i = 0; i + 1 < size; ++i)
                    beside[i] = real(i + 1) * factors[i] * factors[i + 1];
                divide_by_last();
                factor = real(size) / real(2 * size - 1);
                break;
            case Basis::hermite:
            case Basis::hermite_e: {
                const double twice = basis == Basis::hermite ? 2.0 : 1.0;
                for (size_t i = size - 1; i-- > 0;)
                    factors[i] = factors[i + 1] * (1.0 / std::sqrt(twice * real(i + 1)));
                for (size_t i = 0; i + 1 < size; ++i)
                    beside[i] = std::sqrt((basis == Basis::hermite ? 0.5 : 1.0) * real(i + 1));
                break;
            }
            case Basis::laguerre:
                for (size_t i = 0; i < size; ++i) {
                    beside[i] = -real(i + 1);
                    on[i] = 2.0 * real(i) + 1.0;
                }
                factor = real(size);
                break;
        }
    }
    void divide_by_last() {
        const double last = factors.back();
        for (double& x : factors) x /= last;
    }
};

Tensor companion_of(Basis basis, const Tensor& c) {
    const int64_t n = c.size() - 1;
    const Companion parts(basis, n);
    std::vector<double> matrix(static_cast<size_t>(n * n));
    for (int64_t i = 0; i < n; ++i) {
        const auto row = static_cast<size_t>(i);
        matrix[static_cast<size_t>(i * n + i)] = parts.on[row];
        if (i + 1 == n) break;
        // The powers' matrix has ones below its diagonal alone.
        matrix[static_cast<size_t>(i * n + i + 1)] = parts.beside[row];
        matrix[static_cast<size_t>((i + 1) * n + i)] =
            basis == Basis::power ? 1.0 : parts.beside[row];
    }
    const Tensor fixed = ops::astype(array(matrix, {n, n}), c.dtype());
    const Tensor lower = part(c, 0, 0, n), leading = part(c, 0, n, 1);
    const Tensor factors = array(parts.factors);
    Tensor column;
    switch (basis) {
        case Basis::power: column = -(lower / leading); break;
        case Basis::chebyshev:
        case Basis::legendre: column = -((lower / leading) * factors * parts.factor); break;
        case Basis::hermite: column = -((factors * lower) / (2.0 * leading)); break;
        case Basis::hermite_e: column = -((factors * lower) / leading); break;
        case Basis::laguerre: column = (lower / leading) * parts.factor; break;
    }
    const Tensor last = part(fixed, 1, n - 1, 1) + expand_dims(column, 1);
    return concatenate({part(fixed, 1, 0, n - 1), ops::astype(last, c.dtype())}, 1);
}

// The zero of a series of two terms.
Tensor only_root(Basis basis, const Tensor& c) {
    const Tensor low = part(c, 0, 0, 1), high = part(c, 0, 1, 1);
    if (basis == Basis::laguerre) return 1 + low / high;
    return basis == Basis::hermite ? -0.5 * low / high : -low / high;
}

}  // namespace

Tensor companion(Basis basis, const Tensor& c) {
    const std::string name = text(prefix(basis), "companion");
    return errors_as(name, [&] {
        const Tensor own = trimmed(name, c);
        user_check(own.size() >= 2, name, ": Series must have maximum degree of at least 1.");
        if (own.size() == 2) return reshape(only_root(basis, own), {1, 1});
        return companion_of(basis, own);
    });
}

Tensor roots(Basis basis, const Tensor& c) {
    const std::string name = text(prefix(basis), "roots");
    return errors_as(name, [&] {
        const Tensor own = trimmed(name, c);
        if (own.size() < 2) return zeros({0}, own.dtype());
        if (own.size() == 2) return only_root(basis, own);
        const Tensor matrix = companion_of(basis, own);
        // Turned by half a circle it is more accurate.
        return sort(linalg::eigvals(basis == Basis::power ? matrix : flip(matrix)));
    });
}

SeriesFit fit(Basis basis, const Tensor& x, const Tensor& y, std::vector<int64_t> degrees,
              std::optional<double> rcond, const Tensor& weights) {
    const std::string name = text(prefix(basis), "fit");
    user_check<TypeError>(!degrees.empty(), name,
                          ": deg must be an int or non-empty 1-D array of int.");
    std::sort(degrees.begin(), degrees.end());
    user_check(degrees[0] >= 0, name, ": expected deg >= 0, not ", degrees[0], ".");
    user_check<TypeError>(x.rank() == 1, name, ": expected 1D vector for x, not shape ", x.shape(),
                          ".");
    user_check<TypeError>(x.size() > 0, name, ": expected non-empty vector for x.");
    user_check<TypeError>(y.rank() == 1 || y.rank() == 2, name,
                          ": expected 1D or 2D array for y, not shape ", y.shape(), ".");
    user_check<TypeError>(x.size() == y.shape()[0], name,
                          ": expected x and y to have same length: ", x.size(), " and ",
                          y.shape()[0], ".");
    return errors_as(name, [&]() -> SeriesFit {
        const Tensor at = inexact(x);
        Tensor left = vander(basis, at, degrees.back()), right = inexact(y);
        left = take(left, array(degrees), 1);
        if (weights) {
            const Tensor w = inexact(weights);
            user_check<TypeError>(w.rank() == 1, name, ": expected 1D vector for w, not shape ",
                                  w.shape(), ".");
            user_check<TypeError>(w.size() == x.size(), name,
                                  ": expected x and w to have same length: ", x.size(), " and ",
                                  w.size(), ".");
            left = left * expand_dims(w, 1);
            right = right * (y.rank() == 2 ? expand_dims(w, 1) : w);
        }
        const bool is_single = at.dtype() == DType::float32 || at.dtype() == DType::complex64;
        const double precision = is_single ? double{std::numeric_limits<float>::epsilon()}
                                           : std::numeric_limits<double>::epsilon();
        const double least = rcond.value_or(static_cast<double>(x.size()) * precision);
        const Tensor size = apply("absolute", {left});
        Tensor scale = apply("sqrt", {numpy::sum(size * size, 0)});
        scale = apply("where", {apply("equal", {scale, 0}), 1, scale});
        const auto [solution, residuals, rank, singular] =
            linalg::lstsq(left / scale, right, least);
        const Tensor found = solution / (y.rank() == 2 ? expand_dims(scale, 1) : scale);
        std::vector<Tensor> rows;  // zeros for the degrees that were not asked for
        const Tensor none = part(found, 0, 0, 1) * 0;
        for (int64_t degree = 0; degree <= degrees.back(); ++degree) {
            const auto place = std::find(degrees.begin(), degrees.end(), degree);
            rows.push_back(place == degrees.end() ? none
                                                  : part(found, 0, place - degrees.begin(), 1));
        }
        return {concatenate(rows), residuals, rank, singular, least};
    });
}

}  // namespace composit::numpy::polynomial
