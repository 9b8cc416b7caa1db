// The table of dtypes, and what follows from it.
#include "composit/ir/dtype.h"

#include "composit/base/error.h"
#include "composit/base/text.h"
#include "composit/ir/dtype_traits.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace composit::ir {
namespace {

using enum DType;
using Kind = DTypeKind;
using enum TorchClasses;

// In the order of the enumeration.
constexpr std::array<DTypeTraits, dtype_count> table{{
    {.dtype = boolean,
     .name = "bool",
     .size = 1,
     .align = 1,
     .kind = Kind::boolean,
     .real_part = boolean,
     .scalar_type = "Bool",
     .cpp_type = "bool",
     .torch_classes = storage_and_tensor,
     .onnx = 9,
     .safetensors = "BOOL",
     .mlir = "i1",
     .dlpack = 6},
    {.dtype = int8,
     .name = "int8",
     .size = 1,
     .align = 1,
     .kind = Kind::signed_integer,
     .real_part = int8,
     .scalar_type = "Char",
     .cpp_type = "signed char",
     .torch_classes = storage_and_tensor,
     .onnx = 3,
     .safetensors = "I8",
     .mlir = "i8",
     .dlpack = 0},
    {.dtype = int16,
     .name = "int16",
     .size = 2,
     .align = 2,
     .kind = Kind::signed_integer,
     .real_part = int16,
     .scalar_type = "Short",
     .cpp_type = "short int",
     .torch_alias = "short",
     .torch_classes = storage_and_tensor,
     .onnx = 5,
     .safetensors = "I16",
     .mlir = "i16",
     .dlpack = 0},
    {.dtype = int32,
     .name = "int32",
     .size = 4,
     .align = 4,
     .kind = Kind::signed_integer,
     .real_part = int32,
     .scalar_type = "Int",
     .cpp_type = "int",
     .torch_alias = "int",
     .torch_classes = storage_and_tensor,
     .onnx = 6,
     .safetensors = "I32",
     .mlir = "i32",
     .dlpack = 0},
    {.dtype = int64,
     .name = "int64",
     .size = 8,
     .align = 8,
     .kind = Kind::signed_integer,
     .real_part = int64,
     .scalar_type = "Long",
     .cpp_type = "long int",
     .torch_alias = "long",
     .torch_classes = storage_and_tensor,
     .onnx = 7,
     .safetensors = "I64",
     .mlir = "i64",
     .dlpack = 0},
    {.dtype = uint8,
     .name = "uint8",
     .size = 1,
     .align = 1,
     .kind = Kind::unsigned_integer,
     .real_part = uint8,
     .scalar_type = "Byte",
     .cpp_type = "unsigned char",
     .torch_classes = storage_and_tensor,
     .onnx = 2,
     .safetensors = "U8",
     .mlir = "ui8",
     .dlpack = 1},
    {.dtype = uint16,
     .name = "uint16",
     .size = 2,
     .align = 2,
     .kind = Kind::unsigned_integer,
     .real_part = uint16,
     .scalar_type = "UInt16",
     .cpp_type = "short unsigned int",
     .onnx = 4,
     .safetensors = "U16",
     .mlir = "ui16",
     .dlpack = 1},
    {.dtype = uint32,
     .name = "uint32",
     .size = 4,
     .align = 4,
     .kind = Kind::unsigned_integer,
     .real_part = uint32,
     .scalar_type = "UInt32",
     .cpp_type = "unsigned int",
     .onnx = 12,
     .safetensors = "U32",
     .mlir = "ui32",
     .dlpack = 1},
    {.dtype = uint64,
     .name = "uint64",
     .size = 8,
     .align = 8,
     .kind = Kind::unsigned_integer,
     .real_part = uint64,
     .scalar_type = "UInt64",
     .cpp_type = "long unsigned int",
     .onnx = 13,
     .safetensors = "U64",
     .mlir = "ui64",
     .dlpack = 1},
    {.dtype = float8_e4m3fn,
     .name = "float8_e4m3fn",
     .size = 1,
     .align = 1,
     .kind = Kind::floating,
     .real_part = float8_e4m3fn,
     .format = {.exponent_bits = 4, .mantissa_bits = 3, .has_infinity = false},
     .is_extension = true,
     .scalar_type = "Float8_e4m3fn",
     .cpp_type = "c10::Float8_e4m3fn",
     .torch_use = TorchUse::stored,
     .onnx = 17,
     .safetensors = "F8_E4M3",
     .mlir = "f8E4M3FN",
     .dlpack = 10},
    {.dtype = float8_e5m2,
     .name = "float8_e5m2",
     .size = 1,
     .align = 1,
     .kind = Kind::floating,
     .real_part = float8_e5m2,
     .format = {.exponent_bits = 5, .mantissa_bits = 2},
     .is_extension = true,
     .scalar_type = "Float8_e5m2",
     .cpp_type = "c10::Float8_e5m2",
     .torch_use = TorchUse::stored,
     .onnx = 19,
     .safetensors = "F8_E5M2",
     .mlir = "f8E5M2",
     .dlpack = 12},
    {.dtype = float16,
     .name = "float16",
     .size = 2,
     .align = 2,
     .kind = Kind::floating,
     .real_part = float16,
     .format = {.exponent_bits = 5, .mantissa_bits = 10},
     .scalar_type = "Half",
     .cpp_type = "c10::Half",
     .torch_alias = "half",
     .torch_classes = storage_and_tensor,
     .torch_rtol = 1e-3,
     .torch_atol = 1e-5,
     .onnx = 10,
     .safetensors = "F16",
     .mlir = "f16",
     .dlpack = 2},
    {.dtype = bfloat16,
     .name = "bfloat16",
     .size = 2,
     .align = 2,
     .kind = Kind::floating,
     .real_part = bfloat16,
     .format = {.exponent_bits = 8, .mantissa_bits = 7},
     .is_extension = true,
     .scalar_type = "BFloat16",
     .cpp_type = "c10::BFloat16",
     .torch_classes = storage_and_tensor,
     .torch_rtol = 1.6e-2,
     .torch_atol = 1e-5,
     .onnx = 16,
     .safetensors = "BF16",
     .mlir = "bf16",
     .dlpack = 4},
    {.dtype = float32,
     .name = "float32",
     .size = 4,
     .align = 4,
     .kind = Kind::floating,
     .real_part = float32,
     .format = {.exponent_bits = 8, .mantissa_bits = 23},
     .scalar_type = "Float",
     .cpp_type = "float",
     .torch_alias = "float",
     .torch_classes = storage_and_tensor,
     .torch_rtol = 1.3e-6,
     .torch_atol = 1e-5,
     .onnx = 1,
     .safetensors = "F32",
     .mlir = "f32",
     .dlpack = 2},
    {.dtype = float64,
     .name = "float64",
     .size = 8,
     .align = 8,
     .kind = Kind::floating,
     .real_part = float64,
     .format = {.exponent_bits = 11, .mantissa_bits = 52},
     .scalar_type = "Double",
     .cpp_type = "double",
     .torch_alias = "double",
     .torch_classes = storage_and_tensor,
     .torch_rtol = 1e-7,
     .torch_atol = 1e-7,
     .onnx = 11,
     .safetensors = "F64",
     .mlir = "f64",
     .dlpack = 2},
    {.dtype = complex64,
     .name = "complex64",
     .size = 8,
     .align = 4,
     .kind = Kind::complex,
     .real_part = float32,
     .scalar_type = "ComplexFloat",
     .cpp_type = "c10::complex<float>",
     .torch_alias = "cfloat",
     .torch_classes = storage,
     .torch_rtol = 1.3e-6,
     .torch_atol = 1e-5,
     .onnx = 14,
     .safetensors = "C64",
     .mlir = "complex<f32>",
     .dlpack = 5},
    {.dtype = complex128,
     .name = "complex128",
     .size = 16,
     .align = 8,
     .kind = Kind::complex,
     .real_part = float64,
     .scalar_type = "ComplexDouble",
     .cpp_type = "c10::complex<double>",
     .torch_alias = "cdouble",
     .torch_classes = storage,
     .torch_rtol = 1e-7,
     .torch_atol = 1e-7,
     .onnx = 15,
     .mlir = "complex<f64>",
     .dlpack = 5},
}};

constexpr bool is_in_order() {
    for (size_t i = 0; i < table.size(); ++i)
        if (static_cast<size_t>(table[i].dtype) != i || table[i].name.empty()) return false;
    return true;
}
static_assert(is_in_order());

// The first float whose precision holds every value of an integer type.
DType float_for_integer(DType integer) {
    const int size = size_of(integer);
    return size == 1 ? DType::float16 : size == 2 ? DType::float32 : DType::float64;
}

bool holds_all(const FloatFormat& to, const FloatFormat& from) {
    const auto least = [](const FloatFormat& f) { return f.least_exponent() - f.mantissa_bits; };
    return to.digits() >= from.digits() && to.greatest_exponent() >= from.greatest_exponent() &&
           least(to) <= least(from) && (to.has_infinity || !from.has_infinity);
}

DType promote_floats(DType a, DType b) {
    for (const DTypeTraits& row : table)
        if (row.kind == Kind::floating && holds_all(row.format, traits(a).format) &&
            holds_all(row.format, traits(b).format))
            return row.dtype;
    fail<InternalError>("promote: ", a, " and ", b, " have no float in common");
}

std::string names_of_table() {
    std::vector<std::string_view> names;
    for (const DTypeTraits& row : table) names.push_back(row.name);
    return join(names);
}

}  // namespace

const DTypeTraits& traits(DType dtype) { return table[static_cast<size_t>(dtype)]; }
const std::array<DTypeTraits, dtype_count>& all_traits() { return table; }

double FloatFormat::epsilon() const { return std::ldexp(1.0, -mantissa_bits); }
double FloatFormat::least_normal() const { return std::ldexp(1.0, least_exponent()); }
double FloatFormat::greatest() const {
    const double below_two = 2 - epsilon() * (has_infinity ? 1 : 2);
    return std::ldexp(below_two, greatest_exponent());
}

const FloatFormat& float_format(DType dtype) {
    user_check<TypeError>(is_inexact(dtype), "dtype: ", dtype,
                          " is given. A floating or complex dtype is required.");
    return traits(real_part_of(dtype)).format;
}

bool holds_all(DType to, DType from) {
    if (to == from || from == DType::boolean) return true;
    if (is_complex(from) && !is_complex(to)) return false;
    if (!is_inexact(to)) return is_integer(from) && promote(from, to) == to;
    const FloatFormat& format = float_format(to);
    if (is_inexact(from)) return holds_all(format, float_format(from));
    const int digits = 8 * size_of(from) - (is_signed_integer(from) ? 1 : 0);
    return digits <= format.digits() && digits <= format.greatest_exponent();
}

bool is_extension(DType dtype) { return traits(dtype).is_extension; }
std::string_view scalar_type_name(DType dtype) { return traits(dtype).scalar_type; }
std::string_view cpp_type_name(DType dtype) { return traits(dtype).cpp_type; }

DType signed_of_size(int64_t bytes) {
    return bytes == 1   ? DType::int8
           : bytes == 2 ? DType::int16
           : bytes == 4 ? DType::int32
                        : DType::int64;
}

DType unsigned_of_size(int64_t bytes) {
    return bytes == 1   ? DType::uint8
           : bytes == 2 ? DType::uint16
           : bytes == 4 ? DType::uint32
                        : DType::uint64;
}

std::string_view name(DType dtype) { return traits(dtype).name; }

std::optional<DType> find_dtype(std::string_view name) {
    for (const DTypeTraits& row : table)
        if (row.name == name) return row.dtype;
    return {};
}

DType dtype_from_name(std::string_view name) {
    if (const std::optional<DType> found = find_dtype(name)) return *found;
    fail<TypeError>("dtype: '", name, "' is not a dtype of composit. One of ", names_of_table(),
                    " is required.");
}

int size_of(DType dtype) { return traits(dtype).size; }
int align_of(DType dtype) { return traits(dtype).align; }
bool is_signed_integer(DType dtype) { return traits(dtype).kind == Kind::signed_integer; }
bool is_unsigned_integer(DType dtype) { return traits(dtype).kind == Kind::unsigned_integer; }
bool is_integer(DType dtype) { return is_signed_integer(dtype) || is_unsigned_integer(dtype); }
bool is_floating(DType dtype) { return traits(dtype).kind == Kind::floating; }
bool is_complex(DType dtype) { return traits(dtype).kind == Kind::complex; }
bool is_inexact(DType dtype) { return is_floating(dtype) || is_complex(dtype); }
DType real_part_of(DType dtype) { return traits(dtype).real_part; }

DType promote(DType a, DType b) {
    if (a == b) return a;
    if (a == DType::boolean) return b;
    if (b == DType::boolean) return a;
    if (is_complex(a) || is_complex(b)) {
        const DType real = promote(real_part_of(a), real_part_of(b));
        return size_of(real) <= 4 && is_floating(real) ? DType::complex64 : DType::complex128;
    }
    if (is_floating(a) && is_floating(b)) return promote_floats(a, b);
    if (is_floating(a) || is_floating(b)) {
        const DType real = is_floating(a) ? a : b;
        const DType integer = is_floating(a) ? b : a;
        if (is_extension(real)) return real;
        return promote_floats(real, float_for_integer(integer));
    }
    if (is_signed_integer(a) == is_signed_integer(b)) return size_of(a) > size_of(b) ? a : b;
    const DType with_sign = is_signed_integer(a) ? a : b;
    const DType without = is_signed_integer(a) ? b : a;
    if (size_of(without) < size_of(with_sign)) return with_sign;
    if (size_of(without) == 8) return DType::float64;
    return signed_of_size(2 * size_of(without));
}

bool can_cast_safely(DType from, DType to) { return promote(from, to) == to; }

std::ostream& operator<<(std::ostream& out, DType dtype) { return out << name(dtype); }

}  // namespace composit::ir
