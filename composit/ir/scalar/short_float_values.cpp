// Short floats as integers do it: exact on every processor.
#include "composit/ir/scalar/short_float_values.h"

#include "composit/ir/dtype_traits.h"

#include <cmath>
#include <limits>

namespace composit::ir::scalar {
namespace {

constexpr uint64_t sign_of_float32 = 0x80000000, all_but_sign = 0x7fffffff;

Expr word(uint64_t bits) { return Expr::constant_bits(DType::uint32, {bits, 0}); }
Expr word_of(const Expr& x) { return Expr::bitcast(x, DType::uint32); }
Expr float_of(const Expr& bits) { return Expr::bitcast(bits, DType::float32); }

// float32's bias and mantissa, of which short floats have fewer bits.
constexpr int single_bias = 127, single_mantissa = 23;
constexpr double double_infinity = std::numeric_limits<double>::infinity();

int dropped_bits(const FloatFormat& format) { return single_mantissa - format.mantissa_bits; }
int bits_above(const FloatFormat& format) { return 32 - format.bits(); }
bool has_exponents_of_single(const FloatFormat& format) { return format.bias() == single_bias; }
int lowered_exponent(const FloatFormat& format) { return single_bias - format.bias(); }

// Where float32's last place is the step between subnormal numbers.
double of_subnormal_steps(const FloatFormat& format) {
    return std::ldexp(1.0, format.least_exponent() + dropped_bits(format));
}

// float64 to float32, rounded to odd: rounding that again to fewer than 23 bits is rounding once.
Expr to_odd(const Expr& x) {
    const Expr near = Expr::cast(x, DType::float32).named("near");
    const Expr back = Expr::cast(near, DType::float64);
    const Expr bits = word_of(near).named("near_bits");
    const Expr is_exact = equal(back, x) | not_equal(x, x) | not_equal(bits & word(1), 0);
    const Expr other = select(absolute(back) > absolute(x), bits - word(1), bits + word(1));
    return select(is_exact, near, float_of(other));
}

// 64-bit integers that float64 rounds, rounded to odd before: what is left of them is exact there.
Expr to_odd_integer(const Expr& x) {
    constexpr int64_t below = 0xfff;
    const auto like = [&](int64_t value) { return Expr::constant_integer(x.dtype(), value); };
    const Expr low = x & like(below);
    const Expr odd = (x & like(~below)) | select(equal(low, 0), like(0), like(0x800));
    const Expr size = is_signed_integer(x.dtype()) ? absolute(x) : x;
    return select((size >= 0.0) & (size < 0x1p53), x, odd);  // the least is its own absolute value
}

// Bits below the lowest kept one are rounded away; the carry may go on into the exponent.
Expr without_low_bits(const Expr& x, int count) {
    const Expr bits = word_of(x);
    const Expr is_odd = (bits >> count) & word(1);
    const Expr carried = bits + (word((uint64_t{1} << (count - 1)) - 1) + is_odd);
    return float_of(carried & word(~((uint64_t{1} << count) - 1) & 0xffffffff));
}

// Below the least normal number the steps are equal, which float32 has from a power of two on.
Expr rounded_to_exponents(const Expr& x, const FloatFormat& format) {
    const Expr size = absolute(x).named("size");
    const Expr regular = without_low_bits(size, dropped_bits(format));
    // A product that overflows raises the processor's flag, too.
    const double scale = std::ldexp(1.0, lowered_exponent(format));
    const Expr finite = format.has_infinity
                            ? (regular * scale) * (1 / scale)
                            : select(regular > format.greatest(), std::nan(""), regular);
    const double steps = of_subnormal_steps(format);
    const Expr rounded = select(size < format.least_normal(), (size + steps) - steps, finite);
    return select(equal(x, x), copysign(rounded, x), x);
}

}  // namespace

Expr rounded_to_short(const Expr& x, DType dtype) {
    if (is_integer(x.dtype())) {
        const Expr exact = size_of(x.dtype()) == 8 ? to_odd_integer(x) : x;
        return rounded_to_short(Expr::cast(exact, DType::float64), dtype);
    }
    const FloatFormat& format = float_format(dtype);
    const Expr single = x.dtype() == DType::float64 ? to_odd(x) : x;
    if (!has_exponents_of_single(format)) return rounded_to_exponents(single, format);
    return select(equal(single, single), without_low_bits(single, dropped_bits(format)), single);
}

Expr bits_of_short(const Expr& x, DType dtype) {
    const FloatFormat& format = float_format(dtype);
    const DType whole = unsigned_of_size(size_of(dtype));
    const Expr bits = word_of(x);
    if (has_exponents_of_single(format))
        return Expr::cast(
            select(equal(x, x), bits >> dropped_bits(format), word(format.nan_bits())), whole);
    const Expr sign = (bits & word(sign_of_float32)) >> bits_above(format);
    const Expr size = float_of(bits & word(all_but_sign));
    const auto lowered = static_cast<uint64_t>(lowered_exponent(format));
    const Expr regular = (word_of(size) - word(lowered << single_mantissa)) >> dropped_bits(format);
    const Expr small = word_of(size + of_subnormal_steps(format)) & word(0x7fffff);
    const Expr finite = select(size < format.least_normal(), small, regular);
    const Expr beyond = select(equal(x, x), word(format.overflow_bits()), word(format.nan_bits()));
    return Expr::cast(select(size < double_infinity, finite, beyond) | sign, whole);
}

Expr short_of_bits(const Expr& bits, DType dtype) {
    const FloatFormat& format = float_format(dtype);
    const Expr wide = Expr::cast(bits, DType::uint32);
    if (has_exponents_of_single(format)) return float_of(wide << dropped_bits(format));
    const Expr sign = (wide & word(format.sign_bit())) << bits_above(format);
    const Expr size = (wide & word(format.sign_bit() - 1)) << dropped_bits(format);
    // The multiplication raises exponents, those of subnormal numbers too; those of infinity and
    // NaN become the largest.
    const Expr finite = word_of(float_of(size) * std::ldexp(1.0, lowered_exponent(format)));
    const Expr beyond = size | word(uint64_t{255} << single_mantissa);
    const uint64_t first_beyond = uint64_t{format.overflow_bits()} << dropped_bits(format);
    return float_of(select(size < word(first_beyond), finite, beyond) | sign);
}

}  // namespace composit::ir::scalar
