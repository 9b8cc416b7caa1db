// C++ values out of Bits and back, by dtype: what evaluate and simplify compute with.
#pragma once

#include "composit/base/error.h"
#include "composit/ir/scalar/function.h"
#include "composit/ir/scalar/short_float.h"

#include <bit>
#include <cstring>
#include <type_traits>

namespace composit::ir::scalar {

// A float narrower than float32; computed with as double, which rounds innocuously for + - * / and
// square roots (53 >= 2 * 11 + 2).
template <DType dtype>
struct ShortFloat {
    static constexpr DType type = dtype;
    double value = 0;
};

template <class T>
inline constexpr bool is_short = false;
template <DType dtype>
inline constexpr bool is_short<ShortFloat<dtype>> = true;

template <class T>
T load(Bits bits) {
    if constexpr (is_short<T>) {
        return {double_from_short(T::type, bits[0])};
    } else if constexpr (std::is_same_v<T, bool>) {
        return bits[0] != 0;
    } else {
        T value;
        std::memcpy(&value, bits.data(), sizeof value);  // little-endian, as every target of ours
        return value;
    }
}

template <class T>
Bits store(T value) {
    if constexpr (is_short<T>) {
        return {short_from_double(T::type, value.value), 0};
    } else if constexpr (std::is_same_v<T, bool>) {
        return {value ? 1u : 0u, 0};
    } else {
        Bits bits{};
        std::memcpy(bits.data(), &value, sizeof value);
        return bits;
    }
}

// visit(ShortFloat<dtype>()).
template <DType dtype = first_short_float, class Visit>
auto with_short_float(DType asked, Visit& visit) -> decltype(visit(0.0f)) {
    if constexpr (dtype == last_short_float) {
        return visit(ShortFloat<dtype>());
    } else {
        constexpr auto next = static_cast<DType>(static_cast<int>(dtype) + 1);
        return asked == dtype ? visit(ShortFloat<dtype>()) : with_short_float<next>(asked, visit);
    }
}

// visit(T()) for the C++ type of a real dtype; `what` names the caller in the error for complex
// ones.
template <class Visit>
auto with_type(DType dtype, std::string_view what, Visit visit) -> decltype(visit(0.0f)) {
    switch (dtype) {
        case DType::boolean: return visit(bool());
        case DType::int8: return visit(int8_t());
        case DType::int16: return visit(int16_t());
        case DType::int32: return visit(int32_t());
        case DType::int64: return visit(int64_t());
        case DType::uint8: return visit(uint8_t());
        case DType::uint16: return visit(uint16_t());
        case DType::uint32: return visit(uint32_t());
        case DType::uint64: return visit(uint64_t());
        case DType::float32: return visit(float());
        case DType::float64: return visit(double());
        default:
            if (is_short_float(dtype)) return with_short_float(dtype, visit);
    }
    fail<NotSupported>(what, ": ", dtype, " is not supported yet. A real dtype is required.");
}

// Element i of elements that lie in a row.
inline Bits element_bits(DType dtype, const void* elements, int64_t i) {
    const auto size = static_cast<size_t>(size_of(dtype));
    Bits bits{};
    std::memcpy(bits.data(), static_cast<const char*>(elements) + static_cast<size_t>(i) * size,
                size);
    return bits;
}

// A float that leaves the range of an integer dtype, or is NaN, converts as x86 does it, which is
// what NumPy returns: through int32 for the types of 8 and 16 bits, int64 for uint32, with the
// least integer for what does not fit.
template <class To>
To integer_from_float(double value);

// The meaning of Op::cast.
Bits cast_bits(DType from, DType to, Bits bits);

}  // namespace composit::ir::scalar
