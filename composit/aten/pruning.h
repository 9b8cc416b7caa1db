// Masks of PyTorch's torch.nn.utils.prune: 0 where an element is pruned.
#pragma once

#include "composit/numpy/operand.h"

#include <cstdint>

namespace composit::aten {

using ir::Tensor;

// The mask with 0 at the `count` elements of the least scores, which have its shape.
[[nodiscard]] Tensor prune_elements(const Tensor& mask, const Tensor& scores, int64_t count);
// The mask with 0 in the `count` slices along `dim` of the least scores, one for each slice.
[[nodiscard]] Tensor prune_channels(const Tensor& mask, const Tensor& scores, int64_t count,
                                    int64_t dim);

}  // namespace composit::aten
