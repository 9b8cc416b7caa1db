// Layers of transformers, composed of attention, products and normalisations.
#include "composit/nn/transformers.h"

#include "composit/base/error.h"
#include "composit/base/errors_as.h"
#include "composit/nn/attention.h"
#include "composit/nn/operations.h"
#include "composit/numpy/linear.h"
#include "composit/numpy/manipulation.h"
#include "composit/numpy/operators.h"

namespace composit::nn {
namespace {

Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias) {
    const Tensor product = numpy::matmul(x, weight);
    return bias ? product + bias : product;
}

// (batch, sequence, heads * size) -> (batch, heads, sequence, size)
Tensor split_heads(const Tensor& x, int64_t head_size) {
    user_check(x.rank() == 3, "multi_head_attention: hidden has ", x.rank(),
               " dimensions. (batch, sequence, features) is required.");
    user_check(head_size > 0 && x.shape()[2] % head_size == 0,
               "multi_head_attention: head_size is ", head_size, ", the projection is ",
               x.shape()[2], " wide. The width must be a multiple of head_size.");
    const Tensor heads =
        numpy::reshape(x, {x.shape()[0], x.shape()[1], x.shape()[2] / head_size, head_size});
    return numpy::transpose(heads, std::vector<int64_t>{0, 2, 1, 3});
}

Tensor activated(std::string_view function, std::string_view name, const Tensor& x) {
    if (name == "relu") return relu(x);
    if (name == "gelu") return gelu(x);
    user_check(name == "silu", function, ": activation is '", name,
               "'. Available: relu, gelu, silu.");
    return silu(x);
}

// The parts of a layer, of `hidden` or of it normalised.
class Layer {
  public:
    Layer(std::string_view function, const TransformerOptions& options, Tensor hidden)
        : function_(function), options_(options), hidden_(std::move(hidden)) {}

    template <class Part>
    void add(const Scale& norm, const Part& part) {
        if (options_.norm_first)
            hidden_ = hidden_ + part(normed(hidden_, norm));
        else
            hidden_ = normed(hidden_ + part(hidden_), norm);
    }
    void add_feedforward(const Scale& norm, const FeedForward& p) {
        add(norm, [&](const Tensor& x) {
            const Tensor inner =
                activated(function_, options_.activation, linear(x, p.weight1, p.bias1));
            return linear(inner, p.weight2, p.bias2);
        });
    }
    [[nodiscard]] const Tensor& result() const { return hidden_; }

  private:
    [[nodiscard]] Tensor normed(const Tensor& x, const Scale& norm) const {
        return layer_norm(x, norm.weight, norm.bias, -1, options_.epsilon);
    }

    std::string_view function_;
    const TransformerOptions& options_;
    Tensor hidden_;
};

}  // namespace

Tensor multi_head_attention(const Tensor& hidden, const Tensor& mask,
                            const AttentionParameters& parameters, int64_t head_size,
                            const MultiHeadOptions& options) {
    return errors_as("multi_head_attention", [&] {
        const AttentionParameters& p = parameters;
        const Tensor& memory = options.memory ? options.memory : hidden;
        const Tensor query = split_heads(linear(hidden, p.query_weight, p.query_bias), head_size);
        const Tensor key = split_heads(linear(memory, p.key_weight, p.key_bias), head_size);
        const Tensor value = split_heads(linear(memory, p.value_weight, p.value_bias), head_size);
        // An added mask alone goes the way of softmax without empty rows.
        const bool is_added = mask && mask.dtype() != ir::DType::boolean && !options.is_causal;
        const Tensor heads =
            is_added ? scaled_dot_product_attention(query, key, value, mask)
                     : scaled_dot_product_attention(query, key, value,
                                                    {.mask = mask, .is_causal = options.is_causal});
        const Tensor joined = numpy::reshape(
            numpy::transpose(heads, std::vector<int64_t>{0, 2, 1, 3}),
            {hidden.shape()[0], hidden.shape()[1], value.shape()[1] * value.shape()[3]});
        return linear(joined, p.output_weight, p.output_bias);
    });
}

Tensor transformer_encoder_layer(const Tensor& hidden, const Tensor& mask,
                                 const EncoderParameters& parameters, int64_t head_size,
                                 const TransformerOptions& options) {
    constexpr std::string_view name = "transformer_encoder_layer";
    return errors_as(name, [&] {
        Layer layer(name, options, hidden);
        layer.add(parameters.attention_norm, [&](const Tensor& x) {
            return multi_head_attention(x, mask, parameters.attention, head_size,
                                        {.is_causal = options.is_causal});
        });
        layer.add_feedforward(parameters.feedforward_norm, parameters.feedforward);
        return layer.result();
    });
}

Tensor transformer_decoder_layer(const Tensor& hidden, const Tensor& memory, const Tensor& mask,
                                 const Tensor& memory_mask, const DecoderParameters& parameters,
                                 int64_t head_size, const TransformerOptions& options) {
    constexpr std::string_view name = "transformer_decoder_layer";
    return errors_as(name, [&] {
        Layer layer(name, options, hidden);
        layer.add(parameters.attention_norm, [&](const Tensor& x) {
            return multi_head_attention(x, mask, parameters.attention, head_size,
                                        {.is_causal = options.is_causal});
        });
        layer.add(parameters.cross_norm, [&](const Tensor& x) {
            return multi_head_attention(x, memory_mask, parameters.cross_attention, head_size,
                                        {.memory = memory});
        });
        layer.add_feedforward(parameters.feedforward_norm, parameters.feedforward);
        return layer.result();
    });
}

}  // namespace composit::nn
