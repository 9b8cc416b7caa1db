// log(exp(x) + exp(y)) and the same to base 2, with exponentials of twice the precision, as the
// larger operand may cancel the logarithm.
#include "composit/ir/scalar/library.h"
#include "composit/ir/scalar/library_cores.h"
#include "composit/ir/scalar/library_exponential_table.h"

#include <iterator>

namespace composit::ir::scalar {
namespace {

using namespace parts;

constexpr double steps = 32.0;

// c + x where |x| is below |c|.
Pair add_smaller(const Pair& c, const Pair& x) {
    const Pair sum = fast_two_sum(c.high, x.high);
    return fast_two_sum(sum.high, sum.low + (c.low + x.low));
}

// Part 0 or 1 of exp(step / 32) - 1.
Expr expm1_of_step(const Expr& step, int part) {
    std::vector<double> column;
    for (const double (&entry)[2] : coefficients::expm1_table) column.push_back(entry[part]);
    return table_entry(std::move(column), low_bits(step - coefficients::expm1_table_first));
}

// exp(x) - 1 for -1.42 <= x <= 0.36, relative error about 2^-103: x = j / 32 + r, the series of
// exp(r) - 1 with its first terms as pairs, and exp(j / 32) - 1 from a table.
Pair expm1_pair(const Pair& x) {
    using coefficients::exp_series;
    constexpr size_t terms = std::size(exp_series);
    constexpr size_t pairs = 6;
    const double shift = rounding_shift(x.high);
    const Expr step = ((x.high * steps + shift) - shift).named("step");
    const Pair r = fast_two_sum(fma(step, -1.0 / steps, x.high), x.low);
    Expr tail = constant_like(x.high, exp_series[terms - 1][0]);
    for (size_t i = terms - 1; i-- > pairs;) tail = fma(tail, r.high, exp_series[i][0]);
    Pair sum = exact(tail);
    for (size_t i = pairs; i-- > 0;)
        sum = add_smaller(constant_pair(x.high, exp_series[i][0], exp_series[i][1]),
                          multiply(sum, r));
    const Pair small = add_smaller(r, multiply(multiply(r, r), sum));
    const Pair large = {expm1_of_step(step, 0), expm1_of_step(step, 1)};
    return add(large, add(small, multiply(large, small)));
}

Pair scaled(const Pair& x, double factor) { return {x.high * factor, x.low * factor}; }

// x where the condition holds, 0 elsewhere; chosen by its bits, as table_entry asks for.
Expr where(const Expr& condition, const Expr& x) {
    const Expr zero = Expr::constant_integer(DType::uint64, 0);
    return float_of_bits(bits_of_float(x) & (zero - Expr::cast(condition, DType::uint64)));
}

// x = exponent + rest, the exponent integral, in units of log(base); the rest times log(base).
struct PairArgument {
    Expr exponent;
    Pair rest;
};

Pair ln2_like(const Expr& x) {
    return constant_pair(x, 0x1.62e42fefa39efp-1, 0x1.abc9e3b39803fp-56);
}

PairArgument reduce_pair(const Pair& x, bool is_base_two) {
    using coefficients::ln2_parts;
    const double shift = rounding_shift(x.high);
    const Expr quotient = is_base_two ? x.high : x.high * 0x1.71547652b82fep+0;
    const Expr k = ((quotient + shift) - shift).named("k");
    if (is_base_two) return {k, multiply(ln2_like(k), fast_two_sum(x.high - k, x.low))};
    Pair rest = two_sum(fma(k, -ln2_parts[0], x.high), k * -ln2_parts[1]);
    rest.low = rest.low + (x.low + k * -ln2_parts[2]);
    return {k, fast_two_sum(rest.high, rest.low)};
}

// base^x - 1 for -2 <= x <= 0 (-1.4 to base e). To base 2 it is exact for integers.
Pair power_less_one(const Expr& x, bool is_base_two) {
    if (!is_base_two) return expm1_pair(exact(x));
    const PairArgument argument = reduce_pair(exact(x), is_base_two);
    const Expr power = power_of_two(argument.exponent + exponent_shift(x)).named("power");
    const Pair fraction = expm1_pair(argument.rest);
    return add(exact(power - 1.0), Pair{fraction.high * power, fraction.low * power});
}

// log(base^x + base^y) to that base: larger + log(1 + base^(smaller - larger)). Where the larger
// operand is negative and would cancel the logarithm, log(1 + ((base^larger - 1) + base^smaller)),
// with what cancels held as pairs, far from underflow. One text serves both: with 0 for `larger` in
// the second, or for the term before the logarithm.
Expr log_of_sum(const Expr& x, const Expr& y, bool is_base_two) {
    constexpr double lift = 200;
    const Expr larger = select(x > y, x, y).named("larger");
    const Expr smaller = select(x > y, y, x).named("smaller");
    // `larger` is either inside the logarithm, from about -1.4 (to base 2: -2) to 0, or outside.
    // Its bits choose: where compilers see a condition they look nothing up in vectors.
    const double middle = is_base_two ? 1.0 : 0.7;
    const Expr is_inside = (absolute(larger + middle) <= middle).named("is_inside");
    const Expr inside = where(is_inside, larger).named("inside");
    const Expr outside = where(~is_inside, larger).named("outside");
    // NaN is always the smaller one.
    const Expr before = select(equal(smaller, smaller), outside, smaller);
    const Pair distance = two_sum(smaller, -outside);
    // The difference of infinities is NaN, that of one and a number has a low part that is.
    const Expr is_close = (distance.high > -1100.0).named("is_close");
    const PairArgument argument =
        reduce_pair({where(is_close, distance.high), where(is_close, distance.low)}, is_base_two);
    const Pair power = add_smaller(exact(constant_like(x, 1.0)), expm1_pair(argument.rest));
    const Pair less_one = power_less_one(inside, is_base_two);
    const Expr n = select(is_close, argument.exponent + lift, -2000.0);
    const Pair sum = add(scaled(less_one, std::ldexp(1.0, lift)),
                         Pair{scale(power.high, n), scale(power.low, n)});
    const Expr log = log1p_inside(scaled(sum, std::ldexp(1.0, -lift)));
    if (!is_base_two) return before + log;
    return fma(log, 0x1.71547652b82fep+0, before + log * 0x1.777d0ffda0d24p-56);
}

}  // namespace

Expr logaddexp_of(const Expr& x, const Expr& y) {
    require_float("logaddexp", x);
    return Expr::cast(log_of_sum(to_float64(x), to_float64(y), false), x.dtype());
}

Expr logaddexp2_of(const Expr& x, const Expr& y) {
    require_float("logaddexp2", x);
    return Expr::cast(log_of_sum(to_float64(x), to_float64(y), true), x.dtype());
}

}  // namespace composit::ir::scalar
