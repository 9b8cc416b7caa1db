// What convolutions of floats and of quantised numbers share.
#pragma once

#include "composit/onnx/call.h"

namespace composit::onnx {

// x convolved with filters by the attributes of a Conv. Around x lies `outside`, one number of its
// dtype, and both are of the filters' dtype then; 0 where that is empty.
[[nodiscard]] Tensor convolution_of(const Call& call, const Tensor& x, const Tensor& filters,
                                    const Tensor& outside = {});

// x (batch, channels, …) plus a number for each channel; the bias may be empty.
[[nodiscard]] Tensor with_channel_bias(const Tensor& x, const Tensor& bias);

}  // namespace composit::onnx
