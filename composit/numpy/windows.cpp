// Windows as functions of a range, and i0 by its power series and a Chebyshev series.
#include "composit/numpy/windows.h"

#include "composit/base/error.h"
#include "composit/base/errors_as.h"
#include "composit/numpy/creation.h"
#include "composit/numpy/elementwise.h"
#include "composit/numpy/one_node.h"
#include "composit/numpy/operators.h"
#include "composit/ops/ops.h"

#include <array>
#include <numbers>

namespace composit::numpy {
namespace {

// i0(x) = sum of (x^2 / 4)^k / (k!)^2: all terms are positive, and for x <= 8 those beyond this one
// are below the last bit.
constexpr int last_power = 30;

// sqrt(x) exp(-x) i0(x) for x >= 8 as a Chebyshev series in 16 / x - 1, its coefficients from
// integrals in 40 digits; those left out are below the last bit.
constexpr std::array chebyshev{
    0.4022452055070544,      0.0033691164782556943,   6.889758346916825e-05,
    2.8913705208347567e-06,  2.0489185894690638e-07,  2.266668990498178e-08,
    3.3962320257083865e-09,  4.94060238822497e-10,    1.1889147107846439e-11,
    -3.1499165279632416e-11, -1.3215811840447713e-11, -1.7941785315068062e-12,
    7.180124451383666e-13,   3.8527783827421426e-13,  1.54008621752141e-14,
    -4.150569347287222e-14,  -9.554846698828307e-15,  3.8116806693526224e-15,
    1.7725601330565263e-15,  -3.425485619677219e-16,  -2.8276239805165836e-16,
    3.461222867697461e-17};

Tensor power_series(const Tensor& x) {
    const Tensor z = x * x * 0.25;
    Tensor sum = scalar(x.dtype(), 1);
    for (int k = last_power; k > 0; --k) sum = 1.0 + z * (1.0 / (double(k) * k)) * sum;
    return sum;
}

// Clenshaw's recurrence.
Tensor chebyshev_series(const Tensor& x) {
    const Tensor u = 16.0 / x - 1.0;
    const Tensor twice = 2.0 * u;
    Tensor next = scalar(x.dtype(), 0), sum = scalar(x.dtype(), chebyshev.back());
    for (size_t k = chebyshev.size() - 2; k > 0; --k) {
        const Tensor before = twice * sum - next + chebyshev[k];
        next = sum;
        sum = before;
    }
    return u * sum - next + chebyshev[0];
}

// A window's values at n from 1 - M to M - 1.
template <class Build>
Tensor window(std::string_view function, double M, const Build& build) {
    if (M < 1) return zeros({0});
    if (M == 1) return ones({1});
    return errors_as(function, [&] { return build(arange(1 - M, M, 2.0)); });
}

Tensor cosine(const Tensor& n, double factor, double M) {
    return apply("cos", {factor * n / (M - 1)});
}

}  // namespace

Tensor bartlett(double M) {
    return window("bartlett", M, [&](const Tensor& n) {
        const Tensor slope = n / (M - 1);
        return apply("where", {n <= 0, 1.0 + slope, 1.0 - slope});
    });
}

Tensor hanning(double M) {
    return window("hanning", M,
                  [&](const Tensor& n) { return 0.5 + 0.5 * cosine(n, std::numbers::pi, M); });
}

Tensor hamming(double M) {
    return window("hamming", M,
                  [&](const Tensor& n) { return 0.54 + 0.46 * cosine(n, std::numbers::pi, M); });
}

Tensor blackman(double M) {
    return window("blackman", M, [&](const Tensor& n) {
        return 0.42 + 0.5 * cosine(n, std::numbers::pi, M) +
               0.08 * cosine(n, 2 * std::numbers::pi, M);
    });
}

Tensor kaiser(double M, double beta) {
    if (M == 1) return ones({1});
    return errors_as("kaiser", [&] {
        const double half = (M - 1) / 2;
        const Tensor n = arange(0.0, M, 1.0);
        const Tensor side = (n - half) / half;
        const Tensor argument = beta * apply("sqrt", {1.0 - side * side});
        return i0(argument) / i0(scalar(DType::float64, beta));
    });
}

Tensor i0(const Tensor& x) {
    user_check<TypeError>(!ir::is_complex(x.dtype()),
                          "i0: i0 not supported for complex values: ", x.dtype(),
                          ". A real dtype is required.");
    const Tensor value = strong(x);
    return one_node("i0", {value}, [](const Tensors& operands) {
        const DType given = operands[0].dtype();
        const DType dtype = ir::is_inexact(given) ? given : DType::float64;
        // float32 would lose bits in sums of this length.
        const Tensor size = apply("absolute", {ops::astype(operands[0], DType::float64)});
        const Tensor is_small = size <= 8.0;
        const Tensor small = apply("where", {is_small, size, 8.0});
        const Tensor large = apply("where", {is_small, 8.0, size});
        const Tensor far = apply("exp", {large}) * chebyshev_series(large) / apply("sqrt", {large});
        return ops::astype(apply("where", {is_small, power_series(small), far}), dtype);
    });
}

}  // namespace composit::numpy
