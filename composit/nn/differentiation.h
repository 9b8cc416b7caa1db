// Operations whose derivative is chosen rather than derived.
#pragma once

#include "composit/ir/node.h"

namespace composit::nn {

// x, through which no gradient flows (torch's detach, JAX's stop_gradient).
[[nodiscard]] ir::Tensor stop_gradient(const ir::Tensor& x);

}  // namespace composit::nn
