// log and its kin: the argument is 2^k (1 + f) with sqrt(1/2) <= 1 + f < sqrt(2); log(1 + f) is a
// polynomial.
#include "composit/ir/scalar/library.h"
#include "composit/ir/scalar/library_coefficients.h"
#include "composit/ir/scalar/library_cores.h"

namespace composit::ir::scalar {
namespace parts {
namespace {

uint64_t bits_of_root_half(const Expr& x) {
    return is_float32(x) ? 0x3f3504f3u : 0x3fe6a09e667f3bcdu;
}

Expr integer_like(const Expr& bits, uint64_t value) {
    return Expr::constant_bits(bits.dtype(), Bits{value, 0});
}

uint64_t mantissa_mask(const Expr& x) { return (uint64_t{1} << mantissa_bits(x)) - 1; }

}  // namespace

namespace {

// The exponent is `otherwise`, if given, where x is not positive.
LogArgument reduced(const Expr& x, const Expr& otherwise) {
    const int width = mantissa_bits(x);
    const double lift = std::ldexp(1.0, width + 1);
    const Expr is_subnormal = x < smallest_normal(x);
    const Expr normal = select(is_subnormal, x * lift, x).named("normal");
    // Subtracting sqrt(1/2) before the cut makes the exponent that of the interval around 1; the
    // added bias keeps it positive, as AVX2 has no arithmetic shift of 64-bit integers.
    const Expr bits = bits_of_float(normal);
    const uint64_t bias = static_cast<uint64_t>(exponent_bias(x)) << width;
    const Expr cut = (bits + integer_like(bits, bias - bits_of_root_half(x))).named("cut");
    const Expr mantissa =
        (cut & integer_like(bits, mantissa_mask(x))) + integer_like(bits, bits_of_root_half(x));
    const Expr fraction = (float_of_bits(mantissa) - 1.0).named("fraction");
    // An integer below 2^width becomes a float by standing in the low bits of 2^width.
    const double base = std::ldexp(1.0, width);
    const Expr base_bits = bits_of_float(constant_like(x, base));
    const Expr biased = float_of_bits((cut >> width) | base_bits);
    const double offset = base + exponent_bias(x);
    const Expr offsets = select(is_subnormal, constant_like(x, offset + width + 1), offset);
    const Expr exponent = biased - (otherwise ? select(x > 0.0, offsets, otherwise) : offsets);
    return {fraction, exponent.named("exponent")};
}

}  // namespace

LogArgument reduce_log(const Expr& x) { return reduced(x, Expr()); }
LogArgument reduce_log_and_signal(const Expr& x) { return reduced(x, signaling_nan(x)); }

Pair log_of_fraction(const Expr& f) {
    using namespace coefficients;
    if (is_float32(f)) {
        const Expr q = fma(f, polynomial(f, log_float32), -0.5);
        return {f, ((f * f) * q).named("above_linear")};
    }
    // log(1 + f) = f - f^2 / 2 + s (f^2 / 2 + R(s^2)), s = f / (2 + f): the rational form of Tang
    // and of Sun's fdlibm, whose polynomial is half as long as one in f.
    const Expr s = (f / (f + 2.0)).named("s");
    const Expr z = s * s;
    const Expr half_square = (0.5 * f * f).named("half_square");
    return {f, fma(s, fma(z, polynomial(z, log_float64), half_square), -half_square)};
}

Expr join_log(const LogArgument& argument) {
    const Pair fraction = log_of_fraction(argument.fraction);
    const bool single = is_float32(argument.fraction);
    const Expr& k = argument.exponent;
    const Expr low = fma(k, single ? -0x1.05c61p-29 : 0x1.abc9e3b39803fp-56, fraction.low);
    return fma(k, single ? 0x1.62e430p-1 : 0x1.62e42fefa39efp-1, fraction.high + low);
}

Pair log_pair(const Expr& x) {
    const LogArgument argument = reduce_log(x);
    const Pair fraction = log_of_fraction(argument.fraction);
    // The high part of ln(2) is short: its multiples are exact.
    const bool single = is_float32(x);
    const Expr multiple = argument.exponent * (single ? 0x1.62ep-1 : 0x1.62e42feep-1);
    const Pair sum = two_sum(multiple, fraction.high);
    const double rest = single ? 0x1.0bfbe8p-15 : 0x1.a39ef35793c76p-33;
    return fast_two_sum(sum.high, sum.low + fma(argument.exponent, rest, fraction.low));
}

Expr log_limits(const Expr& x, const Expr& inside) {
    // The condition has to be the NaN itself: what a branch does not use, compilers leave out.
    const Expr at_zero = select(equal(x, 0.0), -infinity, constant_like(x, not_a_number));
    const Expr finite = select(equal(inside, inside), inside, at_zero);
    return select(x < infinity, finite, x);
}

namespace {

Expr log1p_of_pair(const Pair& x, LogArgument (*reduce)(const Expr&)) {
    // What 1 + x loses, scaled like it, goes into the fraction. (Where k is large it is nothing.)
    Pair sum = two_sum(constant_like(x.high, 1.0), x.high);
    sum.low = sum.low + x.low;
    LogArgument argument = reduce(sum.high);
    const Expr power = power_of_two(exponent_shift(x.high) - at_most(argument.exponent, 100.0));
    argument.fraction = fma(sum.low, power, argument.fraction).named("fraction");
    return join_log(argument);
}

}  // namespace

Expr log1p_inside(const Expr& x) { return log1p_inside(exact(x)); }
Expr log1p_inside(const Pair& x) { return log1p_of_pair(x, reduce_log); }
Expr log1p_and_signal(const Expr& x) { return log1p_of_pair(exact(x), reduce_log_and_signal); }

}  // namespace parts

namespace {

using namespace parts;

// log(x) * (factor + factor_low) + ..., in an order that keeps log2 of powers of two exact.
Expr log_to_base(const LogArgument& argument, const Pair& factor, const Pair& of_two) {
    const Pair log = log_of_fraction(argument.fraction);
    const Expr& k = argument.exponent;
    const Expr low = fma(log.low, factor.high, fma(log.high, factor.low, k * of_two.low));
    const Expr fraction = fma(log.high, factor.high, low);
    return fma(k, of_two.high, fraction);
}

Expr log2_of_reduced(const LogArgument& argument) {
    const Expr& x = argument.fraction;
    const Pair factor = is_float32(x)
                            ? constant_pair(x, 0x1.715476p+0, 0x1.4ae0cp-26)
                            : constant_pair(x, 0x1.71547652b82fep+0, 0x1.777d0ffda0d24p-56);
    return log_to_base(argument, factor, constant_pair(x, 1.0, 0.0));
}

Expr log10_of_reduced(const LogArgument& argument) {
    const Expr& x = argument.fraction;
    if (is_float32(x))
        return log_to_base(argument, constant_pair(x, 0x1.bcb7b2p-2, -0x1.5b235ep-27),
                           constant_pair(x, 0x1.344136p-2, -0x1.ec10cp-27));
    return log_to_base(argument, constant_pair(x, 0x1.bcb7b1526e50ep-2, 0x1.95355baaafad3p-57),
                       constant_pair(x, 0x1.34413509f79ffp-2, -0x1.9dc1da994fd21p-59));
}

}  // namespace

Expr parts::log2_inside(const Expr& x) { return log2_of_reduced(reduce_log(x)); }

Expr log_of(const Expr& x) {
    require_float("log", x);
    return log_limits(x, join_log(reduce_log_and_signal(x)));
}

Expr log2_of(const Expr& x) {
    require_float("log2", x);
    return log_limits(x, log2_of_reduced(reduce_log_and_signal(x)));
}

Expr log10_of(const Expr& x) {
    require_float("log10", x);
    return log_limits(x, log10_of_reduced(reduce_log_and_signal(x)));
}

Expr log1p_of(const Expr& x) {
    require_float("log1p", x);
    // The result is x below half an ulp of 1, to the sign of zero.
    const Expr inside = log_limits(x + 1.0, log1p_and_signal(x));
    return select(absolute(x) < (is_float32(x) ? 0x1p-25 : 0x1p-54), x, inside);
}

Expr softplus_of(const Expr& x) {
    require_float("softplus", x);
    const ExpArgument argument =
        reduce_exp(at_least(-absolute(x), is_float32(x) ? -104.0 : -746.0));
    const Expr e = scale(exp_of_rest(argument), argument.exponent).named("e");
    return select(x > 0.0, x, 0.0) + log1p_inside(e);
}

}  // namespace composit::ir::scalar
