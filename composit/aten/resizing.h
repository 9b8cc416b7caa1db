// Images of another size.
#pragma once

#include "composit/numpy/operand.h"

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace composit::aten {

using ir::Tensor;

struct ResizeOptions {
    std::string_view mode = "nearest";  // composit/nn/resizing.h
    bool align_corners = false, antialias = false;
};
// Of `size` along the spatial axes; where it is empty, floor(length * factor). With both, positions
// go by the factors; those that are missing, or not positive, are the ratios of lengths.
[[nodiscard]] Tensor upsample(const Tensor& x, const std::vector<int64_t>& size,
                              const std::vector<std::optional<double>>& factors,
                              const ResizeOptions& options = {});

// torch.nn.functional's: one of size and factors, one for all spatial axes or one for each.
// `recompute`: the factors say the size alone. ValueError, PyTorch's words, for none of them and
// for both; NotSupported where the mode is of another number of axes.
[[nodiscard]] Tensor interpolate(const Tensor& x, const std::vector<int64_t>& size,
                                 const std::vector<double>& factors,
                                 const ResizeOptions& options = {}, bool recompute = false);

}  // namespace composit::aten
