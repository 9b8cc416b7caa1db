// Numbers as strings and back, as Cast writes and reads them.
#pragma once

#include "composit/ir/array.h"

#include <cstdint>
#include <string>

namespace composit::onnx {

// "0.1", "1e-05", "INF", "NaN", "-3", "1" and "0" for bool: the shortest text that reads back.
[[nodiscard]] std::string text_of_element(const ir::Array& array, int64_t i);

// ValueError where the text is no number.
[[nodiscard]] double number_of_text(const std::string& text);
[[nodiscard]] int64_t integer_of_text(const std::string& text);

}  // namespace composit::onnx
