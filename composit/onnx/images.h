// Windows over the spatial axes of images, as convolutions and pools of ONNX name them.
#pragma once

#include "composit/onnx/call.h"

#include <cstdint>
#include <vector>

namespace composit::onnx {

// One of each for every spatial axis.
struct Windows {
    std::vector<int64_t> kernel, strides, dilations, low, high;
    std::vector<int64_t> counts;  // of windows

    [[nodiscard]] size_t axes() const { return kernel.size(); }
    // From the first to the last element of a window.
    [[nodiscard]] int64_t extent(size_t axis) const {
        return (kernel[axis] - 1) * dilations[axis] + 1;
    }
};

// The windows of a node over x (batch, channels, spatial…), by its attributes kernel_shape (or
// `kernel`), strides, dilations, pads, auto_pad and ceil_mode. With ceil_mode the high padding
// becomes what the last window needs. ValueError for windows that are larger than the padded x.
[[nodiscard]] Windows windows_of(const Call& call, const Shape& x,
                                 std::vector<int64_t> kernel = {});

}  // namespace composit::onnx
