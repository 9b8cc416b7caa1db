// The table's parts of a float: mantissa and exponent (frexp), fraction and integer (modf).
#include "composit/ir/scalar/library_parts.h"
#include "composit/ir/scalar/table.h"

namespace composit::ir::scalar {
namespace {

using namespace parts;

// Numbers but 0, infinities and NaN, subnormal ones scaled: what the parts are read from.
struct Scaled {
    Expr x;
    Expr is_scaled;
    Expr is_regular;
};

Scaled scaled(const Expr& x) {
    const Expr is_scaled = absolute(x) < smallest_normal(x);
    const double lift = std::ldexp(1.0, mantissa_bits(x) + 1);
    return {select(is_scaled, x * lift, x), is_scaled, not_equal(x, 0) & (absolute(x) < infinity)};
}

Expr integer_like(const Expr& bits, uint64_t value) {
    return Expr::constant_bits(bits.dtype(), {value, 0});
}

uint64_t exponent_mask(const Expr& x) { return 2 * static_cast<uint64_t>(exponent_bias(x)) + 1; }

// x with the exponent of [1/2, 1).
Expr mantissa_of(const Expr& x) {
    const Scaled number = scaled(x);
    const int width = mantissa_bits(x);
    const Expr bits = bits_of_float(number.x);
    const Expr kept = bits & ~integer_like(bits, exponent_mask(x) << width);
    const auto half = static_cast<uint64_t>(exponent_bias(x) - 1) << width;
    return select(number.is_regular, float_of_bits(kept | integer_like(bits, half)), x);
}

// x = mantissa 2^exponent; 0 for 0, infinities and NaN.
Expr exponent_of(const Expr& x) {
    const Scaled number = scaled(x);
    const Expr bits = bits_of_float(number.x);
    const Expr field = (bits >> mantissa_bits(x)) & integer_like(bits, exponent_mask(x));
    const Expr biased = Expr::cast(field, DType::int32);
    const int offset = exponent_bias(x) - 1;
    const Expr lift = select(number.is_scaled,
                             Expr::constant_integer(DType::int32, offset + mantissa_bits(x) + 1),
                             static_cast<double>(offset));
    return select(number.is_regular, biased - lift, 0.0);
}

// Short floats are float32, too.
Expr widened(const Expr& x) { return size_of(x.dtype()) > 2 ? x : Expr::cast(x, DType::float32); }

// x - trunc(x) with the sign of x, 0 at infinities.
Expr fraction_of(const Expr& x) {
    const Expr is_infinite = equal(absolute(x), infinity);
    return copysign(select(is_infinite, 0.0, x - trunc(x)), x);
}

}  // namespace

std::vector<Row> parts_rows() {
    using namespace types;
    return {
        {"frexp_exponent",
         {},
         1,
         exponent,
         {},
         "the exponent e of x = m 2^e with |m| in [1/2, 1); 0 at 0, infinities and NaN",
         [](X x) { return exponent_of(widened(x[0])); },
         {},
         true},
        {"frexp_mantissa",
         {},
         1,
         floating,
         {{0.5625, 0.9375}},
         "m of x = m 2^e with |m| in [1/2, 1); x itself at 0, infinities and NaN",
         [](X x) { return Expr::cast(mantissa_of(widened(x[0])), x[0].dtype()); },
         [](X x, Y) {
             return Exprs{call("ldexp", {one_like(x[0]), -call("frexp_exponent", {x[0]})})};
         }},
        {"modf_fraction",
         {},
         1,
         floating,
         {{0.1, 0.9}},
         "x - trunc(x) with the sign of x; 0 at infinities",
         [](X x) { return fraction_of(x[0]); },
         [](X x, Y) { return Exprs{one_like(x[0])}; }},
        {"modf_integer",
         {},
         1,
         floating,
         {},
         "x rounded towards 0, a float",
         [](X x) { return trunc(x[0]); },
         {},
         true},
    };
}

}  // namespace composit::ir::scalar
