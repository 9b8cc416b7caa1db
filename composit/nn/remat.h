// Rematerialisation: what a function computed is forgotten, and computed again for its gradients.
#pragma once

#include "composit/ir/node.h"

#include <functional>
#include <string_view>
#include <vector>

namespace composit::nn {

using ir::Tensor;
using TensorFunction = std::function<std::vector<Tensor>(const std::vector<Tensor>&)>;

// The function as one node, whose gradients compute it again from its arguments and from what it
// captures: between the forward and the backward pass no memory is taken by what lies within. The
// values are the same, to the bit; a backward pass takes as much longer as the function takes.
//
//   for (const Layer& layer : layers) hidden = remat(layer)({hidden})[0];
[[nodiscard]] TensorFunction remat(TensorFunction function, std::string_view name = "remat");

}  // namespace composit::nn
