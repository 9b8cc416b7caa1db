// The exact gelu in float32, and its derivative; a = |x|, Phi is the normal distribution.
//
// gelu(x) = max(x, 0) - a Phi(-a). The fourth root of 1 / (2 Phi(-a)) is a polynomial to the
// accuracy that a sum with max(x, 0) needs, an idea of Hastings (1955). What it has above 1 is
// raised to the fourth power as such, so that roundings hardly count where Phi is near 1/2.
// Polynomials that left a negative argument's result all its digits (it is nearly 0) took 1.5 times
// as long: it has the error of a number near -1/4.
//
// The derivative has Phi(-a) = exp(-a^2 / 2) m(a), m being smooth. Polynomials of degree 7 in
// u = (a - center) / (a + shift) give 4 m(a) - 1 for a below a bound and 4 a m(a) - 1 above it:
// numbers of which the roundings hardly count, and factors a and 1 that are exact. They do not wait
// for the exponential, nor it for them: what processors can compute beside each other decides on
// the speed of a loop as long as this one.
#include "composit/ir/scalar/library_coefficients.h"
#include "composit/ir/scalar/library_cores.h"

namespace composit::ir::scalar::parts {
namespace {

// Those that library_coefficients.h states.
constexpr double near_end = 1.375;
constexpr double farthest = 14.6;  // below -farthest gelu and its derivative round to 0
constexpr double shift = 2.25, near_center = 0.5, far_center = 2.0;

constexpr double twice_ln2 = 0x1.62e43p+0, twice_ln2_low = -0x1.05c61p-28;
constexpr double half_log2_of_e = 0x1.715476p-1;
constexpr double density_at_0 = 0x1.9884533d43651p-2;

// Powers of two are larger by 2^64, so that they are normal numbers where gelu is subnormal.
constexpr int head_room = 64;

// Of a = |x|: Phi(-a) = 2^-66 power (1 + growth) (1 + factor) / divisor, divisor being 1 where
// is_near, else a.
struct NormalTail {
    Expr a, is_near, factor, power, growth;
};

// The one that holds for this a.
Expr coefficient(const NormalTail& of, double near, double far) {
    return select(of.is_near, constant_like(of.a, near), far);
}

// The polynomial in pairs of terms, so that few operations wait for each other.
Expr factor_of(const NormalTail& of) {
    const auto pair = [&of](size_t i, const Expr& u) {
        using namespace coefficients;
        return fma(coefficient(of, gelu_near_float32[i + 1], gelu_far_float32[i + 1]), u,
                   coefficient(of, gelu_near_float32[i], gelu_far_float32[i]));
    };
    const Expr center = coefficient(of, near_center, far_center).named("center");
    const Expr u = ((of.a - center) / (of.a + shift)).named("u");
    const Expr square = u * u;
    const Expr curved = fma(fma(pair(6, u), square, pair(4, u)), square, pair(2, u));
    return fma(curved, square, pair(0, u)).named("factor");
}

NormalTail normal_tail(const Expr& x) {
    NormalTail of;
    of.a = magnitude_at_most(x, farthest).named("a");
    of.is_near = (of.a < near_end).named("is_near");
    of.factor = factor_of(of);
    // a^2 = -2 ln(2) n + rest, with what the rounding of a^2 loses.
    const Expr square = (of.a * of.a).named("square");
    const double rounding = exponent_shift(x) + head_room;
    const Expr shifted = fma(square, -half_log2_of_e, rounding).named("shifted");
    const Expr exponent = shifted - rounding;
    const Expr rest = (fma(exponent, twice_ln2, square) + fma(of.a, of.a, -square)).named("rest");
    of.power = power_of_two(shifted);
    // exp(-rest / 2) - 1
    of.growth = (polynomial(rest, coefficients::gelu_exp_float32) * rest).named("growth");
    return of;
}

}  // namespace

Expr gelu_of_float32(const Expr& x) {
    // The divisor is 2 root^4 scale^4, finite for a <= bound; below -bound gelu rounds to -0.
    constexpr double scale = 0x1p-16, scale_2 = scale * scale, scale_4 = scale_2 * scale_2;
    constexpr double bound = 48;
    const Expr a = magnitude_at_most(x, bound).named("a");
    const Expr square = (a * a).named("square");
    const Expr fourth = (square * square).named("fourth");
    // In parts of four terms, so that few operations wait for each other.
    const auto part = [&a, &square](size_t i) {
        const auto& c = coefficients::gelu_root_float32;
        const auto pair = [&](size_t k) {
            return fma(constant_like(a, c[k + 1] * scale), a, c[k] * scale);
        };
        return fma(pair(i + 2), square, pair(i));
    };
    const Expr slope = fma(fma(part(8), fourth, part(4)), fourth, part(0)).named("slope");
    const Expr above = (a * slope).named("root_less_1");
    const Expr second = fma(above, above, above * (2 * scale)).named("square_less_1");
    const Expr sum = second + 2 * scale_2;
    const Expr divisor = fma(second, sum + sum, 2 * scale_4).named("divisor");
    // NaN comes from x itself, as do zeros with their sign.
    return fma(a / divisor, -scale_4, at_least(x, -0.0));
}

// Phi(-a) - a phi(a) for x < 0, else what it lacks to 1.
Expr gelu_slope_of_float32(const Expr& x) {
    const NormalTail of = normal_tail(x);
    const Expr ratio = (of.factor + 1.0) / select(of.is_near, constant_like(x, 1.0), of.a);
    // -4 phi(0) as float32 has it, and a small rest: what that lacks, and that the power counts in
    // steps of ln(2) as float32 has it, which only the factor makes up for.
    constexpr auto density = static_cast<double>(static_cast<float>(-4.0 * density_at_0));
    constexpr double density_low = -4.0 * density_at_0 - density;
    constexpr double steps = -2.0 * density_at_0 * (twice_ln2_low / twice_ln2);
    const Expr low = fma(of.a * of.a, steps, density_low).named("density_low");
    const Expr difference = fma(of.a, density, fma(of.a, low, ratio));
    const Expr leading = (difference * of.power).named("leading");
    const Expr tail = fma(leading, of.growth, leading).named("tail");
    const double unit = std::ldexp(1.0, -head_room - 2);
    const Expr is_negative = x < 0.0;
    const Expr limit =
        select(is_negative, constant_like(x, 0.0), select(x >= 0.0, constant_like(x, 1.0), x));
    return fma(tail, select(is_negative, constant_like(x, unit), -unit), limit);
}

}  // namespace composit::ir::scalar::parts
