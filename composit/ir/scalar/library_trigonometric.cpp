// sin, cos and tan of any argument: |x| = (n + f) pi / 2 with |f| <= 1/2, then polynomials in f pi
// / 2.
//
// The reduction is that of Payne and Hanek: only those bits of 2 / pi matter whose product with the
// last bit of x is below 4. In float64 tables hold them by the exponent of x; in float32 all of 2 /
// pi is short enough. Products are exact, through fma or by short factors.
#include "composit/ir/scalar/function.h"
#include "composit/ir/scalar/library.h"
#include "composit/ir/scalar/library_coefficients.h"
#include "composit/ir/scalar/library_cores.h"

#include <algorithm>
#include <array>

namespace composit::ir::scalar {
namespace {

using namespace parts;
using Table = std::shared_ptr<const std::vector<Bits>>;

// 2 / pi = 0.101000101111…, the bits after the point.
constexpr uint64_t two_over_pi[] = {
    0xa2f9836e4e441529, 0xfc2757d1f534ddc0, 0xdb6295993c439041, 0xfe5163abdebbc561,
    0xb7246e3a424dd2e0, 0x06492eea09d1921c, 0xfe1deb1cb129a73e, 0xe88235f52ebb4484,
    0xe99c7026b45f7e41, 0x3991d639835339f4, 0x9c845f8bbdf9283b, 0x1ff897ffde05980f,
    0xef2f118b5a0a6d1f, 0x6d367ecf27cb09b7, 0x4f463f669e5fea2d, 0x7527bac7ebe5f17b,
    0x3d0739f78a5292ea, 0x6bfb5fb11f8d5d08, 0x56033046fc7b6bab, 0xf0cfbc209af4361d};

// Bits first … first + count - 1 after the point of 2 / pi (0 before it), bit i standing for
// 2^(scale - i).
double bits_of_two_over_pi(int first, int count, int scale) {
    double sum = 0;
    for (int i = std::max(first, 1); i < first + count; ++i) {
        const uint64_t word = two_over_pi[(i - 1) / 64];
        if (word >> (63 - (i - 1) % 64) & 1) sum += std::ldexp(1.0, scale - i);
    }
    return sum;
}

// Quadrant, in the low two bits, and what is left of |x|, in radians.
struct Reduced {
    Expr quadrant;
    Pair angle;
};

// ----- float32: |x| / (2 pi) in float64, in turns, without tables

constexpr int window_bits = 29;  // times 24 bits of x: exact
constexpr int windows = 5;       // and the rest of 1 / (2 pi), 53 bits

Reduced reduce_float32_in_float64(const Expr& x) {
    const Expr a = to_float64(absolute(x)).named("a");
    constexpr double to_quarters = 0x1.8p50;  // adding it rounds to a multiple of 1/4
    Expr turns;
    Expr quarters;
    for (int i = 0; i < windows; ++i) {
        // Whole turns go at once, quarters after each sum: so each sum is exact or rounds what
        // stays.
        const Expr part = a * bits_of_two_over_pi(1 + window_bits * i, window_bits, -2);
        const Expr fraction = part - rint(part);
        const Expr sum = i == 0 ? fraction : turns + fraction;
        const Expr quarter = (sum + to_quarters) - to_quarters;
        turns = sum - quarter;
        quarters = i == 0 ? quarter : quarters + quarter;
    }
    const double rest = bits_of_two_over_pi(1 + window_bits * windows, 53, -2);
    const Expr angle = fma(a, rest, turns).named("turns") * 0x1.921fb54442d18p+2;
    return {bits_of_float(fma(quarters, 4.0, rounding_shift(a))), exact(angle)};
}

// ----- float64: the exponent is 32 g + h; the table has rows for g only, and 2^h goes with x

constexpr int exponents_per_row = 32;

Table table_float64(int part) {
    auto table = std::make_shared<std::vector<Bits>>();
    for (int row = 0; row < 2048 / exponents_per_row; ++row) {
        // x = m 2^h 2^scale with an integer m < 2^53; bits above 2 make multiples of 4 quadrants.
        const int scale = row * exponents_per_row - 1075;
        const int first = scale - 1 + 53 * part;
        table->push_back(bits_of(DType::float64, bits_of_two_over_pi(first, 53, scale)));
    }
    return table;
}

// x modulo 4, exact, in [-2, 2].
Expr modulo_4(const Expr& x) { return fma(rint(x * 0.25), -4.0, x); }

Reduced reduce_float64(const Expr& x) {
    static const std::array<Table, 4> tables = {table_float64(0), table_float64(1),
                                                table_float64(2), table_float64(3)};
    const auto integer = [](uint64_t value) {
        return Expr::constant_bits(DType::uint64, {value, 0});
    };
    const Expr a = absolute(x).named("a");
    const Expr bits = bits_of_float(a);
    const Expr row = Expr::cast(bits >> 57, DType::int64).named("row");
    const Expr m = float_of_bits((bits & integer((uint64_t{exponents_per_row} << 52) - 1)) +
                                 integer(1075ull << 52))
                       .named("m");
    std::array<Pair, 4> products;
    for (size_t i = 0; i < 4; ++i)
        products[i] = two_product(m, Expr::lookup(tables[i], DType::float64, row));
    // The first three terms may be large; from the sum of what they leave comes n.
    const Pair first = two_sum(modulo_4(products[0].high), modulo_4(products[0].low));
    const Pair second = two_sum(first.high, modulo_4(products[1].high));
    const double shift = rounding_shift(x);
    const Expr shifted = (second.high + shift).named("shifted");
    const Expr fraction = second.high - (shifted - shift);
    // Terms below 2^-19 each; what is left over from them is below 2^-70.
    const Pair low = two_sum(products[1].low, products[2].high);
    const Pair losses = two_sum(first.low, second.low);
    const Pair sum = two_sum(low.high, losses.high);
    const Pair total = two_sum(fraction, sum.high);
    const Expr tail =
        total.low + (sum.low + ((low.low + losses.low) + (products[2].low + products[3].high)));
    const Pair turns = fast_two_sum(total.high, tail);
    const Expr half_pi =
        select(a < infinity, constant_like(x, 0x1.921fb54442d18p+0), signaling_nan(x));
    const Pair large = multiply(turns, {half_pi, constant_like(x, 0x1.1a62633145c07p-54)});
    return {bits_of_float(shifted), choose(a < 0.5, exact(a), large)};
}

Reduced reduce_wide(const Expr& x) {
    return is_float32(x) ? reduce_float32_in_float64(x) : reduce_float64(x);
}

// In the dtype of x.
Reduced reduce(const Expr& x) {
    const Reduced wide = reduce_wide(x);
    if (!is_float32(x)) return wide;
    return {Expr::cast(wide.quadrant, DType::uint32),
            exact(to_float32(wide.angle.high).named("angle"))};
}

// ----- polynomials, |r| <= pi / 4 and a little

Expr sin_of_angle(const Pair& r) {
    const Expr z = r.high * r.high;
    if (is_float32(z))
        return fma(r.high * z, polynomial(z, coefficients::sin_float32), r.high).named("sin_part");
    const Expr low = r.low * fma(z, -0.5, 1.0);
    return (r.high + fma(r.high * z, polynomial(z, coefficients::sin_float64), low))
        .named("sin_part");
}

Expr cos_of_angle(const Pair& r) {
    const Expr z = r.high * r.high;
    const Expr main = fma(z, -0.5, 1.0);
    if (is_float32(z))
        return fma(z * z, polynomial(z, coefficients::cos_float32), main).named("cos_part");
    const Expr lost = fma(z, -0.5, 1.0 - main);
    const Expr low = fma(-r.high, r.low, lost);
    return (main + fma(z * z, polynomial(z, coefficients::cos_float64), low)).named("cos_part");
}

Expr integer_like(const Expr& x, int64_t value) { return Expr::constant_integer(x.dtype(), value); }

// y with its sign flipped where bit 1 of the quadrant is set.
Expr flip(const Expr& y, const Expr& quadrant) {
    const int to_sign = 8 * size_of(y.dtype()) - 2;
    const Expr sign = (quadrant & integer_like(quadrant, 2)) << to_sign;
    return float_of_bits(bits_of_float(y) ^ sign);
}

Expr is_odd(const Expr& quadrant) {
    return not_equal(quadrant & integer_like(quadrant, 1), integer_like(quadrant, 0));
}

}  // namespace

namespace parts {

Expr absolute_sin_of_pi(const Expr& x) {
    const Expr rest = absolute(x - rint(x)).named("rest");
    const Expr is_near = rest < 0.25;
    const Pair angle = multiply(constant_pair(x, 0x1.921fb54442d18p+1, 0x1.1a62633145c07p-53),
                                select(is_near, rest, 0.5 - rest));
    return select(is_near, sin_of_angle(angle), cos_of_angle(angle));
}

}  // namespace parts

Expr sin_of(const Expr& x) {
    require_float("sin", x);
    const Reduced reduced = reduce(x);
    const Expr magnitude =
        select(is_odd(reduced.quadrant), cos_of_angle(reduced.angle), sin_of_angle(reduced.angle));
    const Expr sign_mask = bits_of_float(constant_like(x, -0.0));
    const Expr sign = bits_of_float(x) & sign_mask;
    return float_of_bits(bits_of_float(flip(magnitude, reduced.quadrant)) ^ sign);
}

Expr cos_of(const Expr& x) {
    require_float("cos", x);
    const Reduced reduced = reduce(x);
    const Expr magnitude =
        select(is_odd(reduced.quadrant), sin_of_angle(reduced.angle), cos_of_angle(reduced.angle));
    return flip(magnitude, reduced.quadrant + integer_like(reduced.quadrant, 1));
}

Expr tan_of(const Expr& x) {
    require_float("tan", x);
    const auto [quadrant, angle] = reduce_wide(x);
    const Expr odd = is_odd(quadrant);
    const Expr sine = sin_of_angle(angle);
    const Expr cosine = cos_of_angle(angle);
    const Expr tangent = select(odd, -cosine, sine) / select(odd, sine, cosine);
    const Expr result = Expr::cast(tangent, x.dtype());
    const Expr sign = bits_of_float(x) & bits_of_float(constant_like(x, -0.0));
    return float_of_bits(bits_of_float(result) ^ sign);
}

}  // namespace composit::ir::scalar
