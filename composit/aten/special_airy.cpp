// Airy's function: by its power series near 0, by Chebyshev series of what its asymptotic forms are
// multiplied with.
#include "composit/aten/series.h"
#include "composit/aten/special.h"

#include <array>
#include <cmath>
#include <numbers>

namespace composit::aten {
namespace {

using rows::where;

const double root_pi = std::sqrt(std::numbers::pi);
// Between these the power series has all digits but a few.
constexpr double series_begin = -3, series_end = 1.5;
// Ai(0) and -Ai'(0).
constexpr double value_at_0 = 0.3550280538878172, fall_at_0 = 0.2588194037928068;

// Coefficients are from integrals in 40 digits; those left out are below the last bit. With
// z = 2/3 |x|^1.5 and z0 that of the nearest x: 2 sqrt(pi) x^1/4 exp(z) Ai(x) in 2 z0 / z - 1.
constexpr std::array falling{
    0.9775538508558448,      -0.020862474405707418,   0.0014022222549226902,
    -0.00015445535442993937, 2.223027857676703e-05,   -3.814039707573835e-06,
    7.432694286651159e-07,   -1.5978444018868888e-07, 3.71670649926353e-08,
    -9.228212412678121e-09,  2.4214253709501665e-09,  -6.663623292302786e-10,
    1.9118037464979788e-10,  -5.6910431087836814e-11, 1.7508908330772233e-11,
    -5.549279906384467e-12,  1.8069244818591271e-12,  -6.030606978495685e-13,
    2.05888857337351e-13,    -7.177997941402771e-14,  2.551612130924603e-14,
    -9.23607275842995e-15,   3.400224741055721e-15,   -1.271795632653484e-15,
    4.828427626993385e-16,   -1.8591002635202005e-16, 7.253937490810165e-17,
    -2.8662533411515464e-17};
// sqrt(pi) |x|^1/4 Ai(x) = P sin(z + pi/4) - Q cos(z + pi/4), and Bi the same with cos and -sin: P
// and z Q in 2 (z0 / z)^2 - 1.
constexpr std::array sine_part{
    0.9985699626310912,      -0.0013951995769053717,  3.267841506400246e-05,
    -1.9404091544431855e-06, 1.8869330795558386e-07,  -2.5081398395940352e-08,
    4.147665235330316e-09,   -8.070839465359446e-10,  1.7827924805699562e-10,
    -4.361705273201904e-11,  1.161185427365765e-11,   -3.319778087279854e-12,
    1.0089771012367244e-12,  -3.2341424638014315e-13, 1.086339783463564e-13,
    -3.803935598638535e-14,  1.382553936868321e-14,   -5.196785439951606e-15,
    2.0139656226370207e-15,  -8.025754109984125e-16,  3.2812807447958266e-16,
    -1.3735972268163478e-16, 5.877253876350081e-17,   -2.566360832248659e-17};
constexpr std::array cosine_part{
    0.06807534474256373,     -0.0013083854582772593,  5.551763035572022e-05,
    -4.544765865946546e-06,  5.465428712800189e-07,   -8.490632985289182e-08,
    1.5863608897257044e-08,  -3.4107384772845923e-09, 8.195292084272133e-10,
    -2.1559704007789517e-10, 6.117533123357895e-11,   -1.851185487143232e-11,
    5.921734198169083e-12,   -1.9885901380079363e-12, 6.970913701405051e-13,
    -2.5390352457349194e-13, 9.572030893384095e-14,   -3.7228877150175075e-14,
    1.4896665595239416e-14,  -6.1177609304627624e-15, 2.5732888544750705e-15,
    -1.1065951356139897e-15, 4.857346858061151e-16,   -2.1732261971215764e-16,
    9.89825782207556e-17,    -4.584274189115854e-17,  2.156749625961262e-17};

double angle_of(double x) { return 2 * std::pow(std::abs(x), 1.5) / 3; }
Tensor angle_of(const Tensor& size) { return size * rows::sqrt(size) * (2.0 / 3); }

// Clenshaw's recurrence.
template <size_t count>
Tensor chebyshev_sum(const std::array<double, count>& coefficients, const Tensor& u) {
    Tensor next = constant(0), sum = constant(coefficients.back());
    for (size_t k = count - 2; k > 0; --k) {
        const Tensor before = 2.0 * u * sum - next + coefficients[k];
        next = sum;
        sum = before;
    }
    return u * sum - next + coefficients[0];
}

// value_at_0 (1 + x^3 / (2 3) + …) - fall_at_0 (x + x^4 / (3 4) + …)
Tensor power_series(const Tensor& x) {
    const Tensor cube = x * x * x;
    Tensor even = constant(1), odd = constant(1);
    for (int k = 20; k > 0; --k) {
        even = 1.0 + cube * even / (3.0 * k * (3 * k - 1));
        odd = 1.0 + cube * odd / (3.0 * k * (3 * k + 1));
    }
    return value_at_0 * even - fall_at_0 * x * odd;
}

Tensor fourth_root(const Tensor& x) { return rows::sqrt(rows::sqrt(x)); }

Tensor of_large(const Tensor& x) {
    const Tensor z = angle_of(x);
    const Tensor u = 2 * angle_of(series_end) / z - 1.0;
    return rows::exp(-z) * chebyshev_sum(falling, u) / (2 * root_pi * fourth_root(x));
}

Tensor of_negative(const Tensor& size) {
    const Tensor z = angle_of(size), near = angle_of(series_begin) / z;
    const Tensor u = 2.0 * near * near - 1.0, angle = z + std::numbers::pi / 4;
    const Tensor wave = chebyshev_sum(sine_part, u) * numpy::apply("sin", {angle}) -
                        chebyshev_sum(cosine_part, u) / z * numpy::apply("cos", {angle});
    return wave / (root_pi * fourth_root(size));
}

}  // namespace

Tensor airy_ai(const Tensor& given) {
    return in_float64({given}, [](const auto& p) {
        const Tensor& x = p[0];
        const Tensor is_large = x > series_end, is_low = x < series_begin;
        const Tensor middle = where(is_large | is_low, rows::zero_of(x), x);
        const Tensor large = of_large(where(is_large, x, constant(2)));
        const Tensor low = of_negative(where(is_low, -x, constant(4)));
        const Tensor found = where(is_large, large, where(is_low, low, power_series(middle)));
        return where(numpy::apply("isfinite", {x}), found, constant(not_a_number));
    });
}

}  // namespace composit::aten
