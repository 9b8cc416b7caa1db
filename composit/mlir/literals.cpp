// Numbers as text: decimal where that is exact, else their bits.
#include "composit/mlir/literals.h"

#include "composit/base/text.h"
#include "composit/ir/print.h"
#include "composit/ir/scalar/values.h"

#include <bit>
#include <cmath>
#include <cstdlib>
#include <cstring>

namespace composit::mlir {
namespace {

using ir::Array;
using ir::DType;

constexpr int64_t most_written_elements = 32;

std::string hexadecimal(uint64_t bits, int bytes) {
    static const char digits[] = "0123456789ABCDEF";
    std::string text = "0x";
    for (int k = 2 * bytes - 1; k >= 0; --k) text += digits[(bits >> (4 * k)) & 15];
    return text;
}

// A decimal point is required.
std::string with_point(std::string text) {
    if (text.find('.') != std::string::npos) return text;
    const size_t exponent = text.find('e');
    return text.insert(exponent == std::string::npos ? text.size() : exponent, ".0");
}

std::string floating(DType dtype, const void* element) {
    uint64_t bits = 0;
    const int bytes = ir::size_of(dtype);
    std::memcpy(&bits, element, static_cast<size_t>(bytes));
    const double value = ir::scalar::value_of(dtype, {bits, 0});
    if (!std::isfinite(value)) return hexadecimal(bits, bytes);
    // Readers go by way of double: a shorter text must not be rounded twice to something else.
    if (dtype == DType::float32) {
        const std::string text = number_text(static_cast<float>(value));
        if (static_cast<double>(static_cast<float>(std::strtod(text.c_str(), nullptr))) == value)
            return with_point(text);
    }
    return with_point(number_text(value));
}

std::string element(DType dtype, const char* at) {
    if (ir::is_complex(dtype)) {
        const DType part = ir::real_part_of(dtype);
        return "(" + floating(part, at) + ", " + floating(part, at + ir::size_of(part)) + ")";
    }
    return ir::is_floating(dtype) ? floating(dtype, at) : ir::element_text(dtype, at);
}

void put_nested(std::string& text, const Array& value, size_t axis, const char*& at) {
    if (axis == value.shape().size()) {
        text += element(value.dtype(), at);
        at += ir::size_of(value.dtype());
        return;
    }
    text += '[';
    for (int64_t i = 0; i < value.shape()[axis]; ++i) {
        if (i > 0) text += ", ";
        put_nested(text, value, axis + 1, at);
    }
    text += ']';
}

bool is_all_equal(const Array& value) {
    const auto size = static_cast<size_t>(ir::size_of(value.dtype()));
    const auto* const first = static_cast<const char*>(value.data());
    for (int64_t i = 1; i < value.size(); ++i)
        if (std::memcmp(first, first + static_cast<size_t>(i) * size, size) != 0) return false;
    return true;
}

}  // namespace

std::string number_literal(DType dtype, const void* at) {
    return element(dtype, static_cast<const char*>(at));
}

std::string literal_text(const Array& value) {
    if (value.size() == 0) return "dense<>";
    const auto* at = static_cast<const char*>(value.data());
    if (is_all_equal(value)) return "dense<" + element(value.dtype(), at) + ">";
    std::string text = "dense<";
    // Bools are bits there, whose order readers do not agree about.
    if (value.size() <= most_written_elements || value.dtype() == DType::boolean) {
        put_nested(text, value, 0, at);
        return text + ">";
    }
    static const char digits[] = "0123456789ABCDEF";
    text += "\"0x";
    for (int64_t i = 0; i < value.bytes(); ++i) {
        const auto byte = static_cast<unsigned char>(at[i]);
        text += digits[byte >> 4];
        text += digits[byte & 15];
    }
    return text + "\">";
}

}  // namespace composit::mlir
