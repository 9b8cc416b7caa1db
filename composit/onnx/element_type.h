// The element types of ONNX, and how composit holds each.
//
// composit has a dtype for most of them. Elements of fewer than 8 bits and floats of 8 bits and
// fewer are held in a wider dtype, their carrier: int4 in int8, float8e4m3fn in float32, … Every
// value of the type is a value of the carrier. Strings are no tensors (value.h).
#pragma once

#include "composit/ir/dtype.h"
#include "composit/numpy/operand.h"

#include <cstdint>
#include <optional>
#include <string_view>

namespace composit::onnx {

// The numbers are those of TensorProto.DataType.
enum class ElementType : int32_t {
    undefined = 0,
    float32 = 1,
    uint8 = 2,
    int8 = 3,
    uint16 = 4,
    int16 = 5,
    int32 = 6,
    int64 = 7,
    string = 8,
    boolean = 9,
    float16 = 10,
    float64 = 11,
    uint32 = 12,
    uint64 = 13,
    complex64 = 14,
    complex128 = 15,
    bfloat16 = 16,
    float8e4m3fn = 17,
    float8e4m3fnuz = 18,
    float8e5m2 = 19,
    float8e5m2fnuz = 20,
    uint4 = 21,
    int4 = 22,
    float4e2m1 = 23,
    float8e8m0 = 24,
    uint2 = 25,
    int2 = 26,
    float6e2m3 = 27,
    float6e3m2 = 28,
};

// NumPy's name, or ml_dtypes': "float32", "float8_e4m3fn", "int4"; "string", "undefined".
std::string_view name(ElementType type);
// Nothing for numbers that ONNX has no type for.
std::optional<ElementType> element_type(int64_t number);
ElementType element_type(ir::DType dtype);

// The dtype that holds the elements. TypeError for strings and undefined.
ir::DType carrier(ElementType type);
// Whether the carrier is wider than the type.
bool is_small(ElementType type);
// How many bits an element takes in a file; 0 for strings and undefined.
int bits(ElementType type);

// A small float: 1 sign bit unless it has none, `exponent` bits of exponent, `mantissa` of
// mantissa.
struct SmallFloat {
    int exponent_bits, mantissa_bits, bias;
    double greatest;  // the greatest finite value
    bool has_infinity, has_nan, has_negative_zero;
    int nan_code;  // a code that means NaN
};
// Nothing for other types.
std::optional<SmallFloat> small_float(ElementType type);
// The value that a code of a small type means: a nibble of int4 as a signed number, …
double value_of_code(ElementType type, uint32_t code);

// x, of a carrier's dtype or any other, as the nearest value of `type` (ties to even), held in its
// carrier. Values beyond the greatest one become that where `saturate`, else infinity or NaN, as
// ONNX's Cast says. Integers of few bits are cut off and wrapped. `round_mode` is that of
// float8e8m0, whose values are powers of two: "up", "down" or "nearest" (ties up).
[[nodiscard]] ir::Tensor cast(const ir::Tensor& x, ElementType type, bool saturate = true,
                              std::string_view round_mode = "up");

}  // namespace composit::onnx
