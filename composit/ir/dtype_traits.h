// What each dtype is, and what it is called elsewhere: one table, which everything else asks or
// walks (docs/adding-a-dtype.md).
//
//   traits(DType::bfloat16).format.mantissa_bits  // 7
//   traits(DType::bfloat16).safetensors           // "BF16"
#pragma once

#include "composit/ir/dtype.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace composit::ir {

enum class DTypeKind : uint8_t { boolean, signed_integer, unsigned_integer, floating, complex };

// A binary float: a sign, an exponent, a mantissa without its first bit. Exponent 0 is that of
// subnormal numbers.
struct FloatFormat {
    int exponent_bits = 0, mantissa_bits = 0;
    // True: the greatest exponent holds infinity and NaN only. False: there is no infinity, the
    // greatest exponent holds numbers, and only all ones are NaN, which too large numbers become.
    bool has_infinity = true;

    [[nodiscard]] constexpr int digits() const { return mantissa_bits + 1; }
    [[nodiscard]] constexpr int bits() const { return 1 + exponent_bits + mantissa_bits; }
    [[nodiscard]] constexpr int bias() const { return (1 << (exponent_bits - 1)) - 1; }
    [[nodiscard]] constexpr int least_exponent() const { return 1 - bias(); }  // of normal numbers
    [[nodiscard]] constexpr int greatest_exponent() const {
        return bias() + (has_infinity ? 0 : 1);
    }

    // Bits without the sign, of short floats.
    [[nodiscard]] constexpr uint32_t sign_bit() const { return 1u << (bits() - 1); }
    [[nodiscard]] constexpr uint32_t nan_bits() const {
        const uint32_t ones = sign_bit() - 1;
        return has_infinity ? ones - ((1u << (mantissa_bits - 1)) - 1) : ones;
    }
    [[nodiscard]] constexpr uint32_t greatest_bits() const {
        const uint32_t ones = sign_bit() - 1;
        return has_infinity ? ones - (1u << mantissa_bits) : ones - 1;
    }
    // What a number too large becomes: infinity, or NaN.
    [[nodiscard]] constexpr uint32_t overflow_bits() const { return greatest_bits() + 1; }

    [[nodiscard]] double epsilon() const;       // from 1 to the next number
    [[nodiscard]] double least_normal() const;  // 2^least_exponent
    [[nodiscard]] double greatest() const;      // of the finite numbers
};

// Which classes PyTorch names after a dtype. Dtypes that PyTorch added lately have none.
enum class TorchClasses : uint8_t {
    none,
    storage,            // ComplexFloatStorage
    storage_and_tensor  // FloatStorage, FloatTensor
};

// What PyTorch lets floats do: those of 8 bits are stored, converted and multiplied only.
enum class TorchUse : uint8_t { computed, stored };

struct DTypeTraits {
    DType dtype;
    std::string_view name;
    uint8_t size, align;
    DTypeKind kind;
    DType real_part;
    FloatFormat format = {};    // of floats
    bool is_extension = false;  // NumPy has it by the package ml_dtypes only
    // PyTorch's names: in texts ("Half"), of C++ ("c10::Half"), and short ones ("half").
    std::string_view scalar_type, cpp_type, torch_alias = {};
    TorchClasses torch_classes = TorchClasses::none;
    TorchUse torch_use = TorchUse::computed;
    double torch_rtol = 0, torch_atol = 0;  // by which torch.testing takes numbers for equal
    // Names in files and texts; empty where there is none.
    int onnx = 0;  // TensorProto.DataType
    std::string_view safetensors = {};
    std::string_view mlir = {};
    uint8_t dlpack = 0;  // DLDataTypeCode
};

const DTypeTraits& traits(DType dtype);
const std::array<DTypeTraits, dtype_count>& all_traits();

// That of a floating dtype; of a complex one that of its parts. TypeError for others.
const FloatFormat& float_format(DType dtype);
// Whether each value of `from` is one of `to`, so that converting there and back changes nothing.
bool holds_all(DType to, DType from);
// Whether it is a float that NumPy has by the package ml_dtypes only.
bool is_extension(DType dtype);

// PyTorch's names, for errors in its words: "Float", "Long"; as C++ says them: "float", "long int",
// "c10::Half".
[[nodiscard]] std::string_view scalar_type_name(DType dtype);
[[nodiscard]] std::string_view cpp_type_name(DType dtype);

}  // namespace composit::ir
