// Element types and NumPy 2's promotion between them (NEP 50).
#pragma once

#include <cstdint>
#include <optional>
#include <ostream>
#include <string_view>

namespace composit::ir {

enum class DType : uint8_t {
    boolean,
    int8,
    int16,
    int32,
    int64,
    uint8,
    uint16,
    uint32,
    uint64,
    float8_e4m3fn,
    float8_e5m2,
    float16,
    bfloat16,
    float32,
    float64,
    complex64,
    complex128,
};
inline constexpr int dtype_count = 17;
// Floats narrower than float32 stand side by side: float32 carries their values in kernels.
inline constexpr DType first_short_float = DType::float8_e4m3fn, last_short_float = DType::bfloat16;

// NumPy's name, or ml_dtypes': "bool", "int8", …, "complex128", "bfloat16".
std::string_view name(DType dtype);
// The dtype of that name; NumPy's aliases ("float", "int", "f4", …) are Python's business. Throws
// TypeError.
DType dtype_from_name(std::string_view name);
// None where there is no such dtype.
std::optional<DType> find_dtype(std::string_view name);

int size_of(DType dtype);  // bytes per element
// The integers of 1, 2, 4 or 8 bytes.
DType signed_of_size(int64_t bytes);
DType unsigned_of_size(int64_t bytes);
int align_of(DType dtype);

bool is_integer(DType dtype);  // signed or unsigned, not bool
bool is_signed_integer(DType dtype);
bool is_unsigned_integer(DType dtype);
bool is_floating(DType dtype);  // real floating
bool is_complex(DType dtype);
bool is_inexact(DType dtype);  // floating or complex
constexpr bool is_short_float(DType dtype) {
    return dtype >= first_short_float && dtype <= last_short_float;
}
DType real_part_of(DType dtype);  // complex64 -> float32; others unchanged

// numpy.promote_types. Floats become the first one that has all values of both: float16 and
// bfloat16 float32. Those that NumPy lacks stay what they are beside integers, as bfloat16 does in
// JAX.
DType promote(DType a, DType b);
// numpy.can_cast(from, to, "safe")
bool can_cast_safely(DType from, DType to);

std::ostream& operator<<(std::ostream& out, DType dtype);

}  // namespace composit::ir
