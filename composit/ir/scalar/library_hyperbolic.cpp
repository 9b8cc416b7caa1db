// Hyperbolic functions from exp(x) - 1, and their inverses from log(1 + x).
#include "composit/ir/scalar/library.h"
#include "composit/ir/scalar/library_coefficients.h"
#include "composit/ir/scalar/library_cores.h"

namespace composit::ir::scalar {
namespace {

using namespace parts;

constexpr double ln2 = 0x1.62e42fefa39efp-1;
constexpr double large = 0x1p54;  // where 1 + x^2 is x^2
constexpr double near_zero_of_tanh = 0.625;

// sinh and cosh overflow beyond this, and exp(x) / 4 does not yet.
constexpr double highest = 710.6;

Expr sinh_of_float64(const Expr& x) {
    const ExpArgument argument = reduce_exp(at_most(absolute(x), highest));
    // (exp(|x|) - 1) / 4: exp(|x|) itself may overflow where sinh does not.
    const Expr power = power_of_two(argument.shifted - 2.0).named("power");
    const Expr quarter = fma(power, expm1_of_rest(argument), power - 0.25).named("quarter");
    const Expr sinh = (quarter + quarter) + 0.5 * (quarter / (quarter + 0.25));
    return select(absolute(x) < 0x1p-28, x, copysign(sinh, x));
}

Expr cosh_of_float64(const Expr& x) {
    const ExpArgument argument = reduce_exp(at_most(absolute(x), highest));
    const Expr quarter =
        (exp_of_rest(argument) * power_of_two(argument.shifted - 2.0)).named("quarter");
    return (quarter + quarter) + 0.125 / quarter;
}

Expr arcsinh_of_float64(const Expr& x) {
    const Expr a = absolute(x).named("a");
    const Expr square = a * a;
    const Expr near = a + square / (square_root(square + 1.0) + 1.0);
    const Expr is_large = a > large;
    const Expr inside =
        log1p_inside(select(is_large, a, near)) + select(is_large, constant_like(x, ln2), 0.0);
    return copysign(select(a < infinity, inside, a), x);
}

Expr arccosh_of_float64(const Expr& x) {
    const Expr t = (x - 1.0).named("t");
    const Expr is_large = x > large;
    const Expr near = t + square_root(t * (t + 2.0));
    const Expr inside =
        log1p_inside(select(is_large, x, near)) + select(is_large, constant_like(x, ln2), 0.0);
    const Expr one = constant_like(x, 1.0);
    return select(x < infinity, inside * select(x >= 1.0, one, signaling_nan(x)), x);
}

Expr arctanh_of_float64(const Expr& x) {
    const Expr a = absolute(x).named("a");
    const Expr half = select(a < 1.0, constant_like(x, 0.5), signaling_nan(x));
    const Expr inside = (log1p_inside((a + a) / (1.0 - a)) * half).named("inside");
    const Expr limit = select(equal(a, 1.0), infinity, constant_like(x, not_a_number));
    return copysign(select(equal(inside, inside), inside, limit), x);
}

}  // namespace

namespace {

// 1 - 2 / (exp(2 |x|) + 1), which forgives what exp makes of its error, but near 0, where tanh is a
// polynomial.
Expr tanh_of_float32(const Expr& x) {
    using namespace coefficients;
    const Expr a = magnitude_at_most(x, 10.0).named("a");  // where tanh has long been 1
    const Expr shifted = fma(a, 2 / ln2, exponent_shift(x)).named("shifted");
    const Expr exponent = (shifted - exponent_shift(x)).named("exponent");
    const Expr rest = fma(exponent, -ln2 / 2, a).named("rest");
    // exp(2 rest): the powers of two are exact.
    std::vector<double> power = {1.0, 2.0};
    for (const double c : exp_float32)
        power.push_back(std::ldexp(c, static_cast<int>(power.size())));
    const Expr sum = fma(polynomial(rest, power), power_of_two(shifted), 1.0).named("sum");
    const Expr magnitude = absolute(x).named("magnitude");
    const Expr z = (x * x).named("z");
    const Expr near = fma(magnitude * z, polynomial(z, tanh_float32), magnitude);
    const Expr far = 1.0 - 2.0 / sum;
    return copysign(select(magnitude > near_zero_of_tanh, far, near), x);
}

}  // namespace

Expr tanh_of(const Expr& x) {
    require_float("tanh", x);
    if (is_float32(x)) return tanh_of_float32(x);
    // With e = exp(2 |x|) - 1, tanh is e / (e + 2); beyond the bound it rounds to 1.
    const Expr a = at_most(absolute(x), 19.1);
    const ExpArgument argument = reduce_exp(a + a);
    const Expr power = power_of_two(argument.shifted).named("power");
    const Expr e = fma(power, expm1_of_rest(argument), power - 1.0).named("e");
    return copysign(divide_closely(exact(e), fast_two_sum(constant_like(x, 2.0), e)), x);
}

Expr sinh_of(const Expr& x) {
    require_float("sinh", x);
    return Expr::cast(sinh_of_float64(to_float64(x)), x.dtype());
}

Expr cosh_of(const Expr& x) {
    require_float("cosh", x);
    return Expr::cast(cosh_of_float64(to_float64(x)), x.dtype());
}

Expr arcsinh_of(const Expr& x) {
    require_float("arcsinh", x);
    return Expr::cast(arcsinh_of_float64(to_float64(x)), x.dtype());
}

Expr arccosh_of(const Expr& x) {
    require_float("arccosh", x);
    return Expr::cast(arccosh_of_float64(to_float64(x)), x.dtype());
}

Expr arctanh_of(const Expr& x) {
    require_float("arctanh", x);
    return Expr::cast(arctanh_of_float64(to_float64(x)), x.dtype());
}

}  // namespace composit::ir::scalar
