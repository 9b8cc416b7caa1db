// 16-bit floats as integers do it: exact on every processor.
#include "composit/ir/scalar/half_values.h"

#include <limits>

namespace composit::ir::scalar {
namespace {

constexpr uint64_t sign_bit = 0x80000000, all_but_sign = 0x7fffffff;

Expr word(uint64_t bits) { return Expr::constant_bits(DType::uint32, {bits, 0}); }
Expr bits_of(const Expr& x) { return Expr::bitcast(x, DType::uint32); }
Expr float_of(const Expr& bits) { return Expr::bitcast(bits, DType::float32); }

// float64 to float32, rounded to odd: rounding that again to fewer than 23 bits is rounding once.
Expr to_odd(const Expr& x) {
    const Expr near = Expr::cast(x, DType::float32).named("near");
    const Expr back = Expr::cast(near, DType::float64);
    const Expr bits = bits_of(near).named("near_bits");
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
    const Expr bits = bits_of(x);
    const Expr is_odd = (bits >> count) & word(1);
    const Expr carried = bits + (word((uint64_t{1} << (count - 1)) - 1) + is_odd);
    return float_of(carried & word(~((uint64_t{1} << count) - 1) & 0xffffffff));
}

// Below 2^-14 float16 has steps of 2^-24, which float32 has between 1/2 and 1.
Expr rounded_to_float16(const Expr& x) {
    const Expr size = absolute(x).named("size");
    const Expr regular = without_low_bits(size, 13);
    // From 2^16 on the first product overflows, which raises the processor's flag, too.
    const Expr finite = (regular * 0x1p112) * 0x1p-112;
    const Expr rounded = select(size < 0x1p-14, (size + 0.5) - 0.5, finite);
    return select(equal(x, x), copysign(rounded, x), x);
}

}  // namespace

Expr rounded_to_half(const Expr& x, DType half) {
    if (is_integer(x.dtype())) {
        const Expr exact = size_of(x.dtype()) == 8 ? to_odd_integer(x) : x;
        return rounded_to_half(Expr::cast(exact, DType::float64), half);
    }
    const Expr single = x.dtype() == DType::float64 ? to_odd(x) : x;
    if (half == DType::float16) return rounded_to_float16(single);
    return select(equal(single, single), without_low_bits(single, 16), single);
}

Expr bits_of_half(const Expr& x, DType half) {
    const Expr bits = bits_of(x);
    if (half == DType::bfloat16)
        return Expr::cast(select(equal(x, x), bits >> 16, word(0x7fc0)), DType::uint16);
    const Expr sign = (bits & word(sign_bit)) >> 16;
    const Expr size = float_of(bits & word(all_but_sign));
    // Exponents are lowered by 127 - 15. Subnormal numbers are multiples of 2^-24.
    const Expr regular = (bits_of(size) - word(uint64_t{112} << 23)) >> 13;
    const Expr small = bits_of(size + 0.5) & word(0x7fffff);
    const Expr finite = select(size < 0x1p-14, small, regular);
    const Expr beyond = select(equal(x, x), word(0x7c00), word(0x7e00));
    const Expr is_finite = size < std::numeric_limits<double>::infinity();
    return Expr::cast(select(is_finite, finite, beyond) | sign, DType::uint16);
}

Expr half_of_bits(const Expr& bits, DType half) {
    const Expr wide = Expr::cast(bits, DType::uint32);
    if (half == DType::bfloat16) return float_of(wide << 16);
    const Expr sign = (wide & word(0x8000)) << 16;
    const Expr size = (wide & word(0x7fff)) << 13;
    // The multiplication raises exponents by 127 - 15, subnormal ones too; those of infinity and
    // NaN become the largest.
    const Expr finite = bits_of(float_of(size) * 0x1p112);
    const Expr beyond = size | word(uint64_t{255} << 23);
    return float_of(select(size < word(uint64_t{31} << 23), finite, beyond) | sign);
}

}  // namespace composit::ir::scalar
