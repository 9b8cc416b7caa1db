// Constants as MLIR writes them.
#pragma once

#include "composit/ir/array.h"

#include <string>

namespace composit::mlir {

// "1.0", "-3", "true", "0x7FF00000", "(1.0, 0.0)": one element, as a literal of its own type.
[[nodiscard]] std::string number_literal(ir::DType dtype, const void* element);

// "dense<[1.0, 2.0]>": one value where all are equal; the bytes in hexadecimal digits where there
// are many. What is read from it has the same bits.
[[nodiscard]] std::string literal_text(const ir::Array& value);

}  // namespace composit::mlir
