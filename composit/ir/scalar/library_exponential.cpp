// exp and its kin: the argument is k ln(2) + r with |r| <= ln(2) / 2; a polynomial in r is scaled
// by 2^k.
#include "composit/ir/scalar/library.h"
#include "composit/ir/scalar/library_coefficients.h"
#include "composit/ir/scalar/library_cores.h"

#include <cmath>

namespace composit::ir::scalar {
namespace parts {
namespace {

struct Ln2 {
    double high, low;
};

// ln(2) as two numbers of the dtype; fma subtracts multiples of `high` without error.
Ln2 ln2_of(const Expr& x) {
    if (is_float32(x)) return {0x1.62e430p-1, -0x1.05c61p-29};
    return {0x1.62e42fefa39efp-1, 0x1.abc9e3b39803fp-56};
}

}  // namespace

ExpArgument reduce_exp(const Expr& x) {
    const Ln2 ln2 = ln2_of(x);
    const double shift = exponent_shift(x);
    const Expr shifted = fma(x, 0x1.71547652b82fep+0, shift).named("shifted");
    const Expr exponent = (shifted - shift).named("exponent");
    const Expr rest = fma(exponent, -ln2.high, x).named("rest");
    return {rest, (exponent * -ln2.low).named("rest_low"), exponent, shifted};
}

ExpArgument reduce_exp(const Pair& x) {
    ExpArgument argument = reduce_exp(x.high);
    argument.rest_low = (argument.rest_low + x.low).named("rest_low");
    return argument;
}

namespace {

// f(rest + rest_low) - rest - 1, for f = exp: small, so that its rounding hardly counts.
Expr above_linear(const ExpArgument& argument, std::span<const double> c) {
    const Expr r = (argument.rest + argument.rest_low).named("r");
    return fma(r * r, polynomial(r, c), argument.rest_low).named("above_linear");
}

}  // namespace

Pair exp_pair_of_rest(const ExpArgument& argument) {
    using namespace coefficients;
    const bool single = is_float32(argument.rest);
    const Expr small = above_linear(argument, single ? std::span<const double>(exp_float32)
                                                     : std::span<const double>(exp_float64));
    const Expr linear = argument.rest + 1.0;
    const Expr lost = (1.0 - linear) + argument.rest;
    return fast_two_sum(linear, lost + small);
}

Expr exp_of_rest(const ExpArgument& argument) { return exp_pair_of_rest(argument).high; }

Expr expm1_of_rest(const ExpArgument& argument) {
    using namespace coefficients;
    const bool single = is_float32(argument.rest);
    return argument.rest + above_linear(argument, single ? std::span<const double>(expm1_float32)
                                                         : std::span<const double>(expm1_float64));
}

Expr divide_closely(const Pair& a, const Pair& b) {
    const Expr reciprocal = (1.0 / b.high).named("reciprocal");
    const Expr quotient = (a.high * reciprocal).named("quotient");
    const Expr remainder = fma(-quotient, b.high, a.high).named("remainder");
    return fma(fma(-quotient, b.low, remainder + a.low), reciprocal, quotient);
}

}  // namespace parts

namespace {

using namespace parts;

// Beyond these exp is surely 0 or inf; between them the exponent of two stays in the range of
// `scale`.
double lowest_argument(const Expr& x) { return is_float32(x) ? -104.0 : -746.0; }
double highest_argument(const Expr& x) { return is_float32(x) ? 89.0 : 710.0; }

}  // namespace

namespace {

// exp(x) = (1 + above) * 2^k, for k in the low bits of `shifted` above those of `shift`.
struct Exponential {
    Expr above, shifted;
};

Exponential exponential(const Expr& bounded, double shift) {
    using namespace coefficients;
    const Ln2 ln2 = ln2_of(bounded);
    const Expr shifted = fma(bounded, 0x1.71547652b82fep+0, shift).named("shifted");
    const Expr exponent = (shifted - shift).named("exponent");
    const Expr rest = fma(exponent, -ln2.low, fma(exponent, -ln2.high, bounded)).named("rest");
    const Expr curved =
        polynomial(rest, is_float32(bounded) ? std::span<const double>(exp_float32)
                                             : std::span<const double>(exp_float64));
    return {fma(rest * rest, curved, rest), shifted};
}

}  // namespace

Expr exp_of(const Expr& x) {
    require_float("exp", x);
    const Expr bounded =
        at_least(at_most(x, highest_argument(x)), lowest_argument(x)).named("bounded");
    const Exponential found = exponential(bounded, scale_shift(x));
    return scale_by_shifted(found.above + 1.0, found.shifted);
}

Expr exp2_of(const Expr& x) {
    require_float("exp2", x);
    const bool single = is_float32(x);
    const Expr bounded =
        at_least(at_most(x, single ? 129.0 : 1025.0), single ? -151.0 : -1076.0).named("bounded");
    const double shift = rounding_shift(x);
    const Expr exponent = ((bounded + shift) - shift).named("exponent");
    // The difference is exact; so is its product with ln(2) but for one rounding.
    const Expr fraction = (bounded - exponent).named("fraction");
    const Ln2 ln2 = ln2_of(x);
    const Expr rest = (fraction * ln2.high).named("rest");
    const Expr rest_low = fma(fraction, ln2.low, fma(fraction, ln2.high, -rest)).named("rest_low");
    return scale(exp_of_rest({rest, rest_low, exponent, Expr()}), exponent);
}

Expr expm1_of(const Expr& x) {
    require_float("expm1", x);
    const bool single = is_float32(x);
    const Expr bounded =
        at_least(at_most(x, highest_argument(x)), single ? -18.0 : -40.0).named("bounded");
    const ExpArgument argument = reduce_exp(bounded);
    // Half of 2^k, as 2^k itself may overflow where the result does not.
    const Expr half_power = power_of_two(argument.shifted - 1.0).named("half_power");
    const Expr half = fma(half_power, expm1_of_rest(argument), half_power - 0.5);
    // The result is x below half an ulp of 1, to the sign of zero and the last bit of subnormals.
    return select(absolute(x) < (single ? 0x1p-25 : 0x1p-54), x, half + half);
}

namespace {

// exp(-|x|) = power * 2^exponent, and 1 + exp(-|x|).
struct Logistic {
    Expr power;
    Expr exponent;
    Pair denominator;
};

Logistic logistic(const Expr& x, double lowest) {
    const ExpArgument argument = reduce_exp(at_least(-absolute(x), lowest));
    const Expr power = exp_of_rest(argument).named("power");
    // Where 2^exponent would be subnormal, the sum is 1 all the same.
    const Expr shifted = at_least(argument.shifted, exponent_shift(x) - 100.0);
    const Expr e = (power * power_of_two(shifted)).named("e");
    return {power, argument.exponent, fast_two_sum(constant_like(x, 1.0), e)};
}

}  // namespace

Expr sigmoid_of(const Expr& x) {
    require_float("sigmoid", x);
    // 1 / (1 + e) on the right, e / (1 + e) on the left: e = exp(-|x|) cannot overflow. Its power
    // of two is taken so much higher that it is normal, the other factor lower: the product alone
    // can round.
    const int higher = mantissa_bits(x) + 2;
    const double lower = std::ldexp(1.0, -higher);
    const Expr bounded = at_least(-absolute(x), lowest_argument(x)).named("bounded");
    const Exponential found = exponential(bounded, exponent_shift(x) + higher);
    const Expr e = (fma(found.above, lower, lower) * power_of_two(found.shifted)).named("e");
    const Pair denominator = fast_two_sum(constant_like(x, 1.0), e);
    const Expr quotient = (select(x < 0.0, e, 1.0) / denominator.high).named("quotient");
    // Less what the denominator lost, times its reciprocal, of which few digits are needed.
    const Expr reciprocal = fma(denominator.high, -0.5, 1.457);
    return fma(-(quotient * denominator.low), reciprocal, quotient);
}

Expr silu_of(const Expr& x) {
    require_float("silu", x);
    const double lowest = is_float32(x) ? -112.0 : -760.0;
    const Logistic parts = logistic(x, lowest);
    const Expr bounded = at_least(x, lowest);
    const Pair numerator = choose(x < 0.0, two_product(bounded, parts.power), exact(x));
    const Expr exponent = select(x < 0.0, parts.exponent, 0.0);
    // Scaling comes last: e may be subnormal where x e is not.
    const Expr inside = scale(divide_closely(numerator, parts.denominator), exponent);
    return select(x > 40.0, x, copysign(inside, x));
}

}  // namespace composit::ir::scalar
