// Polynomials, powers of two and special values, for the definitions of the library's functions.
#include "composit/ir/scalar/library_parts.h"

#include "composit/base/error.h"
#include "composit/ir/scalar/function.h"

#include <bit>

namespace composit::ir::scalar::parts {

void require_float(const char* function, const Expr& x) {
    if (x.dtype() == DType::float32 || x.dtype() == DType::float64) return;
    fail<NotSupported>(function, ": there is no definition for ", x.dtype(),
                       ". float32 or float64 is required.");
}

Expr polynomial(const Expr& x, std::span<const double> c) {
    Expr sum = constant_like(x, c.back());
    for (size_t i = c.size() - 1; i-- > 0;) sum = fma(sum, x, c[i]);
    return sum;
}

Expr bits_of_float(const Expr& x) {
    return Expr::bitcast(x, is_float32(x) ? DType::uint32 : DType::uint64);
}

Expr float_of_bits(const Expr& bits) {
    return Expr::bitcast(bits, bits.dtype() == DType::uint32 ? DType::float32 : DType::float64);
}

int mantissa_bits(const Expr& x) { return is_float32(x) ? 23 : 52; }
int exponent_bias(const Expr& x) { return is_float32(x) ? 127 : 1023; }
double smallest_normal(const Expr& x) { return std::ldexp(1.0, 1 - exponent_bias(x)); }
double rounding_shift(const Expr& x) { return std::ldexp(1.5, mantissa_bits(x)); }
double exponent_shift(const Expr& x) { return rounding_shift(x) + exponent_bias(x); }

Expr power_of_two(const Expr& shifted) {
    return float_of_bits(bits_of_float(shifted) << mantissa_bits(shifted));
}

double scale_shift(const Expr& x) { return rounding_shift(x) + 2 * exponent_bias(x); }

Expr scale_by_shifted(const Expr& x, const Expr& shifted) {
    // The low bits are n plus two biases. Each half of it is the exponent of a normal number, so
    // only the last product can round.
    const Expr bits = bits_of_float(shifted).named("bits");
    const Expr exponents = Expr::constant_bits(
        bits.dtype(), {is_float32(x) ? uint64_t{0x7f800000} : uint64_t{0x7ff0000000000000}, 0});
    const Expr half = ((bits << (mantissa_bits(x) - 1)) & exponents).named("half");
    const Expr rest = (bits << mantissa_bits(x)) - half;
    return x * float_of_bits(half) * float_of_bits(rest);
}

Expr signaling_nan(const Expr& x) {
    const uint64_t bits = is_float32(x) ? uint64_t{0x7fa00000} : uint64_t{0x7ff4000000000000};
    return Expr::constant_bits(x.dtype(), {bits, 0});
}

Expr scale(const Expr& x, const Expr& n) { return scale_by_shifted(x, n + scale_shift(n)); }

// Adding the shift, not converting: AVX2 has no conversion to 64-bit integers.
Expr low_bits(const Expr& x) { return bits_of_float(x + rounding_shift(x)); }

Expr table_entry(std::vector<double> table, const Expr& bits) {
    table.resize(std::bit_ceil(table.size()));
    std::vector<Bits> entries;
    for (const double value : table) entries.push_back(bits_of(DType::float64, value));
    const Expr mask = Expr::constant_bits(DType::uint64, {table.size() - 1, 0});
    return Expr::lookup(std::make_shared<const std::vector<Bits>>(std::move(entries)),
                        DType::float64, Expr::cast(bits & mask, DType::int64));
}

Expr at_most(const Expr& x, double bound) { return select(x > bound, bound, x); }
Expr magnitude_at_most(const Expr& x, double bound) {
    const Expr bits = bits_of_float(absolute(x)).named("magnitude");
    const Expr limit = Expr::constant_bits(bits.dtype(), bits_of(x.dtype(), bound));
    return float_of_bits(select(bits < limit, bits, limit));
}
Expr at_least(const Expr& x, double bound) { return select(x < bound, bound, x); }

}  // namespace composit::ir::scalar::parts
