// What convolutions of floats and of quantised numbers share.
#pragma once

#include "composit/onnx/call.h"

namespace composit::onnx {

// x convolved with filters by the attributes of a Conv.
[[nodiscard]] Tensor convolution_of(const Call& call, const Tensor& x, const Tensor& filters);

// x (batch, channels, …) plus a number for each channel; the bias may be empty.
[[nodiscard]] Tensor with_channel_bias(const Tensor& x, const Tensor& bias);

}  // namespace composit::onnx
