// Attention, normalisations and layers of transformers of composit/nn, into module
// composit._core.nn.
#include "casters.h"
#include "composit/base/error.h"
#include "composit/nn/attention.h"
#include "composit/nn/layers.h"
#include "composit/nn/normalization.h"
#include "composit/nn/transformers.h"
#include "location.h"
#include "nn.h"

namespace composit::python {
namespace {

using numpy::Axis;
using Tensors = std::vector<Tensor>;
using Maybe = MaybeOperand;

// The tensors of a layer, one after the other; None is an empty one.
class Parameters {
  public:
    Parameters(std::string_view function, const std::vector<std::optional<Tensor>>& given,
               size_t required)
        : function_(function), given_(given) {
        user_check<TypeError>(given.size() == required, function, ": ", given.size(),
                              " parameters. ", required, " are required.");
    }
    Tensor next() { return given_[at_++].value_or(Tensor()); }
    Tensor weight() {
        user_check<TypeError>(
            given_[at_].has_value(), function_, ": parameter ", at_,
            " is None, which only biases and norms may be. A weight is required.");
        return next();
    }
    nn::AttentionParameters attention() {
        nn::AttentionParameters p;
        p.query_weight = weight(), p.query_bias = next();
        p.key_weight = weight(), p.key_bias = next();
        p.value_weight = weight(), p.value_bias = next();
        p.output_weight = weight(), p.output_bias = next();
        return p;
    }
    nn::Scale scale() {
        const Tensor weight = next();
        return {weight, next()};
    }
    nn::FeedForward feedforward() {
        nn::FeedForward p;
        p.weight1 = weight(), p.bias1 = next();
        p.weight2 = weight(), p.bias2 = next();
        return p;
    }

  private:
    std::string_view function_;
    const std::vector<std::optional<Tensor>>& given_;
    size_t at_ = 0;
};

std::vector<std::optional<Tensor>> tensors_of(nb::handle given) {
    std::vector<std::optional<Tensor>> made;
    for (nb::handle one : nb::iter(given))
        made.push_back(one.is_none() ? std::nullopt : std::optional<Tensor>(tensor_from(one)));
    return made;
}

void bind_attention(nb::module_& module) {
    const nb::call_guard<Located> located;
    module.def(
        "scaled_dot_product_attention",
        [](const Tensor& query, const Tensor& key, const Tensor& value, const Maybe& mask,
           bool is_causal, std::optional<double> scale, bool group_heads, const Maybe& position) {
            const bool is_plain = !is_causal && !scale && !group_heads && !position &&
                                  (!mask || mask.tensor().dtype() != ir::DType::boolean);
            if (is_plain) return nn::scaled_dot_product_attention(query, key, value, mask);
            return nn::scaled_dot_product_attention(
                query, key, value, {mask, is_causal, scale, group_heads, position});
        },
        located);
    module.def("update_cache", &nn::update_cache, located);
    module.def(
        "rotary_angles",
        [](const Tensor& positions, int64_t size, double base, ir::DType dtype) {
            const nn::Rotations made = nn::rotary_angles(positions, size, base, dtype);
            return Tensors{made.cosine, made.sine};
        },
        located);
    module.def("rotary_embedding", &nn::rotary_embedding, located);
}

void bind_normalization(nb::module_& module) {
    const nb::call_guard<Located> located;
    module.def(
        "rms_norm",
        [](const Tensor& x, const Maybe& weight, const Axis& axis, std::optional<double> epsilon) {
            return nn::rms_norm(x, weight, axis, epsilon);
        },
        located);
    module.def(
        "instance_norm",
        [](const Tensor& x, const Maybe& weight, const Maybe& bias, int64_t channel_axis,
           double epsilon) { return nn::instance_norm(x, weight, bias, channel_axis, epsilon); },
        located);
    module.def(
        "batch_norm_training",
        [](const Tensor& x, const Tensor& mean, const Tensor& variance, const Maybe& weight,
           const Maybe& bias, int64_t channel_axis, double momentum, double epsilon) {
            const nn::BatchNorm made = nn::batch_norm_training(x, mean, variance, weight, bias,
                                                               channel_axis, momentum, epsilon);
            return Tensors{made.result, made.mean, made.variance};
        },
        located);
    module.def("normalize", &nn::normalize, located);
}

void bind_transformers(nb::module_& module) {
    const nb::call_guard<Located> located;
    module.def(
        "multi_head_attention",
        [](const Tensor& hidden, const Maybe& mask, nb::object parameters, int64_t head_size,
           const Maybe& memory, bool is_causal) {
            const auto given = tensors_of(parameters);
            Parameters p("multi_head_attention", given, 8);
            return nn::multi_head_attention(hidden, mask, p.attention(), head_size,
                                            {memory, is_causal});
        },
        located);
    module.def(
        "transformer_encoder_layer",
        [](const Tensor& hidden, const Maybe& mask, nb::object parameters, int64_t head_size,
           bool norm_first, const std::string& activation, bool is_causal, double epsilon) {
            const auto given = tensors_of(parameters);
            Parameters p("transformer_encoder_layer", given, 16);
            nn::EncoderParameters layer;
            layer.attention = p.attention();
            layer.attention_norm = p.scale();
            layer.feedforward = p.feedforward();
            layer.feedforward_norm = p.scale();
            return nn::transformer_encoder_layer(hidden, mask, layer, head_size,
                                                 {norm_first, activation, is_causal, epsilon});
        },
        located);
    module.def(
        "transformer_decoder_layer",
        [](const Tensor& hidden, const Tensor& memory, const Maybe& mask, const Maybe& memory_mask,
           nb::object parameters, int64_t head_size, bool norm_first, const std::string& activation,
           bool is_causal, double epsilon) {
            const auto given = tensors_of(parameters);
            Parameters p("transformer_decoder_layer", given, 26);
            nn::DecoderParameters layer;
            layer.attention = p.attention();
            layer.attention_norm = p.scale();
            layer.cross_attention = p.attention();
            layer.cross_norm = p.scale();
            layer.feedforward = p.feedforward();
            layer.feedforward_norm = p.scale();
            return nn::transformer_decoder_layer(hidden, memory, mask, memory_mask, layer,
                                                 head_size,
                                                 {norm_first, activation, is_causal, epsilon});
        },
        located);
}

}  // namespace

void bind_nn_attention(nb::module_& module) {
    bind_attention(module);
    bind_normalization(module);
    bind_transformers(module);
}

}  // namespace composit::python
