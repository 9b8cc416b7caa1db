// Special functions around gamma, by series and continued fractions.
#include "composit/aten/series.h"
#include "composit/aten/special.h"
#include "composit/base/error.h"
#include "composit/nn/differentiation.h"

#include <array>
#include <cmath>
#include <numbers>
#include <utility>

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

// Lower and upper: by the series below a + 1, by Legendre's continued fraction above.
std::pair<Tensor, Tensor> incomplete(const Tensor& a, const Tensor& x) {
    const Tensor a0 = stop_gradient(a), x0 = stop_gradient(x), is_low = x0 < a0 + 1;
    const Tensor low = where(is_low, x0, a0);
    Tensor term = 1 / a0, total = term;
    for (int64_t k = 1; k < 200; ++k) {
        term = term * low / (a0 + k);
        total = total + term;
    }
    const Tensor logs = rows::log(x0), rest = lgamma(a0);
    const Tensor front = rows::exp(a0 * logs - x0 - rest);
    const Tensor below = where(rows::equal(x0, 0), rows::zero_of(x), front * total);
    const Tensor high = where(is_low, a0 + 1, x0);
    Tensor fraction = high + 399 - a0;
    for (int64_t k = 199; k > 0; --k) fraction = high + 2 * k - 1 - a0 + k * (a0 - k) / fraction;
    const Tensor above = front / fraction;
    const Tensor lower =
        where(rows::equal(x0, infinity), rows::one_of(x), where(is_low, below, 1 - above));
    const Tensor upper = where(is_low, 1 - below, above);
    const Tensor slope = rows::exp((a0 - 1) * logs - x0 - rest);
    return {with_derivative(x, lower, slope), with_derivative(x, upper, -slope)};
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
        return total;
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
