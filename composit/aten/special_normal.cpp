// Special functions of the normal distribution.
#include "composit/aten/series.h"
#include "composit/aten/special.h"
#include "composit/nn/differentiation.h"

#include <cmath>
#include <numbers>

namespace composit::aten {
namespace {

using nn::stop_gradient;
using rows::where;

const double root_of_2 = std::sqrt(2.0), root_of_pi = std::sqrt(std::numbers::pi);

Tensor erf(const Tensor& x) { return numpy::apply("erf", {x}); }
Tensor erfc(const Tensor& x) { return numpy::apply("erfc", {x}); }
Tensor copysign(const Tensor& x, const Tensor& sign) { return numpy::apply("copysign", {x, sign}); }

// A first guess by Winitzki, then steps of Halley's method; `given_rest` is 1 - |x|, which may be
// more precise than x is.
Tensor erfinv_of(const Tensor& x, const Tensor& given_rest) {
    const Tensor still = stop_gradient(x), outer_rest = stop_gradient(given_rest);
    const Tensor is_inside = outer_rest > 0;
    const Tensor inner = where(is_inside, still, rows::zero_of(still));
    const Tensor rest = where(is_inside, outer_rest, rows::one_of(still));
    const Tensor logs = rows::log(rest * (2 - rest));
    constexpr double a = 0.147;
    const Tensor half = 2 / (std::numbers::pi * a) + logs / 2;
    Tensor guess = rows::sqrt(rows::maximum(rows::sqrt(half * half - logs / a) - half, 0));
    for (int i = 0; i < 4; ++i) {
        // Near 1 erf loses what erfc keeps, near 0 the other way.
        const Tensor near = erf(guess) - rows::abs(inner);
        const Tensor error = where(rest > 0.5, near, rest - erfc(guess));
        const Tensor ratio = error / (2 / root_of_pi * rows::exp(-guess * guess));
        guess = guess - ratio / (1 + guess * ratio);
    }
    const Tensor ends =
        where(rows::equal(rows::abs(still), 1), constant(infinity), constant(not_a_number));
    const Tensor found = copysign(where(is_inside, guess, ends), still);
    return with_derivative(x, found, root_of_pi / 2 * rows::exp(found * found));
}

}  // namespace

Tensor with_derivative(const Tensor& x, const Tensor& value, const Tensor& given_slope) {
    const Tensor zero = rows::zero_of(x), step = x - stop_gradient(x);
    const Tensor flat = where(numpy::apply("isfinite", {step}), step, zero);
    const Tensor slope = stop_gradient(given_slope);
    const Tensor made =
        stop_gradient(value) + flat * where(numpy::apply("isfinite", {slope}), slope, zero);
    // The root of 0 has the value 0 and an infinite slope, which no product with 0 has.
    const Tensor steep = copysign(rows::one_of(x), slope) * rows::sqrt(flat);
    return where(numpy::apply("isinf", {slope}), made + steep, made);
}

Tensor erfinv(const Tensor& y) {
    return in_float64({y}, [](const auto& p) { return erfinv_of(p[0], 1 - rows::abs(p[0])); });
}

Tensor ndtr(const Tensor& x) { return erfc(-floating(x) / root_of_2) / 2; }

Tensor ndtri(const Tensor& y) {
    return in_float64({y}, [](const auto& p) {
        const Tensor& x = p[0];
        return root_of_2 * erfinv_of(2 * x - 1, 2 * rows::minimum(x, 1 - x));
    });
}

Tensor erfcx(const Tensor& given) {
    return in_float64({given}, [](const auto& p) {
        const Tensor &x = p[0], still = stop_gradient(x), is_large = still > 3;
        const Tensor small = where(is_large, rows::zero_of(x), still);
        const Tensor near = rows::exp(small * small) * erfc(small);
        // By its continued fraction.
        const Tensor large = where(is_large, still, constant(3.0));
        Tensor fraction = large;
        for (int k = 60; k > 0; --k) fraction = large + (k / 2.0) / fraction;
        const Tensor found = where(is_large, 1 / (root_of_pi * fraction), near);
        return with_derivative(x, found, 2 * still * found - 2 / root_of_pi);
    });
}

Tensor log_ndtr(const Tensor& given) {
    return in_float64({given}, [](const auto& p) {
        const Tensor &x = p[0], is_low = x < -1;
        const Tensor low = where(is_low, x, constant(-1.0));
        const Tensor high = where(is_low, rows::zero_of(x), x);
        const Tensor far = rows::log(erfcx(-low / root_of_2) / 2) - low * low / 2;
        return where(is_low, far, rows::log1p(-erfc(high / root_of_2) / 2));
    });
}

Tensor log_to_the_least(const Tensor& given) {
    const Tensor x = floating(given), is_tiny = rows::abs(x) < 1e-30;
    const Tensor multiple = where(is_tiny, x * 0x1p64, x);
    const Tensor logs = rows::log(multiple) - where(is_tiny, 64 * std::log(2.0), 0.0);
    return ops::astype(logs, x.dtype());
}

Tensor entr(const Tensor& given) {
    const Tensor x = floating(given), zero = rows::zero_of(x), is_positive = x > 0;
    const Tensor inner = where(is_positive, x, rows::one_of(x));
    // At 0 the root has the value 0 and the slope infinity, as -log(x) - 1 has; not of -0.
    const Tensor at_zero = rows::sqrt(where(rows::equal(x, 0), x, zero) + 0.0);
    const Tensor ends = where(x < 0, numpy::full({}, -infinity, x.dtype()), x * 0 + at_zero);
    return where(is_positive, -inner * log_to_the_least(inner), ends);
}

Tensor xlog1py(const Operand& given_x, const Operand& given_y) {
    const std::vector<Tensor> pair = together_as_floats({given_x, given_y});
    const Tensor &x = pair[0], &y = pair[1];
    const Tensor zero = rows::zero_of(x), is_zero = rows::equal(x, 0);
    const Tensor logs = rows::log1p(where(is_zero, zero, y));
    return where(is_zero & ~numpy::apply("isnan", {y}), zero, x * logs);
}

}  // namespace composit::aten
