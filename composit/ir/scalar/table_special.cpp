// The table's special functions: the error function and what is made of it.
#include "composit/ir/scalar/library.h"
#include "composit/ir/scalar/table.h"

namespace composit::ir::scalar {
namespace {

constexpr double two_over_root_pi = 1.12837916709551257390;
constexpr double root_half = 0.707106781186547524401;
constexpr double normal_density_at_0 = 0.398942280401432677940;

Expr slope_of_erf(const Expr& x, const Expr&) { return two_over_root_pi * call("exp", {-(x * x)}); }

// Phi(x) + x phi(x), Phi and phi the normal distribution and its density.
Expr slope_of_gelu(const Expr& x, const Expr&) {
    const Expr distribution = 0.5 * call("erfc", {x * -root_half});
    const Expr density = normal_density_at_0 * call("exp", {-0.5 * x * x});
    return fma(x, density, distribution);
}

}  // namespace

std::vector<Row> special_rows() {
    using namespace types;
    return {
        library_row("erf",  {}, floating, {-3, 3}, "the error function, 2 / sqrt(pi) times the integral of exp(-t^2)",
                    erf_of, slope_of_erf),
        library_row("erfc", {}, floating, {-3, 3}, "1 - erf(x)", erfc_of,
                    [](Y x, Y y) { return -slope_of_erf(x, y); }),
        library_row("gelu", {}, floating, {-3, 3},
                    "x Phi(x), Phi the normal distribution (Hendrycks and Gimpel 2016), exact",
                    gelu_of, slope_of_gelu),
    };
}

}  // namespace composit::ir::scalar
