// Functions composed of several operations that a user sees as one node.
#pragma once

#include "composit/numpy/operand.h"

#include <functional>
#include <string_view>
#include <vector>

namespace composit::numpy {

using Tensors = std::vector<Tensor>;

// A call node named `name` whose body is what `build` makes of placeholders for the operands. Weak
// operands are strong inside: resolve promotion before. Bodies must not depend on values. Errors of
// `build` name this function.
[[nodiscard]] Tensor one_node(std::string_view name, const Tensors& operands,
                              const std::function<Tensor(const Tensors&)>& build);

}  // namespace composit::numpy
