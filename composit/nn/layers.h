// Layers composed of operations; the graph shows what they are made of.
#pragma once

#include "composit/numpy/axis.h"
#include "composit/numpy/operand.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace composit::nn {

using ir::Tensor;
using numpy::Axis;

// exp(x - max(x)) / sum(…) along the axis or axes.
[[nodiscard]] Tensor softmax(const Tensor& x, const Axis& axis);
[[nodiscard]] Tensor softmin(const Tensor& x, const Axis& axis);  // softmax(-x)

// (x - mean) / sqrt(var + epsilon) * weight + bias, over `axis` (one or several); weight and bias
// broadcast to x, and may be empty.
[[nodiscard]] Tensor layer_norm(const Tensor& x, const Tensor& weight, const Tensor& bias,
                                const Axis& axis = -1, double epsilon = 1e-5);

// Inference: (x - mean) / sqrt(variance + epsilon) * weight + bias; all broadcast against x as they
// are (per channel: (channels,) with channels last, (channels, 1, 1) with channels first). weight
// and bias may be empty.
[[nodiscard]] Tensor batch_norm(const Tensor& x, const Tensor& mean, const Tensor& variance,
                                const Tensor& weight, const Tensor& bias, double epsilon = 1e-5);

// x of rank >= 2 with batch first: each of num_groups groups of channels normalised over its
// channels and the spatial axes. weight and bias: (channels,), or empty. ValueError when the
// channels do not divide into groups.
[[nodiscard]] Tensor group_norm(const Tensor& x, const Tensor& weight, const Tensor& bias,
                                int64_t channel_axis, int64_t num_groups, double epsilon = 1e-5);

// Each element zero with probability `rate`, or else divided by 1 - rate: training's form; in
// inference it is left out. The same key leaves out the same elements. ValueError: rate outside [0,
// 1]; TypeError: x is not floating.
[[nodiscard]] Tensor dropout(const Tensor& x, double rate, const Tensor& key);

// softmax(query @ key^T / sqrt(head size) + mask) @ value over the last two axes; the mask may be
// left out.
[[nodiscard]] Tensor scaled_dot_product_attention(const Tensor& query, const Tensor& key,
                                                  const Tensor& value, const Tensor& mask = {});

// Weights (in, out) and biases (out,) of the four projections.
struct AttentionParameters {
    Tensor query_weight, query_bias, key_weight, key_bias;
    Tensor value_weight, value_bias, output_weight, output_bias;
};
// hidden (batch, sequence, in) -> (batch, sequence, out). The additive mask, broadcast to (batch,
// heads, sequence, sequence), may be empty. ValueError when head_size does not divide the
// projections' width.
[[nodiscard]] Tensor multi_head_attention(const Tensor& hidden, const Tensor& mask,
                                          const AttentionParameters& parameters, int64_t head_size);

// gelu(x @ weight1 + bias1) @ weight2 + bias2
[[nodiscard]] Tensor feedforward(const Tensor& x, const Tensor& weight1, const Tensor& bias1,
                                 const Tensor& weight2, const Tensor& bias2);

// A convolution followed by batch normalisation.
struct ConvolutionNorm {
    Tensor filters, mean, variance, weight, bias;
};
// ResNet's bottleneck: three convolutions (1x1; 3x3 with module_strides and padding 1; 1x1), each
// normalised, relu after the first two, added to `shortcut` of the input (a 1x1 convolution with
// module_strides; nothing: the input itself), relu. mean, variance, weight and bias are
// (channels,).
[[nodiscard]] Tensor resnet_module(const Tensor& input, const ConvolutionNorm& first,
                                   const ConvolutionNorm& second, const ConvolutionNorm& third,
                                   const std::optional<ConvolutionNorm>& shortcut,
                                   bool channels_last,
                                   const std::vector<int64_t>& module_strides = {1, 1});

}  // namespace composit::nn
