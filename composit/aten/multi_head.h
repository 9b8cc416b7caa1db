// PyTorch's attention by several heads, with the projections before and after it.
//
//   multi_head_attention(x, x, x, {.in_weight = w, .out_weight = o}, {.heads = 4}).output;
//
// Queries are (L, N, width), keys and values (S, N, …), without a batch (L, width) and (S, …).
// Masks are true, or -infinity, where nothing is attended to.
#pragma once

#include "composit/aten/formulas.h"

#include <array>
#include <functional>
#include <optional>

namespace composit::aten {

using MaybeValue = std::optional<formulas::Value>;

struct HeadWeights {
    MaybeValue in_weight = {};  // (3 width, width): of queries, keys and values
    // In its place where their widths differ: of queries, keys and values, (width, …).
    std::array<MaybeValue, 3> in_weights = {};
    MaybeValue in_bias = {};                      // (3 width,)
    MaybeValue added_key = {}, added_value = {};  // (1, 1, width): one more for each sample
    MaybeValue out_weight = {}, out_bias = {};    // (width, width), (width,)
    // In place of the two: what becomes of the heads' joined results.
    std::function<formulas::Value(const formulas::Value&)> out = {};
};

struct HeadOptions {
    int64_t heads = 1;
    bool batch_first = false;    // (N, L, …): attention_of_heads alone reads it
    bool adds_zero_key = false;  // one more key and value, zeros
    double dropout = 0;          // of the weights in training; tensors of graphs need a key
    bool is_training = false;
    MaybeValue key_padding = {};      // (N, S)
    MaybeValue mask = {};             // (L, S) or (N * heads, L, S)
    MaybeValue key = {}, value = {};  // (N * heads, S, width / heads), in place of projected ones
    bool is_causal = false;           // a hint; RuntimeError without a mask
    bool shows_weights = true, averages_weights = true;
    Tensor random_key = {};
};

// The result, of the queries' shape, and the weights (N, L, S), or (N, heads, L, S) where they are
// not averaged, if they are asked for.
struct HeadAttention {
    formulas::Value output;
    MaybeValue weights;
};

// multi_head_attention_forward of torch.nn.functional: queries are scaled, and all heads of all
// samples are one batch. AssertionError unless the heads divide the width, which is `width` if that
// is given.
[[nodiscard]] HeadAttention multi_head_attention(
    const formulas::Value& query, const formulas::Value& key, const formulas::Value& value,
    const HeadWeights& weights, const HeadOptions& options = {}, std::optional<int64_t> width = {});
// What MultiheadAttention computes: the same with scores scaled, and the batch where it is; by the
// function above where keys are added.
[[nodiscard]] HeadAttention attention_of_heads(const formulas::Value& query,
                                               const formulas::Value& key,
                                               const formulas::Value& value,
                                               const HeadWeights& weights,
                                               const HeadOptions& options = {});

}  // namespace composit::aten
