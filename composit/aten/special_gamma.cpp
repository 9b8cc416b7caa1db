// Special functions around gamma, by series and continued fractions.
#include "composit/aten/series.h"
#include "composit/aten/special.h"
#include "composit/base/error.h"
#include "composit/nn/differentiation.h"
#include "composit/numpy/creation.h"
#include "composit/numpy/manipulation.h"
#include "composit/numpy/reductions.h"

#include <array>
#include <cmath>
#include <numbers>
#include <utility>
#include <vector>

namespace composit::aten {
namespace {

using nn::stop_gradient;
using rows::where;

Tensor lgamma(const Tensor& x) { return numpy::apply("lgamma", {x}); }

double factorial(int64_t n) {
    double product = 1;
    for (int64_t k = 2; k <= n; ++k) product *= static_cast<double>(k);
    return product;
}

// Places and weights by which a sum over [0, 1] integrates polynomials of degree 127 exactly: roots
// of Legendre's polynomial, found by Newton's method.
struct Quadrature {
    static constexpr int64_t count = 64;
    std::vector<double> places, weights;

    Quadrature() {
        for (int64_t i = 0; i < count; ++i) {
            double z = std::cos(std::numbers::pi * (static_cast<double>(i) + 0.75) / (count + 0.5));
            double slope = 0;
            for (int step = 0; step < 10; ++step) {
                double before = 0, now = 1;
                for (int64_t n = 1; n <= count; ++n) {
                    const auto k = static_cast<double>(n);
                    before = std::exchange(now, ((2 * k - 1) * z * now - (k - 1) * before) / k);
                }
                slope = count * (z * now - before) / (z * z - 1);
                z -= now / slope;
            }
            places.push_back((1 - z) / 2);
            weights.push_back(1 / ((1 - z * z) * slope * slope));
        }
    }
};

Tensor constants_of(const std::vector<double>& values) {
    return numpy::asarray(
        ir::Array::of<double>(ir::DType::float64, {static_cast<int64_t>(values.size())}, values));
}

// t^(a - 1) exp(-t) / gamma(a) for a above 100, as Stirling's series has it: without differences of
// large numbers.
Tensor density_of_large(const Tensor& a, const Tensor& t) {
    const Tensor peak = a - 1, away = (t - peak) / peak, square = 1 / (peak * peak);
    const Tensor series = (1 / peak) * (1.0 / 12 - square * (1.0 / 360 - square * (1.0 / 1260)));
    const Tensor exponent = peak * (numpy::apply("log1p", {away}) - away) - series;
    return rows::exp(exponent) / numpy::apply("sqrt", {2 * std::numbers::pi * peak});
}

// Lower and upper for a above 100: the integral of the density from x to where it has vanished, on
// the side that is the smaller one.
std::pair<Tensor, Tensor> incomplete_of_large(const Tensor& a, const Tensor& x) {
    static const Quadrature rule;
    const Tensor peak = a - 1, width = numpy::apply("sqrt", {peak}), is_high = x > peak;
    const Tensor above = rows::maximum(peak + 12 * width, x + 7 * width);
    const Tensor below = rows::maximum(numpy::apply("minimum", {peak - 10 * width, x - 6 * width}),
                                       rows::zero_of(x));
    const Tensor length = where(is_high, above, below) - x;
    const Tensor t =
        numpy::expand_dims(x, -1) + numpy::expand_dims(length, -1) * constants_of(rule.places);
    const Tensor densities = density_of_large(numpy::expand_dims(a, -1), t);
    const Tensor area = rows::abs(length) * numpy::sum(densities * constants_of(rule.weights), -1);
    return {where(is_high, 1 - area, area), where(is_high, area, 1 - area)};
}

// Lower and upper: by the series below a + 1, by Legendre's continued fraction above; for large a
// by quadrature. What is at the ends is PyTorch's.
std::pair<Tensor, Tensor> incomplete(const Tensor& given_a, const Tensor& x) {
    const Tensor any_a = stop_gradient(given_a), any_x = stop_gradient(x);
    const Tensor is_inner = (any_a > 0) & (any_x > 0) & (any_a < infinity) & (any_x < infinity);
    const Tensor one = numpy::ones({}), a_inner = where(is_inner, any_a, one);
    const Tensor x0 = where(is_inner, any_x, one), is_large = a_inner > 100;
    const Tensor a0 = where(is_large, one, a_inner), is_low = x0 < a0 + 1;
    const Tensor low = where(is_low, x0, a0);
    Tensor term = 1 / a0, total = term;
    for (int64_t k = 1; k < 200; ++k) {
        term = term * low / (a0 + k);
        total = total + term;
    }
    const Tensor logs = rows::log(x0), rest = lgamma(a0);
    const Tensor front = rows::exp(a0 * logs - x0 - rest);
    const Tensor below = front * total;
    const Tensor high = where(is_low, a0 + 1, x0);
    Tensor fraction = high + 399 - a0;
    for (int64_t k = 199; k > 0; --k) fraction = high + 2 * k - 1 - a0 + k * (a0 - k) / fraction;
    const Tensor above = front / fraction;
    const Tensor large = where(is_large, a_inner, numpy::full({}, 200, x.dtype()));
    const auto [lower_of_large, upper_of_large] = incomplete_of_large(large, x0);
    const Tensor nan = numpy::full({}, std::nan(""), x.dtype());
    // Of a and x that are zero, infinite, negative or no numbers.
    const Tensor is_wrong = (any_a < 0) | (any_x < 0), is_start = rows::equal(any_x, 0);
    const auto at_ends = [&](const Tensor& first, const Tensor& last) {
        const Tensor of_infinite = where(rows::equal(any_x, infinity), nan, first);
        const Tensor finite = where(rows::equal(any_x, infinity), last, nan);
        return where(is_wrong, nan,
                     where(rows::equal(any_a, 0), where(any_x > 0, last, nan),
                           where(is_start, first,
                                 where(rows::equal(any_a, infinity), of_infinite, finite))));
    };
    const Tensor zero = numpy::zeros({});
    const Tensor lower = where(is_large, lower_of_large, where(is_low, below, 1 - above));
    const Tensor upper = where(is_large, upper_of_large, where(is_low, 1 - below, above));
    const Tensor slope =
        where(is_large, density_of_large(large, x0), rows::exp((a0 - 1) * logs - x0 - rest));
    return {with_derivative(x, where(is_inner, lower, at_ends(zero, one)), slope),
            with_derivative(x, where(is_inner, upper, at_ends(one, zero)), -slope)};
}

}  // namespace

Tensor zeta(const Operand& given_x, const Operand& given_q) {
    return in_float64({given_x, given_q}, [](const auto& p) {
        // Euler's and Maclaurin's formula, with numbers of Bernoulli.
        constexpr std::array bernoulli{1.0 / 6,  -1.0 / 30,     1.0 / 42, -1.0 / 30,
                                       5.0 / 66, -691.0 / 2730, 7.0 / 6,  -3617.0 / 510};
        constexpr int64_t terms = 12;
        const Tensor &x = p[0], &q = p[1];
        Tensor total = constant(0);
        for (int64_t k = 0; k < terms; ++k) total = total + numpy::raised(q + k, -x);
        const Tensor end = q + terms;
        total = total + numpy::raised(end, 1 - x) / (x - 1) + numpy::raised(end, -x) / 2;
        Tensor factor = x, power = numpy::raised(end, -x - 1);
        for (int64_t j = 0; j < static_cast<int64_t>(bernoulli.size()); ++j) {
            const double number = bernoulli[static_cast<size_t>(j)] / factorial(2 * j + 2);
            total = total + number * factor * power;
            factor = factor * (x + 2 * j + 1) * (x + 2 * j + 2);
            power = power / (end * end);
        }
        // What is at poles and beyond the series is PyTorch's.
        const Tensor nan = numpy::full({}, std::nan(""), x.dtype());
        const Tensor infinite = numpy::full({}, infinity, x.dtype());
        const Tensor is_pole = rows::equal(q, numpy::apply("floor", {q}));
        const Tensor is_whole = rows::equal(x, numpy::apply("floor", {x}));
        const Tensor below = where(is_pole, infinite, where(is_whole, total, nan));
        return where(rows::equal(x, 1), infinite,
                     where(x < 1, nan, where(q > 0, total, where(is_pole, infinite, below))));
    });
}

Tensor polygamma(int64_t n, const Tensor& given) {
    user_check(n >= 0, "polygamma(n, x) does not support negative n.");
    const Tensor x = floating(given);
    if (n == 0) return numpy::apply("digamma", {x});
    const double sign = (n % 2 == 1 ? 1 : -1) * factorial(n);
    return sign * zeta(numpy::full(x.shape(), static_cast<double>(n) + 1, x.dtype()), x);
}

Tensor multigammaln(const Tensor& given, int64_t p) {
    const Tensor x = floating(given);
    const auto count = static_cast<double>(p);
    Tensor total =
        numpy::full(x.shape(), count * (count - 1) / 4 * std::log(std::numbers::pi), x.dtype());
    for (int64_t j = 0; j < p; ++j) total = total + lgamma(x - static_cast<double>(j) / 2);
    return total;
}

Tensor gammainc(const Operand& a, const Operand& x) {
    return in_float64({a, x}, [](const auto& p) { return incomplete(p[0], p[1]).first; });
}

Tensor gammaincc(const Operand& a, const Operand& x) {
    return in_float64({a, x}, [](const auto& p) { return incomplete(p[0], p[1]).second; });
}

}  // namespace composit::aten
