// log(exp(x) + exp(y)) and the same to base 2. The larger operand may cancel the logarithm, in
// float64 down to 2^-107 of the smaller exponential: exponentials have three times the precision
// there, in float32 twice that of float64.
//
// Sums of two and three are those of Dekker and Knuth without renormalising, so that their chains
// are short: a part may be a few ulp of the one before, and the last part holds whatever is left.
#include "composit/ir/scalar/library.h"
#include "composit/ir/scalar/library_cores.h"
#include "composit/ir/scalar/library_exponential_table.h"

#include <iterator>

namespace composit::ir::scalar {
namespace {

using namespace parts;
using coefficients::exp_series;
using coefficients::ln2_parts;
using coefficients::ln2_steps;
using Coefficient = double[3];

constexpr double steps = 128.0;

struct Triple {
    Expr high, middle, low;
};

Pair scaled(const Pair& x, const Expr& factor) { return {x.high * factor, x.low * factor}; }

Triple scaled(const Triple& x, const Expr& factor) {
    return {x.high * factor, x.middle * factor, x.low * factor};
}

// a + b where |a.high| >= |b.high|, or a is 0.
Pair add_smaller(const Pair& a, const Pair& b) {
    const Pair sum = fast_two_sum(a.high, b.high);
    return {sum.high, sum.low + (a.low + b.low)};
}

Triple add_smaller(const Triple& a, const Triple& b) {
    const Pair sum = fast_two_sum(a.high, b.high);
    const Pair one = two_sum(sum.low, a.middle), both = two_sum(one.high, b.middle);
    return {sum.high, both.high, (one.low + both.low) + (a.low + b.low)};
}

// a + b with a low part below an ulp, also where the first parts cancel.
Pair normalised_sum(const Pair& a, const Pair& b) {
    const Pair sum = two_sum(a.high, b.high);
    return two_sum(sum.high, sum.low + (a.low + b.low));
}

Pair normalised_sum(const Triple& a, const Triple& b) {
    const Pair sum = two_sum(a.high, b.high), middle = two_sum(a.middle, b.middle);
    const Pair rest = two_sum(sum.low, middle.high);
    const Expr low = (middle.low + rest.low) + (a.low + b.low);
    const Pair first = two_sum(sum.high, rest.high);
    return two_sum(first.high, first.low + low);
}

Pair product(const Pair& a, const Pair& b) {
    const Pair high = two_product(a.high, b.high);
    return {high.high, fma(a.high, b.low, fma(a.low, b.high, high.low))};
}

Triple product(const Triple& a, const Triple& b) {
    const Pair high = two_product(a.high, b.high);
    const Pair one = two_product(a.high, b.middle), other = two_product(a.middle, b.high);
    const Expr low =
        fma(a.high, b.low, fma(a.middle, b.middle, fma(a.low, b.high, one.low + other.low)));
    const Pair sum = two_sum(high.low, one.high), both = two_sum(sum.high, other.high);
    return {high.high, both.high, low + (sum.low + both.low)};
}

// c + x * r where |c[0]| is above |x.high * r|.
Pair next_term(const Pair& x, const Expr& r, const Coefficient& c) {
    const Pair high = two_product(x.high, r);
    const Expr sum = c[0] + high.high;
    return {sum, fma(x.low, r, high.low) + ((high.high - (sum - c[0])) + c[1])};
}

Triple next_term(const Triple& x, const Expr& r, const Coefficient& c) {
    const Pair high = two_product(x.high, r), middle = two_product(x.middle, r);
    const Expr sum = c[0] + high.high;
    const Pair one = two_sum(high.high - (sum - c[0]), high.low);
    const Pair other = two_sum(constant_like(r, c[1]), middle.high);
    const Pair both = two_sum(one.high, other.high);
    return {sum, both.high,
            (one.low + other.low) + (both.low + (fma(x.low, r, middle.low) + c[2]))};
}

// r + r^2 * x for |r| <= 1/256 and x about 1/2
Pair begin_series(const Expr& r, const Pair& x) {
    const Pair term = product(two_product(r, r), x), sum = fast_two_sum(r, term.high);
    return {sum.high, sum.low + term.low};
}

Triple begin_series(const Expr& r, const Triple& x) {
    const Pair square = two_product(r, r), high = two_product(square.high, x.high);
    const Pair one = two_product(square.high, x.middle), other = two_product(square.low, x.high);
    const Expr low = fma(square.high, x.low, fma(square.low, x.middle, one.low + other.low));
    const Pair first = fast_two_sum(r, high.high);
    const Pair left = two_sum(first.low, high.low), right = two_sum(one.high, other.high);
    const Pair middle = two_sum(left.high, right.high);
    return {first.high, middle.high, low + ((left.low + right.low) + middle.low)};
}

// 1 / n! + r / (n + 1)! + …, from the term of exp_series with index `first` to that before `last`.
Expr series(const Expr& r, size_t first, size_t last) {
    Expr sum = constant_like(r, exp_series[last - 1][0]);
    for (size_t i = last - 1; i-- > first;) sum = fma(sum, r, exp_series[i][0]);
    return sum;
}

// exp(r) - 1 for |r| <= 1/256: the series, its first terms with two parts, relative error below
// 2^-80; or with three, below 2^-157.
void expm1_of_small(const Expr& r, Pair& result) {
    constexpr size_t terms = 8, pairs = 3;
    Pair sum = exact(series(r, pairs, terms));
    for (size_t i = pairs; i-- > 0;) sum = next_term(sum, r, exp_series[i]);
    result = begin_series(r, sum);
}

void expm1_of_small(const Expr& r, Triple& result) {
    constexpr size_t terms = std::size(exp_series), pairs = 9, triples = 4;
    Pair pair = exact(series(r, pairs, terms));
    for (size_t i = pairs; i-- > triples;) pair = next_term(pair, r, exp_series[i]);
    Triple sum{pair.high, pair.low, constant_like(r, 0.0)};
    for (size_t i = triples; i-- > 0;) sum = next_term(sum, r, exp_series[i]);
    result = begin_series(r, sum);
}

// exp(x + low) - 1 from exp(x) - 1; `low` is below 2^-53.
Pair raised(const Pair& x, const Pair& low) {
    return {x.high, x.low + fma(low.high, x.high, low.high)};
}

Triple raised(const Triple& x, const Pair& low) {
    const Pair term = two_product(low.high, x.high);
    const Pair one = two_sum(x.middle, low.high), both = two_sum(one.high, term.high);
    const Expr factor = fma(0.5 * low.high, x.high + 1.0, x.middle);
    const Expr rest = term.low + fma(low.high, factor, fma(low.low, x.high, low.low));
    return {x.high, both.high, (x.low + (one.low + both.low)) + rest};
}

// exp(step / 128)
Expr exp_of_step(const Expr& step, int part) {
    std::vector<double> column;
    for (const Coefficient& entry : coefficients::exp_table) column.push_back(entry[part]);
    return table_entry(std::move(column), low_bits(step - coefficients::exp_table_first));
}

void exp_of_step(const Expr& step, Pair& result) {
    result = {exp_of_step(step, 0), exp_of_step(step, 1)};
}

void exp_of_step(const Expr& step, Triple& result) {
    result = {exp_of_step(step, 0), exp_of_step(step, 1), exp_of_step(step, 2)};
}

// a - 1 for 0 < a <= 1, exactly where a.high >= 1/2.
Pair less_one(const Pair& a) {
    const Pair high = fast_two_sum(constant_like(a.high, -1.0), a.high);
    return {high.high, a.low + high.low};
}

Triple less_one(const Triple& a) {
    const Pair high = fast_two_sum(constant_like(a.high, -1.0), a.high);
    return {high.high, a.middle + high.low, a.low};
}

// x = exponent + rest in units of log(base), the exponent integral; the rest times log(base) as
// `rest`, in absolute value up to ln(2) / 2 and a little, and a pair below an ulp of it.
struct PowerArgument {
    Expr exponent, rest;
    Pair low;
};

PowerArgument reduce(const Expr& x, bool is_base_two) {
    const double shift = rounding_shift(x);
    const Expr quotient = is_base_two ? x : x * 0x1.71547652b82fep+0;
    const Expr k = ((quotient + shift) - shift).named("k");
    if (is_base_two) {
        const Expr fraction = x - k;
        const Pair first = two_product(fraction, constant_like(x, ln2_parts[0]));
        const Pair second = two_product(fraction, constant_like(x, ln2_parts[1]));
        const Pair low = two_sum(first.low, second.high);
        return {k, first.high, {low.high, low.low + fma(fraction, ln2_parts[2], second.low)}};
    }
    const Pair first = two_sum(fma(k, -ln2_steps[0], x), k * -ln2_steps[1]);
    const Pair third = two_product(k, constant_like(x, -ln2_steps[2]));
    const Pair low = two_sum(first.low, third.high);
    return {k, first.high, {low.high, low.low + fma(k, -ln2_steps[3], third.low)}};
}

// base^x / 2^exponent in two summands, the first from a table with steps of 1/128. Sum is Pair or
// Triple.
template <class Sum>
struct Power {
    Sum first, second;
};

template <class Sum>
Power<Sum> power_of(const PowerArgument& argument) {
    const double shift = rounding_shift(argument.rest);
    const Expr step = ((argument.rest * steps + shift) - shift).named("step");
    Sum first, small;
    exp_of_step(step, first);
    expm1_of_small(fma(step, -1.0 / steps, argument.rest), small);
    return {first, product(first, raised(small, argument.low))};
}

// x where the condition holds, 0 elsewhere; chosen by its bits, as table_entry asks for.
Expr where(const Expr& condition, const Expr& x) {
    const Expr zero = Expr::constant_integer(DType::uint64, 0);
    return float_of_bits(bits_of_float(x) & (zero - Expr::cast(condition, DType::uint64)));
}

// base^x - 1 for -2 <= x <= 0 (-1.4 to base e). To base 2 it is exact for integers.
template <class Sum>
Sum power_less_one(const Expr& x, bool is_base_two) {
    const PowerArgument argument = reduce(x, is_base_two);
    const Expr exponent = power_of_two(argument.exponent + exponent_shift(x)).named("power");
    const Power<Sum> power = power_of<Sum>(argument);
    return add_smaller(less_one(scaled(power.first, exponent)), scaled(power.second, exponent));
}

// log(base^x + base^y) to that base: larger + log(1 + base^(smaller - larger)). Where the larger
// operand is negative and would cancel the logarithm, log(1 + ((base^larger - 1) + base^smaller)),
// with what cancels held as sums, far from underflow. One text serves both: with 0 for `larger`
// in the second, or for the term before the logarithm.
template <class Sum>
Expr log_of_sum(const Expr& x, const Expr& y, bool is_base_two) {
    constexpr double lift = 200, up = 0x1p200, down = 0x1p-200;
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
    // The difference of infinities is NaN, that of one and a number has a low part that is. Below
    // these distances the power is less than half of the least number.
    const Expr is_close = (distance.high > (is_base_two ? -1100.0 : -762.0)).named("is_close");
    PowerArgument argument = reduce(where(is_close, distance.high), is_base_two);
    // Not 0 outside only, where twice the precision is more than enough.
    const Expr lost = where(is_close, distance.low);
    argument.low.high = argument.low.high + (is_base_two ? lost * ln2_parts[0] : lost);
    const Power<Sum> power = power_of<Sum>(argument);
    const Expr exponent =
        where(is_close, power_of_two(argument.exponent + (lift + exponent_shift(x))));
    const Pair sum =
        normalised_sum(scaled(power_less_one<Sum>(inside, is_base_two), constant_like(x, up)),
                       scaled(add_smaller(power.first, power.second), exponent));
    const Expr log = log1p_inside(scaled(sum, constant_like(x, down)));
    if (!is_base_two) return before + log;
    return fma(log, 0x1.71547652b82fep+0, before + log * 0x1.777d0ffda0d24p-56);
}

Expr log_of_sum(const char* function, const Expr& x, const Expr& y, bool is_base_two) {
    require_float(function, x);
    if (!is_float32(x)) return log_of_sum<Triple>(x, y, is_base_two);
    return to_float32(log_of_sum<Pair>(to_float64(x), to_float64(y), is_base_two));
}

}  // namespace

Expr logaddexp_of(const Expr& x, const Expr& y) { return log_of_sum("logaddexp", x, y, false); }

Expr logaddexp2_of(const Expr& x, const Expr& y) { return log_of_sum("logaddexp2", x, y, true); }

}  // namespace composit::ir::scalar
