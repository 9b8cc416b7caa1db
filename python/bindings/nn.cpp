// Operations, layers and random weights of composit/nn, into module composit._core.nn.
#include "nn.h"

#include "casters.h"
#include "composit/base/error.h"
#include "composit/nn/differentiation.h"
#include "composit/nn/initializers.h"
#include "composit/nn/layers.h"
#include "composit/nn/operations.h"
#include "flags.h"
#include "location.h"

namespace composit::python {
namespace {

using numpy::Axis;
using Integers = std::vector<int64_t>;
using Tensors = std::vector<Tensor>;

void bind_operations(nb::module_& module) {
    const nb::call_guard<Located> located;
    module.def("relu", &nn::relu, located);
    module.def("sigmoid", &nn::sigmoid, located);
    module.def("silu", &nn::silu, located);
    module.def("gelu", &nn::gelu, located);
    module.def("embedding", &nn::embedding, located);
    module.def("stop_gradient", &nn::stop_gradient, located);
    module.def(
        "convolution",
        [](const Tensor& x, const Tensor& filters, bool channels_last, const Integers& strides,
           const Integers& padding, const Integers& dilation, int64_t groups) {
            return nn::convolution(x, filters, {channels_last, strides, padding, dilation, groups});
        },
        located);
    const auto pool = [&](const char* name, auto function) {
        module.def(
            name,
            [function](const Tensor& x, const Integers& kernel_size, bool channels_last,
                       const Integers& strides, const Integers& padding) {
                return function(x, {kernel_size, channels_last, strides, padding});
            },
            located);
    };
    pool("max_pool", nn::max_pool);
    pool("average_pool", nn::average_pool);
    module.def(
        "logsumexp",
        [](const Tensor& x, int64_t axis, IntegerFlag keepdims) {
            return nn::logsumexp(x, axis, keepdims);
        },
        located);
    module.def("log_softmax", &nn::log_softmax, located);
    module.def("one_hot", &nn::one_hot, located);
    const auto loss = [&](const char* name, auto function) {
        module.def(
            name,
            [function](const Tensor& x, const Tensor& target, const std::string& reduction) {
                return function(x, target, reduction);
            },
            located);
    };
    loss("cross_entropy", nn::cross_entropy);
    loss("nll", nn::nll);
    loss("mse", nn::mse);
}

nn::ConvolutionNorm convolution_norm(const Tensors& parts) {
    user_check(parts.size() == 5, "resnet_module: ", parts.size(), " tensors for a convolution. ",
               "Filters, mean, variance, weight and bias are required.");
    return {parts[0], parts[1], parts[2], parts[3], parts[4]};
}

void bind_layers(nb::module_& module) {
    const nb::call_guard<Located> located;
    module.def("softmax", &nn::softmax, located);
    module.def("layer_norm", &nn::layer_norm, located);
    module.def("batch_norm", &nn::batch_norm, located);
    module.def("group_norm", &nn::group_norm, located);
    module.def("dropout", &nn::dropout, located);
    module.def(
        "scaled_dot_product_attention",
        [](const Tensor& query, const Tensor& key, const Tensor& value, const MaybeOperand& mask) {
            return nn::scaled_dot_product_attention(query, key, value, mask);
        },
        located);
    module.def(
        "multi_head_attention",
        [](const Tensor& hidden, const MaybeOperand& mask, const Tensors& p, int64_t head_size) {
            user_check(p.size() == 8, "multi_head_attention: ", p.size(),
                       " parameters. 8 are required.");
            return nn::multi_head_attention(
                hidden, mask, {p[0], p[1], p[2], p[3], p[4], p[5], p[6], p[7]}, head_size);
        },
        located);
    module.def("feedforward", &nn::feedforward, located);
    module.def(
        "resnet_module",
        [](const Tensor& input, const Tensors& first, const Tensors& second, const Tensors& third,
           const Tensors& shortcut, bool channels_last, const Integers& strides) {
            std::optional<nn::ConvolutionNorm> left;
            if (!shortcut.empty()) left = convolution_norm(shortcut);
            return nn::resnet_module(input, convolution_norm(first), convolution_norm(second),
                                     convolution_norm(third), left, channels_last, strides);
        },
        located);
}

void bind_initializers(nb::module_& module) {
    const nb::call_guard<Located> located;
    const auto weights = [&](const char* name, auto function) {
        module.def(
            name,
            [function](const Tensor& key, const ir::Shape& shape, int64_t in_axis, int64_t out_axis,
                       ir::DType dtype) {
                return function(key, shape, {in_axis, out_axis}, dtype);
            },
            located);
    };
    weights("glorot_normal", nn::glorot_normal);
    weights("glorot_uniform", nn::glorot_uniform);
    weights("he_normal", nn::he_normal);
    weights("he_uniform", nn::he_uniform);
    weights("lecun_normal", nn::lecun_normal);
    weights("lecun_uniform", nn::lecun_uniform);
    module.def(
        "variance_scaling",
        [](const Tensor& key, const ir::Shape& shape, double scale, const std::string& mode,
           const std::string& distribution, int64_t in_axis, int64_t out_axis, ir::DType dtype) {
            return nn::variance_scaling(key, shape, scale, mode, distribution, {in_axis, out_axis},
                                        dtype);
        },
        located);
}

}  // namespace

void bind_nn(nb::module_& module) {
    nn::register_operations();
    bind_operations(module);
    bind_layers(module);
    bind_initializers(module);
    bind_nn_training(module);
    bind_nn_files(module);
}

}  // namespace composit::python
