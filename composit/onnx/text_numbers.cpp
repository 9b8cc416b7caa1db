// Numbers as strings and back.
#include "composit/onnx/text_numbers.h"

#include "composit/base/error.h"
#include "composit/ir/scalar/values.h"

#include <cerrno>
#include <cmath>
#include <cstdlib>

namespace composit::onnx {
namespace {

using ir::DType;

std::string text_of(double value, bool is_single) {
    if (std::isnan(value)) return "NaN";
    if (std::isinf(value)) return value < 0 ? "-INF" : "INF";
    return is_single ? number_text(static_cast<float>(value)) : number_text(value);
}

}  // namespace

std::string text_of_element(const ir::Array& array, int64_t i) {
    switch (array.dtype()) {
        case DType::boolean: return array.data_as<bool>()[i] ? "1" : "0";
        case DType::int8: return std::to_string(array.data_as<int8_t>()[i]);
        case DType::int16: return std::to_string(array.data_as<int16_t>()[i]);
        case DType::int32: return std::to_string(array.data_as<int32_t>()[i]);
        case DType::int64: return std::to_string(array.data_as<int64_t>()[i]);
        case DType::uint8: return std::to_string(array.data_as<uint8_t>()[i]);
        case DType::uint16: return std::to_string(array.data_as<uint16_t>()[i]);
        case DType::uint32: return std::to_string(array.data_as<uint32_t>()[i]);
        case DType::uint64: return std::to_string(array.data_as<uint64_t>()[i]);
        case DType::float32: return text_of(array.data_as<float>()[i], true);
        case DType::float64: return text_of(array.data_as<double>()[i], false);
        default: break;
    }
    if (ir::is_short_float(array.dtype())) {
        const auto bits = ir::scalar::element_bits(array.dtype(), array.data(), i);
        return text_of(ir::scalar::value_of(array.dtype(), bits), true);
    }
    fail<TypeError>("onnx: elements of ", array.dtype(),
                    " are written as text. Real numbers or bool are required.");
}

double number_of_text(const std::string& text) {
    char* end = nullptr;
    const double value = std::strtod(text.c_str(), &end);
    user_check(!text.empty() && *end == '\0', "onnx: '", text, "' is no number. One is required.");
    return value;
}

int64_t integer_of_text(const std::string& text) {
    char* end = nullptr;
    errno = 0;
    const int64_t value = std::strtoll(text.c_str(), &end, 10);
    if (!text.empty() && *end == '\0' && errno == 0) return value;
    const double number = number_of_text(text);
    user_check<OverflowError>(std::abs(number) < 9.2e18, "onnx: '", text,
                              "' is no integer of 64 bits. One is required.");
    return static_cast<int64_t>(number);
}

}  // namespace composit::onnx
