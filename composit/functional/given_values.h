// Graphs in which tensors have other values: what evaluation with inputs computes.
#pragma once

#include "composit/ir/node.h"

#include <vector>

namespace composit::functional {

// The outputs over constants in place of some tensors. ValueError, in the name of evaluate, where
// a value has another shape than its tensor, or a dtype that does not cast to the tensor's
// ("same_kind").
[[nodiscard]] std::vector<ir::Tensor> with_given_values(const std::vector<ir::Tensor>& outputs,
                                                        const std::vector<ir::Tensor>& tensors,
                                                        const std::vector<ir::Tensor>& values);

}  // namespace composit::functional
