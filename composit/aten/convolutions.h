// PyTorch's convolutions: channels first, with or without a batch; lengths are one for all spatial
// axes or one for each.
#pragma once

#include "composit/numpy/operand.h"

#include <cstdint>
#include <vector>

namespace composit::aten {

using ir::Tensor;

struct ConvolutionOptions {
    std::vector<int64_t> stride = {}, padding = {}, dilation = {};  // 1, 0 and 1 where none is
    int64_t groups = 1;
    bool same_padding = false;                 // as much padding as keeps lengths
    std::vector<int64_t> output_padding = {};  // of transposed ones
};
// Cross-correlation of x with weight (channels out, channels in / groups, …), plus bias where there
// is one. RuntimeError for same_padding with strides.
[[nodiscard]] Tensor convolution(const Tensor& x, const Tensor& weight, const Tensor& bias,
                                 const ConvolutionOptions& options = {});
// The gradient of a convolution by its image; weight (channels in, channels out / groups, …).
// NotSupported for integers.
[[nodiscard]] Tensor transposed_convolution(const Tensor& x, const Tensor& weight,
                                            const Tensor& bias,
                                            const ConvolutionOptions& options = {});

}  // namespace composit::aten
