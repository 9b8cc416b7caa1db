// Attention by heads, as formulas.
#include "composit/aten/multi_head.h"

#include "composit/aten/attention.h"
#include "composit/aten/shapes.h"
#include "composit/base/assertion_error.h"
#include "composit/base/error.h"
#include "composit/nn/layers.h"

#include <cmath>
#include <utility>
#include <vector>

namespace composit::aten {
namespace {

using namespace formulas;
using Three = std::array<Value, 3>;

Value linear_of(const Value& x, const MaybeValue& weight, const MaybeValue& bias) {
    user_check(weight.has_value(),
               "attention: a weight of the projections is not there. in_weight, "
               "or one for each of queries, keys and values, and out_weight are required.");
    return bias ? apply("linear", {x, *weight, *bias}) : apply("linear", {x, *weight});
}

// The three parts of a tensor, of one operation.
std::array<MaybeValue, 3> thirds(const Value& x) {
    std::array<MaybeValue, 3> parts;
    if (x.held()) {
        const Value all = apply("chunk", {x, 3});
        for (int i = 0; i < 3; ++i) parts[static_cast<size_t>(i)] = apply("item", {all, i});
        return parts;
    }
    const std::vector<Tensor> found = aten::chunk(x.tensor(), 3, 0);
    for (size_t i = 0; i < parts.size() && i < found.size(); ++i) parts[i] = Value(found[i]);
    return parts;
}

Three projected(const Three& given, const HeadWeights& weights) {
    const auto of = weights.in_weight ? thirds(*weights.in_weight) : weights.in_weights;
    std::array<MaybeValue, 3> biases;
    if (weights.in_bias) biases = thirds(*weights.in_bias);
    return {linear_of(given[0], of[0], biases[0]), linear_of(given[1], of[1], biases[1]),
            linear_of(given[2], of[2], biases[2])};
}

Value projected_back(const Value& joined, const HeadWeights& weights) {
    return weights.out ? weights.out(joined)
                       : linear_of(joined, weights.out_weight, weights.out_bias);
}

// What is added to scores: -infinity where a mask of booleans is true.
MaybeValue additive(const MaybeValue& mask, const Value& like) {
    if (!mask || mask->dtype() != DType::boolean) return mask;
    return masked_fill(apply("zeros_for", {*mask, like}), *mask, -HUGE_VAL);
}

Value dropped(const Value& weights, const HeadOptions& options) {
    if (weights.held()) return apply("dropout", {weights, options.dropout, options.is_training});
    if (!options.is_training || options.dropout == 0) return weights;
    return nn::dropout(weights.tensor(), options.dropout, options.random_key);
}

Value softmax_of_scores(const Value& scores) { return apply("softmax", {scores, -1}); }

HeadAttention shown(Value output, const Value& weights, const HeadOptions& options,
                    bool is_batched) {
    if (!options.shows_weights) return {std::move(output), {}};
    Value found = options.averages_weights ? apply("mean", {weights, 1}) : weights;
    if (!is_batched) found = squeeze(found, 0);
    return {std::move(output), std::move(found)};
}

// What is added to the scores (batch, heads, L, S) of all heads.
MaybeValue mask_of_heads(const Value& q, const Value& k, const HeadOptions& options) {
    const int64_t batch = q.size(0), keys = k.size(2);
    MaybeValue mask = additive(options.mask, q);
    if (mask && mask->rank() == 3) mask = reshape(*mask, {batch, q.size(1), q.size(2), keys});
    if (!options.key_padding) return mask;
    const Value padding = reshape(*additive(options.key_padding, q), {batch, 1, 1, keys});
    return mask ? *mask + padding : padding;
}

}  // namespace

namespace {

std::string dimensions(const Value& tensor) { return text(tensor.rank(), "-D"); }

void check_mask_dtype(const MaybeValue& mask, const char* name) {
    user_check<AssertionError>(
        !mask || mask->dtype() == DType::boolean || ir::is_floating(mask->dtype()),
        "only bool and floating types of ", name, " are supported");
}

// What PyTorch says of ranks and masks that do not fit; the axes of sequences and batches change
// places with `batch_first`.
void check_heads(const Value& query, const Value& key, const Value& value,
                 const HeadWeights& weights, const HeadOptions& options, bool batch_first) {
    const bool is_batched = query.rank() == 3;
    user_check<AssertionError>(is_batched || query.rank() == 2,
                               "query should be unbatched 2D or batched 3D tensor but received ",
                               dimensions(query), " query tensor");
    const std::string of_query =
        is_batched ? "For batched (3-D) `query`" : "For unbatched (2-D) `query`";
    user_check<AssertionError>(key.rank() == query.rank() && value.rank() == query.rank(), of_query,
                               ", expected `key` and `value` to be ", dimensions(query),
                               " but found ", dimensions(key), " and ", dimensions(value),
                               " tensors respectively");
    const int64_t time = is_batched && batch_first ? 1 : 0;
    const int64_t length = query.size(time);
    const int64_t keys = options.key ? options.key->size(1) : key.size(time);
    if (const MaybeValue& padding = options.key_padding) {
        user_check<AssertionError>(padding->rank() == query.rank() - 1, of_query,
                                   ", expected `key_padding_mask` to be `None` or ",
                                   is_batched ? "2-D" : "1-D", " but found ", dimensions(*padding),
                                   " tensor instead");
        const int64_t hidden = padding->size(padding->rank() - 1);
        const int64_t added = (weights.added_key ? 1 : 0) + (options.adds_zero_key ? 1 : 0);
        user_check<AssertionError>(hidden == keys, "Expected key_padded_mask.shape[1] to be ",
                                   keys + added, ", but got ", hidden + added);
    }
    check_mask_dtype(options.key_padding, "key_padding_mask");
    check_mask_dtype(options.mask, "attn_mask");
    user_check<RuntimeError>(!options.is_causal || options.mask,
                             "Need attn_mask if specifying the is_causal hint. You may use the "
                             "Transformer module method `generate_square_subsequent_mask` to "
                             "create this mask.");
    if (!options.mask) return;
    const ir::Shape shape = options.mask->shape();
    user_check<AssertionError>(shape.size() == 2 || shape.size() == 3, of_query,
                               ", expected `attn_mask` to be `None`, 2-D or 3-D but found ",
                               shape.size(), "-D tensor instead");
    const auto in_words = [](const ir::Shape& lengths) { return "(" + join(lengths) + ")"; };
    if (shape.size() == 2) {
        user_check<RuntimeError>(shape == ir::Shape{length, keys},
                                 "The shape of the 2D attn_mask is torch.Size([", join(shape),
                                 "]), but should be ", in_words({length, keys}), ".");
        return;
    }
    const int64_t batch = is_batched ? query.size(1 - time) : 1;
    const ir::Shape right = {batch * options.heads, length, keys};
    user_check<AssertionError>(is_batched || shape == right, "Expected `attn_mask` shape to be ",
                               in_words(right), " but got torch.Size([", join(shape), "])");
    user_check<RuntimeError>(shape == right, "The shape of the 3D attn_mask is torch.Size([",
                             join(shape), "]), but should be ", in_words(right), ".");
}

}  // namespace

HeadAttention multi_head_attention(const Value& query, const Value& key, const Value& value,
                                   const HeadWeights& weights, const HeadOptions& options,
                                   std::optional<int64_t> expected) {
    check_heads(query, key, value, weights, options, false);
    const bool is_batched = query.rank() == 3;
    Three given = {query, key, value};
    MaybeValue padding = options.key_padding;
    if (!is_batched) {
        for (Value& each : given) each = unsqueeze(each, 1);
        if (padding) padding = unsqueeze(*padding, 0);
    }
    const int64_t length = given[0].size(0), batch = given[0].size(1), width = given[0].size(2);
    const int64_t heads = options.heads;
    user_check<AssertionError>(!expected || width == *expected,
                               "was expecting embedding dimension of ", expected.value_or(0),
                               ", but got ", width);
    user_check<AssertionError>(heads > 0 && width % heads == 0, "embed_dim ", width,
                               " not divisible by num_heads ", heads);
    const int64_t size = width / heads;
    auto [q, k, v] = projected(given, weights);
    MaybeValue mask = additive(options.mask, given[0]);
    padding = additive(padding, given[0]);
    const auto lengthen = [&] {
        if (mask) mask = padded(*mask, {0, 1}, 0);
        if (padding) padding = padded(*padding, {0, 1}, 0);
    };
    if (weights.added_key && weights.added_value) {
        user_check<AssertionError>(!options.key && !options.value,
                                   "bias cannot be added to static key and value.");
        const ir::Shape times = {1, batch, 1};
        k = apply("joined", {k, apply("repeat", {*weights.added_key, times}), 0});
        v = apply("joined", {v, apply("repeat", {*weights.added_value, times}), 0});
        lengthen();
    }
    const auto by_heads = [&](const Value& x) {
        return transpose(reshape(x, {x.size(0), batch * heads, size}), 0, 1);
    };
    q = by_heads(q);
    k = options.key ? *options.key : by_heads(k);
    v = options.value ? *options.value : by_heads(v);
    if (options.adds_zero_key) {
        const Value nothing = apply("zeros_shaped", {k, ir::Shape{batch * heads, 1, size}});
        k = apply("joined", {k, nothing, 1});
        v = apply("joined", {v, nothing, 1});
        lengthen();
    }
    const int64_t keys = k.size(1);
    Value scores = matmul(q * (1 / std::sqrt(static_cast<double>(size))), transpose(k, 1, 2));
    if (mask) scores = scores + *mask;
    if (padding) {
        const Value split = reshape(scores, {batch, heads, length, keys});
        scores =
            reshape(split + reshape(*padding, {batch, 1, 1, keys}), {batch * heads, length, keys});
    }
    const Value kept = dropped(softmax_of_scores(scores), options);
    const Value joined = reshape(transpose(matmul(kept, v), 0, 1), {length, batch, width});
    Value output = projected_back(joined, weights);
    if (!is_batched) output = squeeze(output, 1);
    if (!options.shows_weights) return {std::move(output), {}};
    return shown(std::move(output), reshape(kept, {batch, heads, length, keys}), options,
                 is_batched);
}

HeadAttention attention_of_heads(const Value& query, const Value& key, const Value& value,
                                 const HeadWeights& weights, const HeadOptions& options) {
    const bool is_batched = query.rank() == 3;
    if (weights.added_key || options.adds_zero_key) {
        const auto turned = [swaps = options.batch_first && is_batched](const Value& x) {
            return swaps ? transpose(x, 0, 1) : x;
        };
        HeadAttention made =
            multi_head_attention(turned(query), turned(key), turned(value), weights, options);
        return {turned(made.output), std::move(made.weights)};
    }
    check_heads(query, key, value, weights, options, options.batch_first);
    Three given = {query, key, value};
    if (!is_batched)
        for (Value& each : given) each = unsqueeze(each, 0);
    // The batch stays the axis it is: rows of one sequence are read one after the other.
    const bool is_first = options.batch_first || !is_batched;
    user_check<AssertionError>(options.heads > 0, "attention: ", options.heads,
                               " heads. A number above zero is required.");
    const auto by_heads = [&](const Value& x) {
        const Value split =
            reshape(x, {x.size(0), x.size(1), options.heads, given[0].size(2) / options.heads});
        return apply("permute", {split, is_first ? ir::Shape{0, 2, 1, 3} : ir::Shape{1, 2, 0, 3}});
    };
    Three made = projected(given, weights);
    for (Value& each : made) each = by_heads(each);
    const auto& [q, k, v] = made;
    const MaybeValue mask = mask_of_heads(q, k, options);
    MaybeValue of_keys;
    MaybeValue mixed;
    if (options.shows_weights) {
        const Value scores =
            matmul(q, transpose(k, -2, -1)) * (1 / std::sqrt(static_cast<double>(q.size(3))));
        of_keys = dropped(softmax_of_scores(mask ? scores + *mask : scores), options);
        mixed = matmul(*of_keys, v);
    } else {
        const double share = options.is_training ? options.dropout : 0;
        if (!q.held())
            mixed = Value(scaled_dot_product_attention(q.tensor(), k.tensor(), v.tensor(),
                                                       {.mask = mask ? mask->tensor() : Tensor(),
                                                        .dropout = share,
                                                        .random_key = options.random_key}));
        else if (mask)
            mixed = apply("attended", {q, k, v, share, *mask});
        else
            mixed = apply("attended", {q, k, v, share});
    }
    const ir::Shape order = is_first ? ir::Shape{0, 2, 1, 3} : ir::Shape{2, 0, 1, 3};
    const Value joined = apply("flatten", {apply("permute", {*mixed, order}), 2});
    Value output = projected_back(joined, weights);
    if (!is_batched) output = squeeze(output, 0);
    if (!of_keys) return {std::move(output), {}};
    return shown(std::move(output), *of_keys, options, is_batched);
}

}  // namespace composit::aten
