// Bessel's functions: by his integral, by Hankel's series where the argument is large.
#include "composit/aten/series.h"
#include "composit/aten/special.h"
#include "composit/numpy/special.h"

#include <cmath>
#include <numbers>
#include <utility>

namespace composit::aten {
namespace {

using rows::where;

constexpr double pi = std::numbers::pi;
constexpr double largest_near = 40;  // from where on Hankel's series has all digits

Tensor sin(const Tensor& x) { return numpy::apply("sin", {x}); }
Tensor cos(const Tensor& x) { return numpy::apply("cos", {x}); }

// The mean over a half circle, by the trapezoidal rule, which converges exponentially here.
template <class Function>
Tensor over_angles(const Function& function) {
    constexpr int nodes = 96;
    Tensor total = (function(0.0) + function(pi)) / 2;
    for (int k = 1; k < nodes; ++k) total = total + function(pi * k / nodes);
    return total / nodes;
}

// The integrand cos(x sin(angle) - order angle) of J_n.
Tensor wave_integral(const Tensor& x, double order) {
    return over_angles([&](double angle) { return cos(x * std::sin(angle) - order * angle); });
}

// exp(-|x|) I_n(x)
Tensor scaled_modified(const Tensor& x, int64_t order) {
    const Tensor size = rows::abs(x), is_large = size > largest_near;
    const Tensor near = where(is_large, rows::zero_of(x), x);
    const auto n = static_cast<double>(order);
    const Tensor small = over_angles([&](double angle) {
        return rows::exp(near * std::cos(angle) - rows::abs(near)) * std::cos(n * angle);
    });
    const Tensor far = where(is_large, size, constant(largest_near));
    Tensor term = rows::one_of(x), total = term;
    for (int64_t k = 1; k < 16; ++k) {
        const int64_t odd = 2 * k - 1;
        term = term * (odd * odd - 4 * order * order) / (8 * k * far);
        total = total + term;
    }
    Tensor large = total / rows::sqrt(2 * pi * far);
    if (order != 0) large = numpy::apply("copysign", {large, x});
    return where(is_large, large, small);
}

// The sums of Hankel's expansion of J_n and Y_n for large arguments, even and odd terms.
std::pair<Tensor, Tensor> hankel(const Tensor& far, int64_t order) {
    Tensor term = rows::one_of(far), even = term, odd = rows::zero_of(far);
    for (int64_t k = 1; k < 16; ++k) {
        const int64_t root = 2 * k - 1, sign = (k / 2) % 2 == 0 ? 1 : -1;
        term = term * (4 * order * order - root * root) / (8 * k * far);
        (k % 2 == 1 ? odd : even) = (k % 2 == 1 ? odd : even) + sign * term;
    }
    return {even, odd};
}

// Neumann's sum of J_2k (or J_2k+1) is one integral over angles: each J is one, and the sums of
// their cosines (or sines) are constants (Abramowitz and Stegun 9.1.88).
double neumann_weight(int64_t order, double angle) {
    constexpr int terms = 40;  // J_n(40) is below 1e-16 from n = 80 on
    double sum = 0;
    if (order == 0) {
        for (int k = 1; k <= terms; ++k)
            sum += (k % 2 == 0 ? 1.0 : -1.0) / k * std::cos(2 * k * angle);
        return 2 * sum;
    }
    for (int k = 1; k < terms; ++k)
        sum +=
            (k % 2 == 0 ? 1.0 : -1.0) * (2 * k + 1) / (k * (k + 1)) * std::sin((2 * k + 1) * angle);
    return sum;
}

Tensor phase(const Tensor& far, int64_t order) {
    return far - static_cast<double>(order) * pi / 2 - pi / 4;
}

}  // namespace

Tensor bessel_j(int64_t order, const Tensor& given) {
    return in_float64({given}, [&](const auto& p) {
        const Tensor &x = p[0], size = rows::abs(x), is_large = size > largest_near;
        const Tensor near = where(is_large, rows::zero_of(x), x);
        const Tensor small = wave_integral(near, static_cast<double>(order));
        const Tensor far = where(is_large, size, constant(largest_near));
        const auto [even, odd] = hankel(far, order);
        const Tensor angle = phase(far, order);
        Tensor large = rows::sqrt(2 / (pi * far)) * (even * cos(angle) - odd * sin(angle));
        if (order != 0) large = where(x < 0, -large, large);
        return where(is_large, large, small);
    });
}

Tensor bessel_y(int64_t order, const Tensor& given) {
    return in_float64({given}, [&](const auto& p) {
        const Tensor& x = p[0];
        const auto n = static_cast<double>(order);
        const Tensor is_near =
            numpy::apply("logical_and", {Tensor(x > 0), Tensor(x <= largest_near)});
        const Tensor near = where(is_near, x, rows::one_of(x));
        const Tensor first = wave_integral(near, n);
        const Tensor series = over_angles([&](double angle) {
            const Tensor at = near * std::sin(angle);
            return (order != 0 ? sin(at) : cos(at)) * neumann_weight(order, angle);
        });
        constexpr double euler = 0.57721566490153286061;
        Tensor small = (rows::log(near / 2) + (euler - n)) * first - series;
        if (order != 0)
            small = small -
                    over_angles([&](double angle) { return cos(near * std::sin(angle)); }) / near;
        small = small * (2 / pi);
        const Tensor far = where(x > largest_near, x, constant(largest_near));
        const auto [even, odd] = hankel(far, order);
        const Tensor angle = phase(far, order);
        const Tensor large = rows::sqrt(2 / (pi * far)) * (even * sin(angle) + odd * cos(angle));
        const Tensor ends = where(rows::equal(x, 0), constant(-infinity), constant(not_a_number));
        return where(x > 0, where(is_near, small, large), ends);
    });
}

Tensor modified_bessel_i(int64_t order, const Tensor& given, bool is_scaled) {
    return in_float64({given}, [&](const auto& p) {
        const Tensor made = scaled_modified(p[0], order);
        return is_scaled ? made : rows::exp(rows::abs(p[0])) * made;
    });
}

Tensor modified_bessel_k(int64_t order, const Tensor& given, bool is_scaled) {
    return in_float64({given}, [&](const auto& p) {
        // Its integral over hyperbolic angles, whose integrand falls doubly exponentially.
        const Tensor& x = p[0];
        const Tensor inner = where(x > 0, x, rows::one_of(x));
        // The integrand is as wide as 1 / sqrt(x) where x is large.
        const Tensor step = 1 / (8 * rows::sqrt(1 + inner / 8));
        Tensor total = rows::exp(inner * 0) / 2;
        for (int64_t k = 1; k < 200; ++k) {
            const Tensor angle = step * k;
            // cosh(t) - 1 without the loss of digits near 0.
            const Tensor grown = 2 * numpy::apply("square", {numpy::apply("sinh", {angle / 2})});
            const Tensor fallen = rows::exp(-inner * grown);
            total = total + (order != 0 ? fallen * numpy::apply("cosh", {angle}) : fallen);
        }
        Tensor found = total * step;
        if (!is_scaled) found = found * rows::exp(-inner);
        const Tensor ends = where(rows::equal(x, 0), constant(infinity), constant(not_a_number));
        return where(x > 0, found, ends);
    });
}

Tensor spherical_bessel_j0(const Tensor& x) { return numpy::sinc(floating(x) / pi); }

}  // namespace composit::aten
