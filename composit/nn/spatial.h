// Spatial axes of images: (batch, channels, spatial…), or channels last; what functions of images
// share.
#pragma once

#include "composit/numpy/operand.h"

#include <cstdint>
#include <string_view>
#include <vector>

namespace composit::nn {

using ir::Tensor;
using Axes = std::vector<int64_t>;

// One value per spatial axis: those given, a single one repeated, or `missing` for none. ValueError
// for another count, or values below `least`.
[[nodiscard]] Axes per_axis(std::string_view function, std::string_view argument, const Axes& given,
                            size_t count, int64_t missing, int64_t least);

// How many spatial axes x has. ValueError unless its rank is 3, 4 or 5.
[[nodiscard]] size_t spatial_axes(std::string_view function, const Tensor& x);

[[nodiscard]] Tensor channels_first(const Tensor& x, bool is_last);
[[nodiscard]] Tensor channels_back(const Tensor& x, bool to_last);

// Zeros for batch and channels, then sign * lengths.
[[nodiscard]] Axes with_batch_and_channels(const Axes& lengths, int64_t sign);

}  // namespace composit::nn
