// The table's special functions: the error function and what is made of it.
#include "composit/ir/scalar/library.h"
#include "composit/ir/scalar/table.h"

#include <limits>

namespace composit::ir::scalar {
namespace {

constexpr double two_over_root_pi = 1.12837916709551257390;
constexpr double root_of_two_pi = 2.50662827463100050242;
constexpr double normal_density_at_0 = 0.398942280401432677940;

Expr slope_of_erf(const Expr& x, const Expr&) { return two_over_root_pi * call("exp", {-(x * x)}); }

// (2 - x^2) phi(x), phi the density of the normal distribution.
Expr slope_of_gelu_slope(const Expr& x, const Expr&) {
    const Expr square = x * x;
    return (2.0 - square) * (normal_density_at_0 * call("exp", {-0.5 * square}));
}

// 1 / phi(y)
Expr slope_of_ndtri(const Expr&, const Expr& y) {
    return root_of_two_pi * call("exp", {0.5 * y * y});
}

// The asymptotic series of log(z) - digamma(z) in 1 / z^2 for z >= 10, less its first term 1 / (2
// z); B_2k / 2k.
constexpr double digamma_series[] = {1.0 / 12,  -1.0 / 120,     1.0 / 252, -1.0 / 240,
                                     1.0 / 132, -691.0 / 32760, 1.0 / 12};

// For x > 0: the series at x + n >= 10, and digamma(x) = digamma(x + 1) - 1 / x n times.
Expr digamma_of_positive(const Expr& x) {
    Expr z = x;
    Expr sum = zero_like(x);
    for (int step = 0; step < 10; ++step) {
        const Expr is_small = z < 10;
        sum = sum + select(is_small, 1.0 / z, 0.0);
        z = z + select(is_small, 1.0, zero_like(z));
    }
    const Expr inverse = 1.0 / z;
    const Expr square = inverse * inverse;
    Expr series = zero_like(x);
    for (int k = 6; k >= 0; --k) series = fma(series, square, digamma_series[k]);
    return call("log", {z}) - 0.5 * inverse - series * square - sum;
}

// Computed in float64. For x <= 0 by reflection, digamma(1 - x) - pi / tan(pi x). Rows, not the
// library's functions, are called, so that its own derivative can be derived.
Expr digamma_value(const Expr& operand) {
    constexpr double pi = 3.14159265358979323846;
    const Expr x = Expr::cast(operand, DType::float64);
    const Expr is_reflected = x <= 0;
    const Expr is_pole = is_reflected & equal(x, rint(x));
    const Expr positive = digamma_of_positive(select(is_reflected, 1.0 - x, x));
    // Where it is not used the tangent is taken away from its poles: derivatives there would be 0
    // times infinity.
    const Expr turn = select(is_reflected & ~is_pole, x - rint(x), 0.25);
    const Expr cotangent = pi / call("tan", {turn * pi});
    const Expr not_a_number =
        Expr::constant(DType::float64, std::numeric_limits<double>::quiet_NaN());
    // A quotient, not a constant, so that the slope at 0 is infinite too.
    const Expr at_pole = select(equal(x, 0), -1.0 / x, not_a_number);
    const Expr value =
        select(is_pole, at_pole, select(is_reflected, positive - cotangent, positive));
    return Expr::cast(value, operand.dtype());
}

}  // namespace

std::vector<Row> special_rows() {
    using namespace types;
    return {
        {"digamma",
         {"psi"},
         1,
         floating,
         {{0.5, 5}},
         "the derivative of log |gamma(x)|; -inf at 0, NaN at the negative integers",
         [](X x) { return digamma_value(x[0]); }},
        library_row("erf", {}, floating, {-3, 3},
                    "the error function, 2 / sqrt(pi) times the integral of exp(-t^2)", erf_of,
                    slope_of_erf),
        library_row("erfc", {}, floating, {-3, 3}, "1 - erf(x)", erfc_of,
                    [](Y x, Y y) { return -slope_of_erf(x, y); }),
        library_row("gelu", {}, floating, {-3, 3},
                    "x Phi(x), Phi the normal distribution (Hendrycks and Gimpel 2016), exact",
                    gelu_of, [](Y x, Y) { return call("gelu_slope", {x}); }),
        library_row("gelu_slope", {}, floating, {-3, 3}, "the derivative of gelu", gelu_slope_of,
                    slope_of_gelu_slope),
        library_row("lgamma", {"gammaln"}, floating, {0.5, 5},
                    "log |gamma(x)|; inf at 0 and the negative integers", lgamma_of,
                    [](Y x, Y) { return call("digamma", {x}); }),
        library_row("ndtri", {}, floating, {0.02, 0.98},
                    "the quantile of the normal distribution: z with Phi(z) = x", ndtri_of,
                    slope_of_ndtri),
    };
}

}  // namespace composit::ir::scalar
