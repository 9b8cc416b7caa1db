// power, cbrt and hypot.
#include "composit/ir/scalar/library.h"
#include "composit/ir/scalar/library_coefficients.h"
#include "composit/ir/scalar/library_cores.h"

namespace composit::ir::scalar {
namespace parts {

Pair log2_pair(const Expr& x) {
    const LogArgument argument = reduce_log(x);
    const Expr& f = argument.fraction;
    // log(1 + f) = 2 (s + s^3 / 3 + s^5 P(s^2)), s = f / (2 + f); the first two terms as pairs.
    const Pair s = divide(exact(f), fast_two_sum(constant_like(x, 2.0), f));
    const Pair z = multiply(s, s);
    const Pair third = constant_pair(x, 0x1.5555555555555p-2, 0x1.5555555555555p-56);
    const Pair cubic = multiply(multiply(s, z), third);
    const Expr rest = s.high * (z.high * z.high) * polynomial(z.high, coefficients::log_pair);
    const Expr low = s.low + (cubic.low + rest);
    const Pair sum = fast_two_sum(s.high, cubic.high);
    const Pair half_log = fast_two_sum(sum.high, sum.low + low);
    const Pair two_over_ln2 = constant_pair(x, 0x1.71547652b82fep+1, 0x1.777d0ffda0d24p-55);
    const Pair fraction = multiply(half_log, two_over_ln2);
    const Pair total = fast_two_sum(argument.exponent, fraction.high);
    const Pair whole = fast_two_sum(total.high, total.low + fraction.low);
    // The order of the sum holds where the exponent is not 0.
    return choose(equal(argument.exponent, 0.0), fraction, whole);
}

}  // namespace parts

namespace {

using namespace parts;

// y log2(x) for x > 0, float64. For results in float32 one number is enough.
Pair power_exponent(const Expr& x, const Expr& y, bool is_for_float32) {
    const Expr limit = select(equal(x, 0.0), -infinity, x);  // log2 at 0, inf and NaN
    const Expr is_regular = (x > 0.0) & (x < infinity);
    if (is_for_float32) return exact(y * select(is_regular, log2_inside(x), limit));
    const Pair log = log2_pair(x);
    const Pair exponent = multiply(log, y);
    const Expr rough = y * select(is_regular, log.high, limit);
    // Beyond the bound the result overflows or vanishes, and the parts of the pair may be NaN.
    const Expr is_finite = absolute(rough) < 1100.0;
    return {select(is_finite, exponent.high, rough), select(is_finite, exponent.low, 0.0)};
}

// 2^(t.high + t.low)
Expr exp2_of_pair(const Pair& t) {
    const Expr bounded = at_least(at_most(t.high, 1030.0), -1080.0).named("bounded");
    const double shift = rounding_shift(bounded);
    const Expr exponent = ((bounded + shift) - shift).named("exponent");
    const Expr fraction = (bounded - exponent).named("fraction");
    constexpr double ln2 = 0x1.62e42fefa39efp-1;
    const Expr rest = (fraction * ln2).named("rest");
    const Expr lost = fma(fraction, 0x1.abc9e3b39803fp-56, fma(fraction, ln2, -rest));
    const Expr rest_low = fma(t.low, ln2, lost).named("rest_low");
    return scale(exp_of_rest({rest, rest_low, exponent, Expr()}), exponent);
}

// |x|^y, where y is 0.5, 1.5, or the negative of one, by a square root: where an exponent is
// literal, compilers leave the rest out.
Expr power_of_halves(const Expr& x, const Expr& y, const Expr& others) {
    const Expr root = square_root(x).named("root");
    const Expr is_less = y < 0.0;
    const Expr up = select(equal(absolute(y), 0.5), root, x * root);
    const Expr down = select(equal(y, -0.5), 1.0 / root, 1.0 / x / root);
    const Expr is_half = equal(absolute(y), 0.5) | equal(absolute(y), 1.5);
    return select(is_half, select(is_less, down, up), others);
}

// C's pow, given |x|^y for |x| in (0, inf), where `magnitude` is already right at 0 and inf.
Expr power_limits(const Expr& x, const Expr& y, const Expr& magnitude) {
    const Expr half = y * 0.5;
    const Expr is_integer = equal(floor(y), y).named("is_integer");
    const Expr is_odd = is_integer & not_equal(floor(half), half);
    const Expr sign_bit = bits_of_float(constant_like(x, -0.0));
    const Expr sign =
        select(is_odd, bits_of_float(x) & sign_bit, bits_of_float(constant_like(x, 0.0)));
    const Expr is_one = equal(absolute(x), 1.0);
    // |x| = 1 is 1 even at infinite y, where y log(x) is NaN; but NaN for NaN.
    const Expr plain = select(is_one & equal(y, y), 1.0, magnitude);
    const Expr with_sign = float_of_bits(bits_of_float(plain) ^ sign);
    const Expr is_undefined = (x < 0.0) & (x > -infinity) & ~is_integer;
    const Expr result = with_sign * select(is_undefined, signaling_nan(x), 1.0);
    return select(equal(y, 0.0) | equal(x, 1.0), 1.0, result);
}

Expr hypot_of_float64(const Expr& x, const Expr& y) {
    const Expr a = select(absolute(x) > absolute(y), absolute(x), absolute(y));
    const Expr b = select(absolute(x) > absolute(y), absolute(y), absolute(x));
    // Powers of two keep the squares away from overflow and underflow.
    const Expr is_large = a > 0x1p500;
    const Expr is_small = a < 0x1p-400;
    const Expr up = select(is_large, constant_like(a, 0x1p-600),
                           select(is_small, constant_like(a, 0x1p600), 1.0));
    const Expr down = select(is_large, constant_like(a, 0x1p600),
                             select(is_small, constant_like(a, 0x1p-600), 1.0));
    const Pair square = two_product(a * up, a * up);
    const Pair other = two_product(b * up, b * up);
    const Pair sum = fast_two_sum(square.high, other.high);
    const Expr low = sum.low + (square.low + other.low);
    const Expr root = square_root(sum.high).named("root");
    const Expr correction = (fma(-root, root, sum.high) + low) / (root + root);
    return select(equal(a + b, 0.0), a, (root + correction) * down);
}

}  // namespace

Expr power_of(const Expr& x, const Expr& y) {
    require_float("power", x);
    const Expr exact_x = to_float64(x);
    const Expr exact_y = to_float64(y);
    const Expr magnitude = absolute(exact_x);
    const Pair exponent = power_exponent(magnitude, exact_y, is_float32(x));
    const Expr powered = power_of_halves(magnitude, exact_y, exp2_of_pair(exponent));
    return Expr::cast(power_limits(exact_x, exact_y, powered), x.dtype());
}

Expr cbrt_of(const Expr& x) {
    require_float("cbrt", x);
    const Expr wide = to_float64(x);
    const LogArgument argument = reduce_log(absolute(wide));
    const double shift = rounding_shift(wide);
    // |x| = m 2^(3 third + rest), rest in -1, 0, 1.
    const Expr third = (fma(argument.exponent, 0x1.5555555555555p-2, shift) - shift).named("third");
    const Expr rest = fma(third, -3.0, argument.exponent).named("rest");
    const auto by_rest = [&](double low, double middle, double high) {
        return select(rest < 0.0, low, select(rest > 0.0, high, constant_like(wide, middle)));
    };
    const Expr m = (argument.fraction + 1.0) * by_rest(0.5, 1.0, 2.0);
    const Expr first = polynomial(argument.fraction, coefficients::cbrt_float64) *
                       by_rest(0x1.965fea53d6e3dp-1, 1.0, 0x1.428a2f98d728bp+0);
    // Halley's step, then Newton's with an exact remainder.
    const Expr cube = first * first * first;
    const Expr second = (first * (fma(m, 2.0, cube) / fma(cube, 2.0, m))).named("second");
    const Pair square = two_product(second, second);
    const Expr remainder = fma(-square.low, second, fma(-square.high, second, m));
    const Expr root = second + remainder / (square.high * 3.0);
    const Expr scaled = root * power_of_two(third + exponent_shift(wide));
    const Expr is_regular = (absolute(wide) > 0.0) & (absolute(wide) < infinity);
    return Expr::cast(select(is_regular, copysign(scaled, wide), wide), x.dtype());
}

Expr hypot_of(const Expr& x, const Expr& y) {
    require_float("hypot", x);
    const Expr wide_x = to_float64(x);
    const Expr wide_y = to_float64(y);
    const Expr inside =
        is_float32(x) ? square_root(fma(wide_x, wide_x, wide_y * wide_y)) : hypot_of_float64(x, y);
    // An infinite side wins over NaN.
    const Expr is_infinite = equal(absolute(x), infinity) | equal(absolute(y), infinity);
    return select(is_infinite, infinity, Expr::cast(inside, x.dtype()));
}

}  // namespace composit::ir::scalar
