// Constants as MLIR writes them.
#pragma once

#include "composit/ir/array.h"

#include <string>

namespace composit::mlir {

// "dense<[1.0, 2.0]>": one value where all are equal; the bytes in hexadecimal digits where there
// are many. What is read from it has the same bits.
[[nodiscard]] std::string literal_text(const ir::Array& value);

}  // namespace composit::mlir
