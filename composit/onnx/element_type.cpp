// Names, carriers and codes of ONNX's element types; casts to those that composit has no dtype for.
#include "composit/onnx/element_type.h"

#include "composit/base/error.h"
#include "composit/ir/dtype_traits.h"
#include "composit/numpy/creation.h"
#include "composit/numpy/elementwise.h"
#include "composit/numpy/manipulation.h"
#include "composit/numpy/operators.h"

#include <array>
#include <cmath>
#include <limits>

namespace composit::onnx {
namespace {

using ir::DType;
using ir::Tensor;

struct TypeRecord {
    std::string_view name;
    int bits;
    std::optional<DType> carrier = {};  // where composit has no dtype of that name
};

// In the order of their numbers.
constexpr std::array<TypeRecord, 29> records{{
    {"undefined", 0},
    {"float32", 32},
    {"uint8", 8},
    {"int8", 8},
    {"uint16", 16},
    {"int16", 16},
    {"int32", 32},
    {"int64", 64},
    {"string", 0},
    {"bool", 8},
    {"float16", 16},
    {"float64", 64},
    {"uint32", 32},
    {"uint64", 64},
    {"complex64", 64},
    {"complex128", 128},
    {"bfloat16", 16},
    {"float8_e4m3fn", 8, DType::float32},
    {"float8_e4m3fnuz", 8, DType::float32},
    {"float8_e5m2", 8, DType::float32},
    {"float8_e5m2fnuz", 8, DType::float32},
    {"uint4", 4, DType::uint8},
    {"int4", 4, DType::int8},
    {"float4_e2m1fn", 4, DType::float32},
    {"float8_e8m0fnu", 8, DType::float32},
    {"uint2", 2, DType::uint8},
    {"int2", 2, DType::int8},
    {"float6_e2m3fn", 6, DType::float32},
    {"float6_e3m2fn", 6, DType::float32},
}};

const TypeRecord& record(ElementType type) { return records[static_cast<size_t>(type)]; }

// The dtype of that type.
std::optional<DType> own_dtype(ElementType type) {
    for (const ir::DTypeTraits& row : ir::all_traits())
        if (row.onnx == static_cast<int>(type) && row.onnx != 0) return row.dtype;
    return {};
}

// |x| of a floating dtype rounded to a multiple of the step between neighbours of the small type.
Tensor rounded_size(const Tensor& size, const SmallFloat& format) {
    const int least_exponent = 1 - format.bias;
    const Tensor exponent = numpy::frexp(size)[1] - 1;
    const Tensor step_exponent = numpy::apply("maximum", {exponent, least_exponent}) -
                                 static_cast<int64_t>(format.mantissa_bits);
    const Tensor one = numpy::scalar(size.dtype(), 1);
    const Tensor step = numpy::apply("ldexp", {one, numpy::astype(step_exponent, DType::int32)});
    return numpy::apply("rint", {size / step}) * step;
}

// Of float8e8m0: powers of two, which have no sign and no zero.
Tensor power_of_two(const Tensor& x, bool saturate, std::string_view round_mode) {
    user_check(round_mode == "up" || round_mode == "down" || round_mode == "nearest",
               "onnx: round_mode is '", round_mode, "'. up, down or nearest is required.");
    // x = mantissa 2^exponent with a mantissa in [1/2, 1).
    const std::vector<Tensor> parts = numpy::frexp(x);
    Tensor exponent = parts[1] - 1;
    if (round_mode == "up") exponent = exponent + numpy::astype(parts[0] > 0.5, DType::int32);
    if (round_mode == "nearest")
        exponent = exponent + numpy::astype(parts[0] >= 0.75, DType::int32);
    const double nan = std::numeric_limits<double>::quiet_NaN();
    const Tensor one = numpy::scalar(x.dtype(), 1);
    const Tensor power =
        numpy::apply("ldexp", {one, numpy::astype(numpy::clip(exponent, -127, 127), DType::int32)});
    const Tensor is_inside =
        (exponent >= -127) & (exponent <= 127) & (x > 0.0) & numpy::apply("isfinite", {x});
    const double least = std::ldexp(1.0, -127), greatest = std::ldexp(1.0, 127);
    Tensor beyond = numpy::full_like(x, nan);
    if (saturate)
        beyond = numpy::apply("where",
                              {x > 1.0, greatest, numpy::apply("where", {x <= 1.0, least, nan})});
    return numpy::apply("where", {is_inside, power, beyond});
}

Tensor to_small_float(const Tensor& x, ElementType type, bool saturate,
                      std::string_view round_mode) {
    const SmallFloat format = *small_float(type);
    const bool is_wide = x.dtype() == DType::float64 || !ir::is_floating(x.dtype());
    const Tensor wide = numpy::astype(x, is_wide ? DType::float64 : DType::float32);
    if (type == ElementType::float8e8m0)
        return numpy::astype(power_of_two(wide, saturate, round_mode), DType::float32);
    const Tensor size = numpy::apply("absolute", {wide});
    const Tensor is_finite = numpy::apply("isfinite", {wide});
    const Tensor rounded = rounded_size(numpy::apply("where", {is_finite, size, 0.0}), format);
    const double nan = std::numeric_limits<double>::quiet_NaN();
    const double infinity = std::numeric_limits<double>::infinity();
    // Types without NaN and infinity always saturate.
    const double beyond = saturate || !format.has_nan ? format.greatest
                          : format.has_infinity       ? infinity
                                                      : nan;
    Tensor result = numpy::apply(
        "where", {numpy::apply("greater", {rounded, format.greatest}), beyond, rounded});
    result = numpy::apply("where", {is_finite, result, beyond});
    const double of_nan = format.has_nan ? nan : 0.0;
    result = numpy::apply("where", {numpy::apply("isnan", {wide}), of_nan, result});
    Tensor with_sign = numpy::apply("copysign", {result, wide});
    if (!format.has_negative_zero)
        with_sign =
            numpy::apply("where", {numpy::apply("equal", {with_sign, 0.0}), 0.0, with_sign});
    return numpy::astype(with_sign, DType::float32);
}

// The lowest bits of an integer, with the sign that the highest of them means.
Tensor to_small_integer(const Tensor& x, ElementType type) {
    const int count = bits(type);
    const int64_t range = int64_t{1} << count;
    const Tensor whole = numpy::astype(x, DType::int64);
    Tensor code = whole & (range - 1);
    if (ir::is_signed_integer(carrier(type)))
        code = numpy::apply("where", {code >= range / 2, code - range, code});
    return numpy::astype(code, carrier(type));
}

}  // namespace

std::string_view name(ElementType type) { return record(type).name; }

std::optional<ElementType> element_type(int64_t number) {
    if (number < 0 || number >= static_cast<int64_t>(records.size())) return std::nullopt;
    return static_cast<ElementType>(number);
}

ElementType element_type(DType dtype) {
    const int number = ir::traits(dtype).onnx;
    user_check<TypeError>(number != 0, "onnx: ONNX has no type for ", dtype, ".");
    return static_cast<ElementType>(number);
}

DType carrier(ElementType type) {
    if (const auto own = own_dtype(type)) return *own;
    user_check<TypeError>(record(type).carrier.has_value(), "onnx: composit has no tensors of ",
                          name(type), ". Numbers or bool are required.");
    return *record(type).carrier;
}

bool is_small(ElementType type) { return record(type).carrier && !own_dtype(type); }

int bits(ElementType type) { return record(type).bits; }

std::optional<SmallFloat> small_float(ElementType type) {
    switch (type) {
        case ElementType::float8e4m3fn: return SmallFloat{4, 3, 7, 448, false, true, true, 0x7f};
        case ElementType::float8e4m3fnuz: return SmallFloat{4, 3, 8, 240, false, true, false, 0x80};
        case ElementType::float8e5m2: return SmallFloat{5, 2, 15, 57344, true, true, true, 0x7f};
        case ElementType::float8e5m2fnuz:
            return SmallFloat{5, 2, 16, 57344, false, true, false, 0x80};
        case ElementType::float8e8m0:
            return SmallFloat{8, 0, 127, std::ldexp(1.0, 127), false, true, false, 0xff};
        case ElementType::float4e2m1: return SmallFloat{2, 1, 1, 6, false, false, true, -1};
        case ElementType::float6e2m3: return SmallFloat{2, 3, 1, 7.5, false, false, true, -1};
        case ElementType::float6e3m2: return SmallFloat{3, 2, 3, 28, false, false, true, -1};
        default: return std::nullopt;
    }
}

double value_of_code(ElementType type, uint32_t code) {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    if (type == ElementType::float8e8m0)
        return code == 0xff ? nan : std::ldexp(1.0, static_cast<int>(code) - 127);
    const int count = bits(type);
    const auto format = small_float(type);
    if (!format) {
        const bool is_negative = ir::is_signed_integer(carrier(type)) && (code >> (count - 1) & 1);
        return static_cast<double>(code) - (is_negative ? std::ldexp(1.0, count) : 0.0);
    }
    const uint32_t sign_bit = 1u << (count - 1), size = code & (sign_bit - 1);
    const bool is_negative = (code & sign_bit) != 0;
    const uint32_t mantissa = size & ((1u << format->mantissa_bits) - 1);
    const uint32_t exponent = size >> format->mantissa_bits;
    if (!format->has_negative_zero && code == 0x80) return nan;
    if (type == ElementType::float8e4m3fn && size == 0x7f) return nan;
    if (type == ElementType::float8e5m2 && exponent == 31)
        return mantissa ? nan
                        : std::numeric_limits<double>::infinity() * (is_negative ? -1.0 : 1.0);
    const double fraction = std::ldexp(mantissa, -format->mantissa_bits);
    const double value = exponent == 0
                             ? std::ldexp(fraction, 1 - format->bias)
                             : std::ldexp(1 + fraction, static_cast<int>(exponent) - format->bias);
    return is_negative ? -value : value;
}

Tensor cast(const Tensor& x, ElementType type, bool saturate, std::string_view round_mode) {
    if (!is_small(type)) {
        const std::optional<SmallFloat> format = saturate ? small_float(type) : std::nullopt;
        if (!format) return numpy::astype(x, carrier(type));
        const Tensor wide = ir::is_inexact(x.dtype()) ? x : numpy::astype(x, DType::float64);
        return numpy::astype(numpy::clip(wide, -format->greatest, format->greatest), carrier(type));
    }
    return small_float(type) ? to_small_float(x, type, saturate, round_mode)
                             : to_small_integer(x, type);
}

}  // namespace composit::onnx
