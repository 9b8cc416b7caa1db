// Conversions of short floats, written on the bits of a double so that each rounds once.
#include "composit/ir/scalar/short_float.h"

#include "composit/ir/dtype_traits.h"

#include <algorithm>
#include <cmath>

namespace composit::ir::scalar {

double double_from_short(DType dtype, uint64_t bits) {
    const FloatFormat& format = float_format(dtype);
    const double sign = bits & format.sign_bit() ? -1.0 : 1.0;
    const auto magnitude = static_cast<uint32_t>(bits & (format.sign_bit() - 1));
    const int mantissa = static_cast<int>(magnitude & ((1u << format.mantissa_bits) - 1));
    const int exponent = static_cast<int>(magnitude >> format.mantissa_bits);
    if (magnitude > format.greatest_bits()) {
        const bool is_infinite = format.has_infinity && mantissa == 0;
        return is_infinite ? sign * INFINITY : std::copysign(std::nan(""), sign);
    }
    if (exponent == 0)
        return sign * std::ldexp(mantissa, format.least_exponent() - format.mantissa_bits);
    return sign * std::ldexp(mantissa + (1 << format.mantissa_bits),
                             exponent - format.bias() - format.mantissa_bits);
}

uint16_t short_from_double(DType dtype, double value) {
    const FloatFormat& format = float_format(dtype);
    const uint32_t sign = std::signbit(value) ? format.sign_bit() : 0;
    const auto with_sign = [&](uint32_t bits) { return static_cast<uint16_t>(sign | bits); };
    if (std::isnan(value)) return with_sign(format.nan_bits());
    const double magnitude = std::fabs(value);
    if (magnitude == 0) return with_sign(0);
    if (std::isinf(value)) return with_sign(format.overflow_bits());
    // In units of the last place of its binade (or of the subnormals) the value rounds as an
    // integer does; a carry out of the mantissa runs into the exponent field, which is what it
    // should do.
    const int exponent = std::max(std::ilogb(magnitude), format.least_exponent());
    if (exponent > format.greatest_exponent()) return with_sign(format.overflow_bits());
    const double units = std::ldexp(magnitude, format.mantissa_bits - exponent);
    const auto rounded = static_cast<uint32_t>(std::nearbyint(units));
    const uint32_t hidden = 1u << format.mantissa_bits;
    const uint32_t field = static_cast<uint32_t>(exponent + format.bias() - 1)
                           << format.mantissa_bits;
    const bool is_subnormal = rounded < hidden && exponent == format.least_exponent();
    const uint32_t bits = is_subnormal ? rounded : field + rounded;
    return with_sign(std::min(bits, format.overflow_bits()));
}

}  // namespace composit::ir::scalar
