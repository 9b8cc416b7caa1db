#include "composit/ir/dtype.h"

#include "composit/base/error.h"

#include <algorithm>
#include <array>

namespace composit::ir {
namespace {

enum class Kind : uint8_t { boolean, signed_integer, unsigned_integer, floating, complex };

struct Info {
    std::string_view name;
    uint8_t size;
    uint8_t align;
    Kind kind;
};

constexpr std::array<Info, dtype_count> table{{
    {"bool", 1, 1, Kind::boolean},
    {"int8", 1, 1, Kind::signed_integer},
    {"int16", 2, 2, Kind::signed_integer},
    {"int32", 4, 4, Kind::signed_integer},
    {"int64", 8, 8, Kind::signed_integer},
    {"uint8", 1, 1, Kind::unsigned_integer},
    {"uint16", 2, 2, Kind::unsigned_integer},
    {"uint32", 4, 4, Kind::unsigned_integer},
    {"uint64", 8, 8, Kind::unsigned_integer},
    {"float16", 2, 2, Kind::floating},
    {"bfloat16", 2, 2, Kind::floating},
    {"float32", 4, 4, Kind::floating},
    {"float64", 8, 8, Kind::floating},
    {"complex64", 8, 4, Kind::complex},
    {"complex128", 16, 8, Kind::complex},
}};

const Info& info(DType dtype) { return table[static_cast<size_t>(dtype)]; }

// The smallest float whose precision holds every value of an integer type.
DType float_for_integer(DType integer) {
    const int size = size_of(integer);
    return size == 1 ? DType::float16 : size == 2 ? DType::float32 : DType::float64;
}

DType promote_floats(DType a, DType b) {
    if (a == b) return a;
    if (size_of(a) == 2 && size_of(b) == 2) return DType::float32;  // float16 with bfloat16
    return size_of(a) > size_of(b) ? a : b;
}

}  // namespace

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

std::string_view name(DType dtype) { return info(dtype).name; }

std::optional<DType> find_dtype(std::string_view name) {
    for (int i = 0; i < dtype_count; ++i)
        if (table[i].name == name) return static_cast<DType>(i);
    return {};
}

DType dtype_from_name(std::string_view name) {
    if (const std::optional<DType> found = find_dtype(name)) return *found;
    fail<TypeError>("dtype: '", name,
                    "' is not a dtype of composit. One of bool, int8 to int64, uint8 to uint64, "
                    "float16, bfloat16, float32, float64, complex64, complex128 is required.");
}

int size_of(DType dtype) { return info(dtype).size; }
int align_of(DType dtype) { return info(dtype).align; }
bool is_signed_integer(DType dtype) { return info(dtype).kind == Kind::signed_integer; }
bool is_unsigned_integer(DType dtype) { return info(dtype).kind == Kind::unsigned_integer; }
bool is_integer(DType dtype) { return is_signed_integer(dtype) || is_unsigned_integer(dtype); }
bool is_floating(DType dtype) { return info(dtype).kind == Kind::floating; }
bool is_complex(DType dtype) { return info(dtype).kind == Kind::complex; }
bool is_half(DType dtype) { return dtype == DType::float16 || dtype == DType::bfloat16; }
bool is_inexact(DType dtype) { return is_floating(dtype) || is_complex(dtype); }

DType real_part_of(DType dtype) {
    if (dtype == DType::complex64) return DType::float32;
    if (dtype == DType::complex128) return DType::float64;
    return dtype;
}

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
        if (real == DType::bfloat16) return real;
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
