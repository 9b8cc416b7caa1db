// log |gamma(x)|: a polynomial around 2 and products below 8, Stirling's series above, reflection
// below -1/2, polynomials around the zeros below -2.
#include "composit/ir/scalar/library.h"
#include "composit/ir/scalar/library_coefficients.h"
#include "composit/ir/scalar/library_cores.h"
#include "composit/ir/scalar/library_gamma_zeros.h"

#include <algorithm>
#include <iterator>

namespace composit::ir::scalar {
namespace {

using namespace parts;

constexpr double stirling_from = 8.0;
constexpr int factors = 6;  // (x - 1) … (x - 6) lead from [1.5, 8.5] to [1.5, 2.5]

// What lgamma takes away from or adds to a polynomial: log of `product`, which is not negative.
struct Shifted {
    Expr distance;  // from 2
    Expr product;
    Expr is_below;  // the logarithm is subtracted
};

// -1/2 <= x <= 8.5
Shifted shift_to_two(const Expr& x) {
    const Expr steps = rint(x - 2.0).named("steps");
    Expr product = constant_like(x, 1.0);
    for (int i = 1; i <= factors; ++i)
        product =
            product * select(steps >= static_cast<double>(i), x - static_cast<double>(i), 1.0);
    const Expr is_below = steps < 0.0;
    const Expr below = absolute(x) * select(steps < -1.0, x + 1.0, 1.0);
    const Expr distance = (x - (steps + 2.0)).named("distance");  // exact
    return {distance, select(is_below, below, product).named("product"), is_below};
}

// -1/2 <= x <= inf, not 0
Pair lgamma_from_minus_half(const Expr& x) {
    const Expr is_large = x >= stirling_from;
    const Shifted shifted = shift_to_two(at_most(x, stirling_from));
    const Pair log = log_pair(select(is_large, x, shifted.product));
    // Small: distance * polynomial + log, or - log; exact products keep what cancels around 1.
    const Expr smooth = polynomial(shifted.distance, coefficients::lgamma_near_2);
    const Pair main = two_product(shifted.distance, smooth);
    const Pair signed_log = choose(shifted.is_below, negate(log), log);
    const Pair sum = two_sum(signed_log.high, main.high);
    const Pair small = {sum.high, sum.low + (signed_log.low + main.low)};
    // Large: (x - 1/2) (log(x) - 1) + (log(2 pi) - 1) / 2 + series
    const Expr inverse = 1.0 / x;
    const Expr series = inverse * polynomial(inverse * inverse, coefficients::stirling);
    const Pair less_one = two_sum(log.high, constant_like(x, -1.0));
    const Expr rest = less_one.low + log.low;
    const Pair factor = fast_two_sum(x, constant_like(x, -0.5));
    const Pair product = two_product(factor.high, less_one.high);
    const Expr low = fma(factor.high, rest, fma(factor.low, less_one.high, product.low));
    const Expr rest_of_large = low + (series + 0x1.acfe390c97d69p-2);
    // Where the product overflows its rest is NaN.
    const Pair large = {product.high, select(product.high < infinity, rest_of_large, 0.0)};
    return choose(is_large, large, small);
}

// gamma(x) gamma(-x) = -pi / (x sin(pi x)); x < -1/2, a = -x, `direct` is lgamma(a). The terms may
// cancel: their low parts are kept.
Expr reflected(const Expr& a, const Pair& direct) {
    const Pair product = two_product(a, absolute_sin_of_pi(a));
    const Pair log = log_pair(product.high);
    const Expr log_low = log.low + product.low / product.high;
    const Pair first = two_sum(constant_like(a, 0x1.250d048e7a1bdp+0), -log.high);
    const Pair second = two_sum(first.high, -direct.high);
    const Expr lows = (first.low + second.low) + (0x1.7abf2ad8d5088p-57 - log_low);
    return second.high + (lows - direct.low);
}

// log |gamma(x)| where `is_near_zero`, -18 < x < -2; 0 elsewhere. |1 / gamma(z + s)| = 1 + s H(s)
// for the zero z in x's half of a unit interval.
Expr lgamma_near_zero(const Expr& x, const Expr& is_near_zero) {
    using coefficients::LgammaZero;
    // The first row reaches into the next half interval, where the second polynomial would cancel.
    // From 32 on the table is zero.
    const Expr half_interval = low_bits(floor(x * -2.0 - 4.0));
    const Expr is_first = (x > -2.625) & (x <= -2.5);
    const Expr is_elsewhere = Expr::cast(~is_near_zero, DType::uint64);
    const Expr row = ((half_interval - Expr::cast(is_first, DType::uint64)) &
                      Expr::constant_bits(DType::uint64, {31, 0})) |
                     (is_elsewhere << 5);
    const auto of_zero = [&row](auto value) {
        std::vector<double> column(64);
        std::transform(std::begin(coefficients::lgamma_zeros), std::end(coefficients::lgamma_zeros),
                       column.begin(), value);
        return table_entry(column, row);
    };
    const Expr high = of_zero([](const LgammaZero& zero) { return zero.high; });
    const Expr low = of_zero([](const LgammaZero& zero) { return zero.low; });
    const Expr s = ((select(is_near_zero, x, 0.0) - high) - low).named("s");
    Expr slope;
    for (size_t k = std::size(LgammaZero().slope); k-- > 0;) {
        const Expr c = of_zero([k](const LgammaZero& zero) { return zero.slope[k]; });
        slope = slope ? fma(slope, s, c) : c;
    }
    return -log1p_inside(s * slope);
}

Expr lgamma_of_float64(const Expr& x, bool is_for_float32) {
    const Expr is_reflected = x < -0.5;
    const Expr is_pole =
        ((equal(rint(x), x) & (x <= 0.0)) | equal(absolute(x), infinity)).named("is_pole");
    // Beyond 2^1000 all numbers below -1/2 are poles; lgamma stays finite up to there.
    const Expr a =
        select(is_reflected, at_most(-x, 0x1p1000), at_most(x, 0x1.fffffffffffffp1023)).named("a");
    const Pair direct = lgamma_from_minus_half(a);
    const Expr reflection =
        reflected(select(is_reflected & ~is_pole, a, 1.5), direct).named("reflection");
    // Products of 0 and of large numbers have left finite values for NaN.
    const Expr regular = select(is_reflected, reflection, rounded(direct)) + a * 0.0;
    const Expr at_pole = select(is_pole, constant_like(x, infinity), 0.0);
    if (is_for_float32) return regular + at_pole;
    // Two zeros lie between every two poles below -2, where the sum of logarithms is not close
    // against the result, though it is for a float32.
    const Expr is_near_zero =
        ((absolute(reflection) < 0.75) & (x < -2.0) & (x > -18.0)).named("is_near_zero");
    const Expr near_zero = lgamma_near_zero(x, is_near_zero);
    return (select(is_near_zero, 0.0, regular) + near_zero) + at_pole;
}

}  // namespace

Expr lgamma_of(const Expr& x) {
    require_float("lgamma", x);
    return Expr::cast(lgamma_of_float64(to_float64(x), is_float32(x)), x.dtype());
}

}  // namespace composit::ir::scalar
