// Operations, layers and random weights of composit/nn, into module composit._core.nn.
#include "nn.h"

#include "casters.h"
#include "composit/base/error.h"
#include "composit/nn/choosing.h"
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
    module.def(
        "embedding",
        [](const Tensor& ids, const Tensor& weights, std::optional<int64_t> padding_idx) {
            return nn::embedding(ids, weights, padding_idx);
        },
        located);
    module.def("stop_gradient", &nn::stop_gradient, located);
    module.def("gradient_where", &nn::gradient_where, located);
    module.def("with_values", &nn::with_values, located);
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

void bind_layers(nb::module_& module) {
    const nb::call_guard<Located> located;
    module.def("softmax", &nn::softmax, located);
    module.def("softmin", &nn::softmin, located);
    module.def(
        "layer_norm",
        [](const Tensor& x, const MaybeOperand& weight, const MaybeOperand& bias, const Axis& axis,
           double epsilon) { return nn::layer_norm(x, weight, bias, axis, epsilon); },
        located);
    module.def("batch_norm", &nn::batch_norm, located);
    module.def("group_norm", &nn::group_norm, located);
    module.def("dropout", &nn::dropout, located);
    module.def("feedforward", &nn::feedforward, located);
    module.def(
        "resnet_module",
        // Five parameters of each convolution; those of the shortcut may be missing, or None.
        [](const Tensor& input, const nb::tuple& parameters, bool channels_last,
           const Integers& strides) {
            const size_t count = parameters.size();
            user_check<TypeError>(count == 15 || count == 20, "resnet_module: ", count,
                                  " parameters. 15, or 20 with a shortcut, are required.");
            const auto part = [&](size_t number) {
                const auto at = [&](size_t i) { return tensor_from(parameters[5 * number + i]); };
                return nn::ConvolutionNorm{at(0), at(1), at(2), at(3), at(4)};
            };
            std::optional<nn::ConvolutionNorm> shortcut;
            if (count == 20 && !parameters[15].is_none()) shortcut = part(3);
            return nn::resnet_module(input, part(0), part(1), part(2), shortcut, channels_last,
                                     strides);
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

void bind_nn_choosing(nb::module_& module) {
    module.def(
        "choose_token",
        [](const nb::object& logits, const nb::callable& draw, double temperature,
           std::optional<int64_t> top_k, std::optional<double> top_p) {
            return nn::choose_token(array_from(numpy_attribute("asarray")(logits), false),
                                    [&] { return nb::cast<double>(draw()); },
                                    {temperature, top_k, top_p});
        },
        nb::arg("logits"), nb::arg("draw"), nb::arg("temperature"), nb::arg("top_k").none(),
        nb::arg("top_p").none());
}

}  // namespace

void bind_nn(nb::module_& module) {
    bind_nn_choosing(module);
    nn::register_operations();
    bind_nn_activations(module);
    bind_nn_attention(module);
    bind_nn_images(module);
    bind_operations(module);
    bind_layers(module);
    bind_initializers(module);
    bind_nn_losses(module);
    bind_nn_recurrent(module);
    bind_nn_training(module);
    bind_nn_files(module);
    bind_nn_checkpoints(module);
    bind_nn_archives(module);
    bind_nn_quantization(module);
}

}  // namespace composit::python
