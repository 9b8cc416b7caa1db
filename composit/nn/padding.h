// Padding in PyTorch's modes.
#pragma once

#include "composit/numpy/operand.h"

#include <cstdint>
#include <string_view>
#include <vector>

namespace composit::nn {

using ir::Tensor;

// x with elements around: `padding` holds (before, after) of the last axis, then of the one before
// it, and so on; negative lengths crop. mode "constant": of `value`; "reflect": mirrored at the
// outermost element, which is not repeated (lengths below the axis's); "replicate": the outermost
// element again; "circular": from the other end (lengths up to the axis's). ValueError for others.
[[nodiscard]] Tensor pad(const Tensor& x, const std::vector<int64_t>& padding,
                         std::string_view mode = "constant", double value = 0);

}  // namespace composit::nn
