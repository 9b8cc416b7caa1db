// Bits of numbers and numbers of bits, and the meaning of Op::cast.
#include "composit/ir/scalar/values.h"

#include <limits>

namespace composit::ir::scalar {
namespace {

int32_t truncate_to_int32(double value) {
    const bool fits = value > -2147483649.0 && value < 2147483648.0;
    return fits ? static_cast<int32_t>(value) : std::numeric_limits<int32_t>::min();
}

int64_t truncate_to_int64(double value) {
    const bool fits = value >= -0x1p63 && value < 0x1p63;
    return fits ? static_cast<int64_t>(value) : std::numeric_limits<int64_t>::min();
}

template <class From>
double as_double(From value) {
    if constexpr (is_short<From>)
        return value.value;
    else
        return static_cast<double>(value);
}

template <class To, class From>
To convert_value(From value) {
    if constexpr (std::is_same_v<To, bool>) {
        return as_double(value) != 0;
    } else if constexpr (is_short<To>) {
        // A 64-bit integer beyond 2^53 rounds in double first; of short floats only bfloat16 has
        // values there, and its 8 bits of precision leave ties at multiples of 2^45, which double
        // holds: rounding to odd keeps the rest apart.
        double wide = as_double(value);
        if constexpr (std::is_integral_v<From> && sizeof(From) == 8) {
            const auto back = static_cast<__int128>(wide);
            if (back != static_cast<__int128>(value)) {
                uint64_t bits = std::bit_cast<uint64_t>(wide);
                const bool too_large = wide > 0 ? back > value : back < value;
                bits -= too_large;
                wide = std::bit_cast<double>(bits | 1);
            }
        }
        return To{wide};
    } else if constexpr (std::is_floating_point_v<To>) {
        if constexpr (is_short<From>)
            return static_cast<To>(value.value);
        else
            return static_cast<To>(value);
    } else if constexpr (std::is_integral_v<From>) {
        return static_cast<To>(value);
    } else {
        return integer_from_float<To>(as_double(value));
    }
}

}  // namespace

template <class To>
To integer_from_float(double value) {
    if constexpr (std::is_same_v<To, uint64_t>) {
        if (value >= 0x1p63)
            return static_cast<uint64_t>(truncate_to_int64(value - 0x1p63)) ^ (uint64_t{1} << 63);
        return static_cast<uint64_t>(truncate_to_int64(value));
    } else if constexpr (sizeof(To) == 8 || std::is_same_v<To, uint32_t>) {
        return static_cast<To>(truncate_to_int64(value));
    } else {
        return static_cast<To>(truncate_to_int32(value));
    }
}

namespace {

Bits real_bits(DType dtype, Bits bits) {
    return {dtype == DType::complex64 ? bits[0] & 0xffffffff : bits[0], 0};
}
Bits imaginary_bits(DType dtype, Bits bits) {
    return {dtype == DType::complex64 ? bits[0] >> 32 : bits[1], 0};
}

// What is complex, or becomes so, part by part; a real number keeps the real part alone, bool
// whether there is any.
Bits cast_complex(DType from, DType to, Bits bits) {
    const DType part = real_part_of(from), to_part = real_part_of(to);
    const Bits re = cast_bits(part, to_part, real_bits(from, bits));
    if (!is_complex(from)) return re;  // the other part is 0
    const Bits im = cast_bits(part, to_part, imaginary_bits(from, bits));
    if (to == DType::boolean) return {re[0] | im[0], 0};
    if (!is_complex(to)) return re;
    return to == DType::complex64 ? Bits{re[0] | im[0] << 32, 0} : Bits{re[0], im[0]};
}

}  // namespace

Bits cast_bits(DType from, DType to, Bits bits) {
    if (is_complex(from) || is_complex(to)) return cast_complex(from, to, bits);
    return with_type(from, "cast", [&](auto from_tag) {
        const auto value = load<decltype(from_tag)>(bits);
        return with_type(
            to, "cast", [&](auto to_tag) { return store(convert_value<decltype(to_tag)>(value)); });
    });
}

Bits bits_of(DType dtype, double value) { return cast_bits(DType::float64, dtype, store(value)); }

Bits bits_of_integer(DType dtype, int64_t value) {
    return cast_bits(DType::int64, dtype, store(value));
}

double value_of(DType dtype, Bits bits) {
    return load<double>(cast_bits(dtype, DType::float64, bits));
}

template int8_t integer_from_float<int8_t>(double);
template int16_t integer_from_float<int16_t>(double);
template int32_t integer_from_float<int32_t>(double);
template int64_t integer_from_float<int64_t>(double);
template uint8_t integer_from_float<uint8_t>(double);
template uint16_t integer_from_float<uint16_t>(double);
template uint32_t integer_from_float<uint32_t>(double);
template uint64_t integer_from_float<uint64_t>(double);

}  // namespace composit::ir::scalar
