// Images of another size: nearest elements, weighted neighbours, means.
#pragma once

#include "composit/numpy/operand.h"

#include <cstdint>
#include <string_view>
#include <vector>

namespace composit::nn {

using ir::Tensor;

// Lengths of the result along the spatial axes, one for each or a single one for all: `size`, or
// floor(length * scale_factor). With both the lengths are size's, and positions go by the factor.
// mode "nearest" (of the elements at floor(i * length / size)), "nearest-exact" (at the centres'
// nearest), "linear" ("bilinear" and "trilinear" are its names with two and three spatial axes),
// "bicubic" (two spatial axes, a = -0.75), "area" (means, as adaptive_average_pool).
// align_corners: the outermost elements stay where they are, else the outermost edges do.
// antialias: results take of all elements they cover ("linear" and "bicubic", two spatial axes).
struct InterpolateOptions {
    std::vector<int64_t> size = {};
    std::vector<double> scale_factor = {};
    std::string_view mode = "nearest";
    bool align_corners = false, antialias = false, channels_last = false;
};
// The values and gradients of PyTorch's interpolate. x has rank 3, 4 or 5. Nearest elements have
// x's dtype, whatever it is; other modes compute integers and bool as float64, short floats in
// float32. ValueError for other modes, lengths below 1, or options that the mode does not have.
[[nodiscard]] Tensor interpolate(const Tensor& x, const InterpolateOptions& options);

}  // namespace composit::nn
