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

// `values`, through which the gradients of x flow, and none of its own: x after its memory was
// written behind the back of whoever differentiates. TypeError and ValueError unless dtypes and
// shapes are equal.
[[nodiscard]] ir::Tensor with_values(const ir::Tensor& x, const ir::Tensor& values);

}  // namespace composit::nn
