// The error function, its complement and the exact gelu, whose float32 has a file of its own.
//
// Near 0 erf is a polynomial. Elsewhere erfc(x) = exp(-x^2) g(x), where (x + 4) g(x) is smooth in x
// / (x + 4) up to infinity (the change of variable of Schonfelder, 1978) and exp takes x^2 with the
// part that its rounding loses.
#include "composit/ir/scalar/library.h"
#include "composit/ir/scalar/library_coefficients.h"
#include "composit/ir/scalar/library_cores.h"

namespace composit::ir::scalar {
namespace {

using namespace parts;

constexpr double near_zero = 0.9;   // the polynomials of erf end here
constexpr double erfc_shift = 4.0;  // the number that is added to x, see coefficients

// -x^2 * factor, exactly; factor is 1 or 1/2.
Pair negative_square(const Expr& x, double factor) {
    const Pair square = two_product(x, x);
    return {square.high * -factor, square.low * -factor};
}

// A number that is still to be multiplied by 2^exponent.
struct Scaled {
    Expr value;
    Expr exponent;
};
struct ScaledPair {
    Pair value;
    Expr exponent;
};

// exp(power) times the polynomial in w, both with what their last roundings lose.
ScaledPair exp_times_polynomial(const Pair& power, const Expr& w, std::span<const double> c) {
    const ExpArgument argument = reduce_exp(power);
    const Pair p = exp_pair_of_rest(argument);
    const Expr rest = polynomial(w, c.subspan(1));
    const Expr smooth = fma(w, rest, c[0]).named("smooth");
    const Expr smooth_low = fma(w, rest, c[0] - smooth);
    const Pair product = two_product(p.high, smooth);
    const Expr low = fma(p.low, smooth, fma(p.high, smooth_low, product.low));
    return {{product.high, low}, argument.exponent};
}

// erfc(x) for 0 <= x <= 27.7, float64.
Scaled erfc_of_positive(const Expr& x) {
    // u = 1 / (x + shift). Both its own rounding and that of the sum are in `residual`; the factor,
    // d log(g) / d log(u) within a tenth, tells what they do to the result.
    const Expr sum = (x + erfc_shift).named("sum");
    const Expr lost = x - (sum - erfc_shift);
    const Expr u = (1.0 / sum).named("u");
    const Expr residual = fma(-u, lost, fma(-u, sum, 1.0));
    const Expr factor = fma(u * u, 3.5 * erfc_shift * erfc_shift, 1.0);
    const Expr w = fma(u, -2.0 * erfc_shift, 1.0).named("w");
    const ScaledPair tail =
        exp_times_polynomial(negative_square(x, 1.0), w, coefficients::erfc_float64);
    const Expr correction = fma(factor * residual, tail.value.high, tail.value.low);
    return {fma(u, tail.value.high, u * correction), tail.exponent};
}

// Of x >= 0, for Phi, the normal distribution, and its density phi; float64.
struct NormalTail {
    Expr bounded;  // x
    Expr v, rest;  // x / (x + shift) and 1 - v
    double shift;
    Expr residual;    // of v: what its rounding and that of the sum lose, times rest / shift
    ScaledPair tail;  // exp(-x^2 / 2) g, g = (x + shift) exp(x^2 / 2) Phi(-x)
    Expr power;       // exp(-x^2 / 2), to be multiplied by 2^tail.exponent
};

NormalTail normal_tail(const Expr& x) {
    constexpr double shift = 5.5;
    const Expr bounded = at_most(x, 39.0).named("bounded");
    const Expr sum = (bounded + shift).named("sum");
    const Expr lost = bounded - (sum - shift);
    const Expr v = (bounded / sum).named("v");
    const Expr rest = (1.0 - v).named("rest");
    const Expr residual = fma(-v, lost, fma(-v, sum, bounded)) * (rest * (1.0 / shift));
    const Expr w = fma(v, 2.0, -0.875).named("w");
    const Pair power = negative_square(bounded, 0.5);
    const ScaledPair tail = exp_times_polynomial(power, w, coefficients::normal_tail_float64);
    return {bounded, v, rest, shift, residual, tail, exp_pair_of_rest(reduce_exp(power)).high};
}

// x Phi(-x) for x >= 0.
Expr weighted_normal_tail(const Expr& x) {
    const NormalTail of = normal_tail(x);
    // d log(v g) / d log(v) is about (1 - v)^3.
    const Expr correction = fma(of.residual * (of.rest * of.rest * of.rest), of.tail.value.high,
                                of.v * of.tail.value.low);
    return scale(fma(of.v, of.tail.value.high, correction), of.tail.exponent);
}

// Phi(-x) - x phi(x) for x >= 0, to the accuracy of Phi(-x): 1 / (x + shift) is (1 - v) / shift.
Expr slope_of_normal_tail(const Expr& x) {
    constexpr double density_at_0 = 0x1.9884533d43651p-2;
    const NormalTail of = normal_tail(x);
    const Expr upper = of.tail.value.high * (of.rest * (1.0 / of.shift));
    return scale(fma(of.bounded * -density_at_0, of.power, upper), of.tail.exponent);
}

Expr erfc_of_float64(const Expr& x) {
    const Scaled tail = erfc_of_positive(at_most(absolute(x), 27.7));
    const Expr positive = scale(tail.value, tail.exponent).named("positive");
    return select(x < 0.0, 2.0 - positive, positive);
}

}  // namespace

Expr erf_of(const Expr& x) {
    require_float("erf", x);
    const bool single = is_float32(x);
    const Expr a = absolute(x).named("a");
    const Expr z = (x * x).named("z");
    const Expr near = single ? polynomial(z, coefficients::erf_float32)
                             : polynomial(z, coefficients::erf_float64);
    Expr far;
    if (single) {
        // log2(1 - erf) is nearly quadratic, and near 1 erf forgives what the power makes of its
        // error.
        const Expr power = polynomial(at_most(a, 3.95), coefficients::erf_tail_float32);
        const Expr shifted = (power + exponent_shift(x)).named("shifted");
        const Expr r = (power - (shifted - exponent_shift(x))).named("r");
        const Expr fraction = fma(polynomial(r, coefficients::exp2_float32), r, 1.0);
        far = fma(-fraction, power_of_two(shifted), 1.0);
    } else {
        const Scaled scaled = erfc_of_positive(at_most(a, 6.0));
        far = 1.0 - scaled.value * power_of_two(scaled.exponent + exponent_shift(x));
    }
    return select(a < near_zero, fma(x, near, x), copysign(far, x));
}

Expr erfc_of(const Expr& x) {
    require_float("erfc", x);
    return Expr::cast(erfc_of_float64(to_float64(x)), x.dtype());
}

Expr gelu_slope_of(const Expr& x) {
    require_float("gelu_slope", x);
    if (is_float32(x)) return gelu_slope_of_float32(x);
    const Expr tail = slope_of_normal_tail(absolute(x)).named("tail");
    return select(x < 0.0, tail, 1.0 - tail);
}

Expr gelu_of(const Expr& x) {
    require_float("gelu", x);
    if (is_float32(x)) return gelu_of_float32(x);
    const Expr tail = weighted_normal_tail(absolute(x)).named("tail");
    return select(x >= 0.0, x, -0.0) - tail;
}

}  // namespace composit::ir::scalar
