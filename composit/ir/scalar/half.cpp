// Conversions of the 16-bit floats, written on the bits of a double so that each rounds once.
#include "composit/ir/scalar/half.h"

#include <algorithm>
#include <cmath>

namespace composit::ir::scalar {
namespace {

// A 16-bit format with a sign, exponent_bits and mantissa_bits (15 in all).
struct Format {
    int mantissa_bits;
    int bias;
    uint16_t infinity;
};

constexpr Format float16_format{10, 15, 0x7c00};
constexpr Format bfloat16_format{7, 127, 0x7f80};

double widen(uint16_t bits, Format format) {
    const double sign = bits & 0x8000 ? -1.0 : 1.0;
    const uint16_t magnitude = bits & 0x7fff;
    const int mantissa = magnitude & ((1 << format.mantissa_bits) - 1);
    const int exponent = magnitude >> format.mantissa_bits;
    if (magnitude > format.infinity) return std::copysign(std::nan(""), sign);
    if (magnitude == format.infinity) return sign * INFINITY;
    if (exponent == 0) return sign * std::ldexp(mantissa, 1 - format.bias - format.mantissa_bits);
    return sign * std::ldexp(mantissa + (1 << format.mantissa_bits),
                             exponent - format.bias - format.mantissa_bits);
}

uint16_t narrow(double value, Format format) {
    const uint16_t sign = std::signbit(value) ? 0x8000 : 0;
    if (std::isnan(value))
        return sign | format.infinity | static_cast<uint16_t>(1 << (format.mantissa_bits - 1));
    const double magnitude = std::fabs(value);
    if (std::isinf(value)) return sign | format.infinity;
    if (magnitude == 0) return sign;
    // In units of the last place of its binade (or of the subnormals) the value rounds as an
    // integer does; a carry out of the mantissa runs into the exponent field, which is what it
    // should do.
    int exponent = std::max(std::ilogb(magnitude), 1 - format.bias);
    if (exponent > format.bias) return sign | format.infinity;
    const double units = std::ldexp(magnitude, format.mantissa_bits - exponent);
    const auto rounded = static_cast<uint32_t>(std::nearbyint(units));
    const uint32_t hidden = 1u << format.mantissa_bits;
    const uint32_t field = static_cast<uint32_t>(exponent + format.bias - 1)
                           << format.mantissa_bits;
    const uint32_t bits =
        rounded < hidden && exponent == 1 - format.bias ? rounded : field + rounded;
    return sign | static_cast<uint16_t>(bits > format.infinity ? format.infinity : bits);
}

}  // namespace

double double_from_float16(uint16_t bits) { return widen(bits, float16_format); }
double double_from_bfloat16(uint16_t bits) { return widen(bits, bfloat16_format); }
uint16_t float16_from_double(double value) { return narrow(value, float16_format); }
uint16_t bfloat16_from_double(double value) { return narrow(value, bfloat16_format); }

}  // namespace composit::ir::scalar
