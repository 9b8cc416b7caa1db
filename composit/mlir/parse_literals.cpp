// The elements of literals: numbers in decimal, in hexadecimal bits, and bytes.
#include "composit/ir/scalar/values.h"
#include "composit/mlir/lexer.h"

#include <charconv>
#include <cstring>

namespace composit::mlir::syntax {
namespace {

[[noreturn]] void fail_number(const Literal::Number& number, DType dtype) {
    fail_at(number.place, "found ", shown(number.spelling), ". An element of ",
            element_type_text(dtype), " is required.");
}

void put_float(DType dtype, const Literal::Number& number, char* at) {
    const std::string_view digits = number.spelling;
    const char *const begin = digits.data(), *const end = begin + digits.size();
    uint64_t bits = 0;
    const auto size = static_cast<size_t>(ir::size_of(dtype));
    if (digits.starts_with("0x")) {
        const auto read = std::from_chars(begin + 2, end, bits, 16);
        const bool fits = size == 8 || bits >> (8 * size) == 0;
        if (read.ptr != end || read.ec != std::errc() || !fits) fail_number(number, dtype);
        std::memcpy(at, &bits, size);
        return;
    }
    const auto known = float64_of(digits);
    if (!known) fail_number(number, dtype);
    bits = ir::scalar::bits_of(dtype, *known)[0];
    std::memcpy(at, &bits, size);
}

void put_integer(DType dtype, const Literal::Number& number, char* at) {
    std::string_view digits = number.spelling;
    const int width = 8 * ir::size_of(dtype);
    const bool is_negative = digits.starts_with('-');
    if (is_negative) digits.remove_prefix(1);
    const bool is_hexadecimal = digits.starts_with("0x");
    if (is_hexadecimal) digits.remove_prefix(2);
    uint64_t magnitude = 0;
    const char* const end = digits.data() + digits.size();
    const auto read = std::from_chars(digits.data(), end, magnitude, is_hexadecimal ? 16 : 10);
    // The greatest magnitude; bits of signed ones may be written as a number without a sign.
    const uint64_t all = width == 64 ? ~uint64_t{0} : (uint64_t{1} << width) - 1;
    const bool is_signed = ir::is_signed_integer(dtype);
    const uint64_t most = is_negative ? (is_signed ? uint64_t{1} << (width - 1) : 0) : all;
    if (read.ptr != end || read.ec != std::errc() || magnitude > most) fail_number(number, dtype);
    const uint64_t bits = is_negative ? ~magnitude + 1 : magnitude;
    std::memcpy(at, &bits, static_cast<size_t>(ir::size_of(dtype)));
}

void put(DType dtype, const Literal::Number& number, char* at) {
    if (ir::is_floating(dtype)) return put_float(dtype, number, at);
    if (dtype == DType::boolean || number.spelling == "true" || number.spelling == "false") {
        const bool is_true =
            number.spelling == "true" || number.spelling == "1" || number.spelling == "-1";
        const bool is_false = number.spelling == "false" || number.spelling == "0";
        if (dtype != DType::boolean || !(is_true || is_false)) fail_number(number, dtype);
        *at = is_true ? 1 : 0;
        return;
    }
    put_integer(dtype, number, at);
}

ir::Array from_bytes(const Literal& literal, const ValueType& type) {
    const std::string_view digits = literal.digits;
    const int64_t count = ir::element_count(type.shape);
    const int64_t size = ir::size_of(type.dtype), given = static_cast<int64_t>(digits.size()) / 2;
    // Bools are a byte each, or bits, the lowest one first.
    const bool is_bits = type.dtype == DType::boolean && given != count && given == (count + 7) / 8;
    const bool is_one = given == size && !is_bits;
    if (digits.size() % 2 != 0 || !(is_bits || is_one || given == count * size))
        fail_at(literal.place, "a literal of ", type_text(type), " has ", digits.size(),
                " hexadecimal digits. ", 2 * count * size, " are required.");
    std::string bytes(static_cast<size_t>(given), '\0');
    for (size_t i = 0; i < bytes.size(); ++i) {
        const int high = hexadecimal_digit(digits[2 * i]),
                  low = hexadecimal_digit(digits[2 * i + 1]);
        if (high < 0 || low < 0)
            fail_at(literal.place, "a literal has '", digits.substr(2 * i, 2),
                    "' among its digits. Hexadecimal digits are required.");
        bytes[i] = static_cast<char>(16 * high + low);
    }
    ir::Array made(type.dtype, is_one ? Shape() : type.shape);
    auto* const data = static_cast<char*>(made.mutable_data());
    if (!is_bits) {
        std::memcpy(data, bytes.data(), bytes.size());
    } else {
        for (size_t i = 0; i < static_cast<size_t>(count); ++i)
            data[i] = static_cast<char>((static_cast<unsigned char>(bytes[i / 8]) >> (i % 8)) & 1);
    }
    if (type.dtype == DType::boolean && !is_bits)
        for (int64_t i = 0; i < made.size(); ++i) data[i] = data[i] != 0 ? 1 : 0;
    return made;
}

}  // namespace

ir::Array elements_of(const Literal& literal, const ValueType& type) {
    if (is_open(type.shape))
        fail_at(literal.place, "a literal has the type ", type_text(type),
                ". Lengths that are known are required.");
    const int64_t count = ir::element_count(type.shape);
    if (literal.is_hexadecimal) return from_bytes(literal, type);
    if (literal.is_empty) {
        if (count != 0)
            fail_at(literal.place, "a literal of ", type_text(type),
                    " is empty. Its elements are required.");
        return ir::Array(type.dtype, type.shape);
    }
    const bool is_one = literal.shape.empty();
    if (!is_one && literal.shape != type.shape)
        fail_at(literal.place, "a literal of ", type_text(type), " has the shape ", literal.shape,
                ". Equal shapes are required.");
    const bool is_complex = ir::is_complex(type.dtype);
    const size_t parts = is_complex ? 2 : 1;
    const size_t wanted = (is_one ? 1 : static_cast<size_t>(count)) * parts;
    if (literal.numbers.size() != wanted || (literal.is_complex && !is_complex))
        fail_at(literal.place, "a literal of ", type_text(type), " has ", literal.numbers.size(),
                " numbers. ", wanted, " are required.");
    const DType dtype = is_complex ? ir::real_part_of(type.dtype) : type.dtype;
    ir::Array made(type.dtype, is_one ? Shape() : type.shape);
    auto* at = static_cast<char*>(made.mutable_data());
    for (const Literal::Number& number : literal.numbers) {
        put(dtype, number, at);
        at += ir::size_of(dtype);
    }
    return made;
}

}  // namespace composit::mlir::syntax
