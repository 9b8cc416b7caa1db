// Layers of transformers: attention of one sequence to another, encoder and decoder layers.
#pragma once

#include "composit/nn/layers.h"

#include <cstdint>
#include <string_view>

namespace composit::nn {

// What multi_head_attention takes besides: keys and values of another sequence, (batch, length,
// in), and whether position i attends to 0, …, i only.
struct MultiHeadOptions {
    Tensor memory = {};
    bool is_causal = false;
};
// The mask, broadcast to (batch, heads, queries, keys), is bool (true: may attend) or added to the
// scores; it may be empty.
[[nodiscard]] Tensor multi_head_attention(const Tensor& hidden, const Tensor& mask,
                                          const AttentionParameters& parameters, int64_t head_size,
                                          const MultiHeadOptions& options);

struct Scale {
    Tensor weight, bias;
};
struct FeedForward {
    Tensor weight1, bias1, weight2, bias2;
};
struct TransformerOptions {
    // Whether parts are normalised before them (pre-norm), or their sums behind them (post-norm).
    bool norm_first = false;
    std::string_view activation = "relu";  // or "gelu", "silu"
    bool is_causal = false;
    double epsilon = 1e-5;
};

struct EncoderParameters {
    AttentionParameters attention;
    Scale attention_norm;
    FeedForward feedforward;
    Scale feedforward_norm;
};
// Attention and a network of two layers, each added to what it was given, and normalised: (batch,
// sequence, features) of both. ValueError naming the activation when there is none of that name.
[[nodiscard]] Tensor transformer_encoder_layer(const Tensor& hidden, const Tensor& mask,
                                               const EncoderParameters& parameters,
                                               int64_t head_size,
                                               const TransformerOptions& options = {});

struct DecoderParameters {
    AttentionParameters attention;
    Scale attention_norm;
    AttentionParameters cross_attention;
    Scale cross_norm;
    FeedForward feedforward;
    Scale feedforward_norm;
};
// The same with attention to `memory` between the two; is_causal is of the first one.
[[nodiscard]] Tensor transformer_decoder_layer(const Tensor& hidden, const Tensor& memory,
                                               const Tensor& mask, const Tensor& memory_mask,
                                               const DecoderParameters& parameters,
                                               int64_t head_size,
                                               const TransformerOptions& options = {});

}  // namespace composit::nn
