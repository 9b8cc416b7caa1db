// PyTorch's names of dtypes, for errors in its words.
#pragma once

#include "composit/ir/dtype.h"

#include <string_view>

namespace composit::ir {

// "Float", "Double", "Long", "Bool".
[[nodiscard]] std::string_view scalar_type_name(DType dtype);
// As C++ names it: "float", "double", "long int", "bool", "c10::Half".
[[nodiscard]] std::string_view cpp_type_name(DType dtype);

}  // namespace composit::ir
