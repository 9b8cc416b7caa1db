// Normalisations, attention and ResNet's module, composed of operations.
#include "composit/nn/layers.h"

#include "composit/base/error.h"
#include "composit/base/errors_as.h"
#include "composit/nn/differentiation.h"
#include "composit/nn/operations.h"
#include "composit/nn/transformers.h"
#include "composit/numpy/elementwise.h"
#include "composit/numpy/linear.h"
#include "composit/numpy/manipulation.h"
#include "composit/numpy/operators.h"
#include "composit/numpy/reductions.h"

#include <cmath>

namespace composit::nn {
namespace {

using numpy::apply;

// (x - mean) / sqrt(var + epsilon) over the axes: one division for each row.
Tensor normalised(const Tensor& x, const Axis& axis, double epsilon) {
    const Tensor deviation = x - numpy::mean(x, axis, {}, true);
    const Tensor variance = numpy::mean(deviation * deviation, axis, {}, true);
    return deviation * apply("reciprocal", {apply("sqrt", {variance + epsilon})});
}

Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias) {
    return numpy::matmul(x, weight) + bias;
}

Tensor per_channel(const Tensor& parameter, bool channels_last) {
    if (channels_last || parameter.rank() != 1) return parameter;
    return numpy::reshape(parameter, {parameter.size(), 1, 1});
}

Tensor convolution_norm(const Tensor& x, const ConvolutionNorm& layer, bool channels_last,
                        const std::vector<int64_t>& strides, int64_t padding) {
    const Tensor y =
        convolution(x, layer.filters,
                    {.channels_last = channels_last, .strides = strides, .padding = {padding}});
    return batch_norm(
        y, per_channel(layer.mean, channels_last), per_channel(layer.variance, channels_last),
        per_channel(layer.weight, channels_last), per_channel(layer.bias, channels_last));
}

}  // namespace

Tensor softmax(const Tensor& x, const Axis& axis) {
    const std::vector<int64_t> axes = axis.of("softmax", x.rank());
    return errors_as("softmax", [&] {
        // Nothing has no maximum, and its softmax is nothing.
        if (x.size() == 0) return apply("exp", {x});
        const Tensor powers = apply("exp", {x - stop_gradient(numpy::max(x, axes, true))});
        return powers / numpy::sum(powers, axes, {}, true);
    });
}

Tensor softmin(const Tensor& x, const Axis& axis) {
    return errors_as("softmin", [&] { return softmax(-x, axis); });
}

Tensor layer_norm(const Tensor& x, const Tensor& weight, const Tensor& bias, const Axis& axis,
                  double epsilon) {
    return errors_as("layer_norm", [&] {
        Tensor result = normalised(x, axis.of("layer_norm", x.rank()), epsilon);
        if (weight) result = result * weight;
        return bias ? result + bias : result;
    });
}

Tensor batch_norm(const Tensor& x, const Tensor& mean, const Tensor& variance, const Tensor& weight,
                  const Tensor& bias, double epsilon) {
    return errors_as("batch_norm", [&] {
        Tensor result = (x - mean) / apply("sqrt", {variance + epsilon});
        if (weight) result = result * weight;
        return bias ? result + bias : result;
    });
}

Tensor group_norm(const Tensor& x, const Tensor& weight, const Tensor& bias, int64_t channel_axis,
                  int64_t num_groups, double epsilon) {
    user_check(x.rank() >= 2, "group_norm: x has shape ", x.shape(),
               ". (batch, …) with a channel axis is required.");
    const int64_t axis = numpy::normalize_axis("group_norm", channel_axis, x.rank());
    const int64_t channels = x.shape()[static_cast<size_t>(axis)];
    user_check(axis > 0, "group_norm: channel_axis is the batch's axis, 0.");
    user_check(num_groups > 0 && channels % num_groups == 0, "group_norm: num_groups is ",
               num_groups, ", x has ", channels,
               " channels. Their number must be a multiple of num_groups.");
    // The channel axis becomes (groups, channels of a group).
    ir::Shape grouped = x.shape(), aligned(x.shape().size(), 1);
    grouped[static_cast<size_t>(axis)] = num_groups;
    grouped.insert(grouped.begin() + axis + 1, channels / num_groups);
    aligned[static_cast<size_t>(axis)] = channels;
    std::vector<int64_t> axes;
    for (int64_t d = 1; d < static_cast<int64_t>(grouped.size()); ++d)
        if (d != axis) axes.push_back(d);
    return errors_as("group_norm", [&] {
        Tensor result =
            numpy::reshape(normalised(numpy::reshape(x, grouped), axes, epsilon), x.shape());
        if (weight) result = result * numpy::reshape(weight, aligned);
        return bias ? result + numpy::reshape(bias, aligned) : result;
    });
}

Tensor scaled_dot_product_attention(const Tensor& query, const Tensor& key, const Tensor& value,
                                    const Tensor& mask) {
    for (const Tensor* x : {&query, &key, &value})
        user_check(x->rank() >= 2, "scaled_dot_product_attention: an operand has shape ",
                   x->shape(), ". (…, sequence, features) is required.");
    const auto head_size = static_cast<double>(query.shape().back());
    return errors_as("scaled_dot_product_attention", [&] {
        Tensor scores = numpy::matmul(query, numpy::swapaxes(key, -2, -1)) / std::sqrt(head_size);
        if (mask) scores = scores + mask;
        return numpy::matmul(softmax(scores, -1), value);
    });
}

Tensor multi_head_attention(const Tensor& hidden, const Tensor& mask,
                            const AttentionParameters& parameters, int64_t head_size) {
    return multi_head_attention(hidden, mask, parameters, head_size, MultiHeadOptions{});
}

Tensor feedforward(const Tensor& x, const Tensor& weight1, const Tensor& bias1,
                   const Tensor& weight2, const Tensor& bias2) {
    return errors_as("feedforward",
                     [&] { return linear(gelu(linear(x, weight1, bias1)), weight2, bias2); });
}

Tensor resnet_module(const Tensor& input, const ConvolutionNorm& first,
                     const ConvolutionNorm& second, const ConvolutionNorm& third,
                     const std::optional<ConvolutionNorm>& shortcut, bool channels_last,
                     const std::vector<int64_t>& module_strides) {
    return errors_as("resnet_module", [&] {
        Tensor x = relu(convolution_norm(input, first, channels_last, {}, 0));
        x = relu(convolution_norm(x, second, channels_last, module_strides, 1));
        x = convolution_norm(x, third, channels_last, {}, 0);
        const Tensor left =
            shortcut ? convolution_norm(input, *shortcut, channels_last, module_strides, 0) : input;
        return relu(x + left);
    });
}

}  // namespace composit::nn
