// Operations whose derivative is chosen rather than derived.
#pragma once

#include "composit/ir/node.h"

namespace composit::nn {

// x, through which no gradient flows (torch's detach, JAX's stop_gradient).
[[nodiscard]] ir::Tensor stop_gradient(const ir::Tensor& x);

// x, through which gradients flow where `condition` (bool; of a shape that broadcasts to x's)
// holds; elsewhere they become zeros, whatever they are, NaN too. TypeError for another dtype of
// the condition, ValueError for its shape.
[[nodiscard]] ir::Tensor gradient_where(const ir::Tensor& condition, const ir::Tensor& x);

}  // namespace composit::nn
