// log |gamma(x)|: a polynomial around 2 and products below 8, Stirling's series above, reflection
// below -1/2.
#include "composit/ir/scalar/library.h"
#include "composit/ir/scalar/library_coefficients.h"
#include "composit/ir/scalar/library_cores.h"

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

// -1/2 <= x < inf, not 0
Expr lgamma_from_minus_half(const Expr& x) {
    const Expr is_large = x >= stirling_from;
    const Shifted shifted = shift_to_two(at_most(x, stirling_from));
    const Pair log = log_pair(select(is_large, x, shifted.product));
    // Small: distance * polynomial + log, or - log; exact products keep what cancels around 1.
    const Expr smooth = polynomial(shifted.distance, coefficients::lgamma_near_2);
    const Pair main = two_product(shifted.distance, smooth);
    const Pair signed_log = choose(shifted.is_below, negate(log), log);
    const Pair sum = two_sum(signed_log.high, main.high);
    const Expr small = sum.high + (sum.low + (signed_log.low + main.low));
    // Large: (x - 1/2) (log(x) - 1) + (log(2 pi) - 1) / 2 + series
    const Expr inverse = 1.0 / x;
    const Expr series = inverse * polynomial(inverse * inverse, coefficients::stirling);
    const Pair less_one = two_sum(log.high, constant_like(x, -1.0));
    const Expr rest = less_one.low + log.low;
    const Pair factor = fast_two_sum(x, constant_like(x, -0.5));
    const Pair product = two_product(factor.high, less_one.high);
    const Expr low = fma(factor.high, rest, fma(factor.low, less_one.high, product.low));
    const Expr finite = product.high + (low + (series + 0x1.acfe390c97d69p-2));
    const Expr large = select(product.high < infinity, finite, product.high);
    return select(is_large, large, small);
}

Expr lgamma_of_float64(const Expr& x) {
    const Expr is_reflected = x < -0.5;
    const Expr a = select(is_reflected, -x, x).named("a");
    const Expr direct = lgamma_from_minus_half(a).named("direct");
    // gamma(x) gamma(-x) = -pi / (x sin(pi x))
    const Expr sine = absolute_sin_of_pi(a);
    const Pair log = log_pair(select(is_reflected, a * sine, 1.0));
    const Pair first = two_sum(constant_like(x, 0x1.250d048e7a1bdp+0), -log.high);
    const Pair second = two_sum(first.high, -direct);
    const Expr lows = (first.low + second.low) + (0x1.7abf2ad8d5088p-57 - log.low);
    const Expr result = select(is_reflected, second.high + lows, direct);
    const Expr is_pole = (equal(rint(x), x) & (x <= 0.0)) | equal(absolute(x), infinity);
    // Products of 0 and of large numbers have left finite values for NaN.
    return select(is_pole, infinity, select(equal(x, x), result, x));
}

}  // namespace

Expr lgamma_of(const Expr& x) {
    require_float("lgamma", x);
    return Expr::cast(lgamma_of_float64(to_float64(x)), x.dtype());
}

}  // namespace composit::ir::scalar
