// Values of images and volumes at places between their elements.
#pragma once

#include "composit/numpy/operand.h"

#include <cstdint>
#include <vector>

namespace composit::aten {

using ir::Tensor;

enum class GridMode : int64_t { bilinear = 0, nearest = 1, bicubic = 2 };
enum class GridPadding : int64_t { zeros = 0, border = 1, reflection = 2 };

// x (batch, channels, height, width), or with depth, at the places of grid (batch, height, width,
// 2): x and y, or x, y and z, from -1 to 1. ValueError, PyTorch's words, for shapes that do not fit
// and for bicubic volumes.
[[nodiscard]] Tensor grid_sample(const Tensor& x, const Tensor& grid,
                                 GridMode mode = GridMode::bilinear,
                                 GridPadding padding = GridPadding::zeros,
                                 bool align_corners = false);

// Where grid_sample looks for affine maps theta (batch, 2, 3) or (batch, 3, 4): (batch, height,
// width, 2), or with depth 3, for images of this size, (batch, channels, height, width), or with
// depth.
[[nodiscard]] Tensor affine_grid(const Tensor& theta, const ir::Shape& size,
                                 bool align_corners = false);

}  // namespace composit::aten
