// Normalisations beside layer_norm, batch_norm and group_norm (layers.h), composed of operations.
#pragma once

#include "composit/numpy/axis.h"
#include "composit/numpy/operand.h"

#include <cstdint>
#include <optional>

namespace composit::nn {

using ir::Tensor;
using numpy::Axis;

// x / sqrt(mean(x^2) + epsilon) * weight over `axis`, one or several; the weight, which broadcasts
// to x, may be left out. epsilon: the dtype's machine epsilon unless given, as PyTorch's.
[[nodiscard]] Tensor rms_norm(const Tensor& x, const Tensor& weight = {}, const Axis& axis = -1,
                              std::optional<double> epsilon = {});

// x of rank >= 3, batch first: each image's channels normalised over the spatial axes. weight and
// bias, (channels,), may be left out.
[[nodiscard]] Tensor instance_norm(const Tensor& x, const Tensor& weight, const Tensor& bias,
                                   int64_t channel_axis, double epsilon = 1e-5);

// What a training step of batch normalisation gives: the result, and the statistics to keep,
// (channels,), through which no gradient flows.
struct BatchNorm {
    Tensor result, mean, variance;
};
// (x - mean) / sqrt(variance + epsilon) * weight + bias with the mean and variance of x over all
// axes but channel_axis. running_mean and running_variance, (channels,), move by `momentum` towards
// the mean and the unbiased variance of x. weight and bias, (channels,), may be left out.
// ValueError when there is one element for each channel.
[[nodiscard]] BatchNorm batch_norm_training(const Tensor& x, const Tensor& running_mean,
                                            const Tensor& running_variance, const Tensor& weight,
                                            const Tensor& bias, int64_t channel_axis,
                                            double momentum = 0.1, double epsilon = 1e-5);

// x / maximum(norm, epsilon) where norm is (sum(|x|^p))^(1/p) along the axis or axes.
[[nodiscard]] Tensor normalize(const Tensor& x, double p = 2, const Axis& axis = 1,
                               double epsilon = 1e-12);

}  // namespace composit::nn
