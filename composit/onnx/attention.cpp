// Attention in its forms: with caches, masks and windows; modified by graphs; linear; rotated.
#include "composit/aten/attention.h"

#include "composit/functional/scan.h"
#include "composit/nn/attention.h"
#include "composit/nn/layers.h"
#include "composit/numpy/creation.h"
#include "composit/numpy/indexing.h"
#include "composit/numpy/linear.h"
#include "composit/numpy/manipulation.h"
#include "composit/numpy/operators.h"
#include "composit/onnx/builder.h"
#include "composit/onnx/operators.h"

#include <cmath>
#include <limits>

namespace composit::onnx {
namespace attention {
namespace {

using numpy::apply;

constexpr double minus_infinity = -std::numeric_limits<double>::infinity();

// (batch, sequence, heads * size) as (batch, heads, sequence, size).
Tensor split_heads(const Call& call, const Tensor& x, int64_t heads) {
    const Shape& s = x.shape();
    call.check(heads > 0 && s[2] % heads == 0, "a tensor of shape ", s, " with ", heads,
               " heads. A number of heads that divides the last axis is required.");
    return numpy::swapaxes(numpy::reshape(x, {s[0], s[1], heads, s[2] / heads}), 1, 2);
}
Tensor join_heads(const Tensor& x) {
    const Shape& s = x.shape();
    return numpy::reshape(numpy::swapaxes(x, 1, 2), {s[0], s[2], s[1] * s[3]});
}

// Heads of keys and values, each for several neighbouring heads of queries.
Tensor for_queries(const Call& call, const Tensor& x, const Tensor& query) {
    const int64_t heads = x.shape()[1], wanted = query.shape()[1];
    call.check(heads > 0 && wanted % heads == 0, "there are ", wanted, " heads of queries and ",
               heads, " of keys. A multiple is required.");
    return wanted == heads ? x : numpy::repeat(x, wanted / heads, 1);
}

// What is added to scores: 0 where a query may look, else -infinity, with the mask's own numbers.
class Bias {
  public:
    explicit Bias(DType dtype) : dtype_(dtype) {}
    void allow(const Tensor& where) {
        add(apply("where",
                  {where, numpy::scalar(dtype_, 0), numpy::scalar(dtype_, minus_infinity)}));
    }
    void add(const Tensor& numbers) { bias_ = bias_ ? bias_ + numbers : numbers; }
    [[nodiscard]] const Tensor& tensor() const { return bias_; }

  private:
    DType dtype_;
    Tensor bias_;
};

// A mask whose last axis is shorter than the keys lets nobody look at the others.
Tensor widened_mask(const Call& call, const Tensor& mask, int64_t keys) {
    const int64_t missing = keys - mask.shape().back();
    call.check(mask.rank() > 0 && missing >= 0, "a mask of shape ", mask.shape(), " for ", keys,
               " keys. At most as many are required.");
    if (missing == 0) return mask;
    std::vector<std::pair<int64_t, int64_t>> widths(mask.shape().size());
    widths.back() = {0, missing};
    if (mask.dtype() == DType::boolean) return numpy::pad(mask, widths, "constant", false);
    return numpy::pad(mask, widths, "constant", minus_infinity);
}

Bias bias_of(const Call& call, const Tensor& query, int64_t keys, int64_t past) {
    const int64_t queries = query.shape()[2];
    Bias bias(query.dtype());
    if (call.has(3)) {
        const Tensor mask = widened_mask(call, call.tensor(3), keys);
        mask.dtype() == DType::boolean ? bias.allow(mask) : bias.add(mask);
    }
    const Tensor key_places = numpy::arange(keys);
    // The place of a query among the keys, (queries, 1), or (batch, 1, queries, 1) where lengths
    // are given.
    Tensor places = numpy::reshape(numpy::arange(queries), {-1, 1}) + past;
    Tensor lengths;
    if (call.has(6)) {
        lengths = numpy::reshape(numpy::astype(call.tensor(6), DType::int64), {-1, 1, 1, 1});
        if (!call.has(4)) places = places + (lengths - queries);
    }
    if (call.flag("is_causal")) bias.allow(key_places <= places);
    const int64_t left = call.integer("left_window_size", -1);
    const int64_t right = call.integer("right_window_size", -1);
    if (left >= 0) bias.allow(places - key_places <= left);
    if (right >= 0) bias.allow(key_places - places <= right);
    if (lengths) bias.allow(key_places < lengths);
    return bias;
}

Values scaled_dot_product(Call& call) {
    Tensor query = call.tensor(0), key = call.tensor(1), value = call.tensor(2);
    const bool is_flat = query.rank() == 3;
    call.check(
        query.rank() == key.rank() && key.rank() == value.rank() && (is_flat || query.rank() == 4),
        "query, key and value have shapes ", query.shape(), ", ", key.shape(), " and ",
        value.shape(), ". Three or four axes each are required.");
    if (is_flat) {
        query = split_heads(call, query, call.integer("q_num_heads"));
        key = split_heads(call, key, call.integer("kv_num_heads"));
        value = split_heads(call, value, call.integer("kv_num_heads"));
    }
    const double size = static_cast<double>(query.shape()[3]);
    const double scale = std::sqrt(call.number("scale", 1 / std::sqrt(size)));
    int64_t past = 0;
    if (call.has(4)) {
        past = call.tensor(4).shape().at(2);
        key = numpy::concatenate({call.tensor(4), key}, 2);
        value = numpy::concatenate({call.tensor(5), value}, 2);
    }
    const Bias bias = bias_of(call, query, key.shape()[2], past);
    const Tensor keys = numpy::matrix_transpose(for_queries(call, key, query));
    Tensor scores = numpy::matmul(query * scale, keys * scale);
    Tensor shown = scores;
    const int64_t mode = call.integer("qk_matmul_output_mode", 0);
    if (const double cap = call.number("softcap", 0); cap != 0)
        scores = cap * apply("tanh", {scores / cap});
    if (mode == 1) shown = scores;
    if (bias.tensor()) scores = scores + bias.tensor();
    if (mode == 2) shown = scores;
    const DType dtype = query.dtype();
    if (call.has_attribute("softmax_precision"))
        scores =
            numpy::astype(scores, carrier(call.element("softmax_precision", ElementType::float32)));
    // Queries that may look at nothing get zeros.
    Tensor weights = bias.tensor() ? aten::safe_softmax(scores, -1) : nn::softmax(scores, -1);
    weights = numpy::astype(weights, dtype);
    if (mode == 3) shown = weights;
    const Tensor result = numpy::matmul(weights, for_queries(call, value, query));
    return {is_flat ? join_heads(result) : result, key, value, shown};
}

// Attention whose scores and probabilities are what graphs make of them.
Values flexible(Call& call) {
    const Tensor &query = call.tensor(0), &key = call.tensor(1), &value = call.tensor(2);
    call.check(query.rank() == 4 && key.rank() == 4 && value.rank() == 4,
               "query, key and value have shapes ", query.shape(), ", ", key.shape(), " and ",
               value.shape(), ". Four axes each are required.");
    const double scale = call.number("scale", 1 / std::sqrt(static_cast<double>(query.shape()[3])));
    const DType missing = query.dtype() == DType::float64 ? DType::float64 : DType::float32;
    const DType dtype = carrier(call.element("softmax_precision", element_type(missing)));
    const auto modified = [&](std::string_view graph, const Tensor& x) {
        if (!call.has_attribute(graph)) return x;
        const Values values = call.builder().build(call.graph(graph), {Value(x)}, call);
        call.check(values.size() == 1 && values[0].is_tensor(), graph, " gives ", values.size(),
                   " values. One tensor is required.");
        return values[0].tensor();
    };
    const Tensor keys = numpy::matrix_transpose(for_queries(call, key, query));
    const Tensor scores = numpy::astype(numpy::matmul(query, keys), dtype) * scale;
    const Tensor probabilities =
        modified("prob_mod", nn::softmax(modified("score_mod", scores), -1));
    return {numpy::matmul(numpy::astype(probabilities, query.dtype()),
                          for_queries(call, value, query))};
}

// A state (batch, heads, keys, values) that each token writes to and reads from.
Values linear(Call& call) {
    const int64_t query_heads = call.integer("q_num_heads"), heads = call.integer("kv_num_heads");
    const std::string rule = call.text("update_rule", "gated_delta");
    const bool is_gated = rule == "gated" || rule == "gated_delta";
    const bool is_delta = rule == "delta" || rule == "gated_delta";
    call.check(is_gated || is_delta || rule == "linear", "update_rule is '", rule,
               "'. linear, gated, delta or gated_delta is required.");
    call.check(heads > 0 && query_heads % heads == 0, "there are ", query_heads,
               " heads of queries and ", heads, " of keys. A multiple is required.");
    const Tensor& q = call.tensor(0);
    const int64_t batch = q.shape().at(0), times = q.shape().at(1);
    const int64_t size = q.shape().at(2) / query_heads;
    const int64_t values = call.tensor(2).shape().at(2) / heads;
    const double scale = call.number("scale", 0) != 0 ? call.number("scale", 0)
                                                      : 1 / std::sqrt(static_cast<double>(size));
    // Times first: (times, batch, heads, …), computed in float32 at least.
    const DType dtype = q.dtype() == DType::float64 ? DType::float64 : DType::float32;
    const auto rows = [&](const Tensor& x, const Shape& behind) {
        Shape shape{batch, times};
        shape.insert(shape.end(), behind.begin(), behind.end());
        return numpy::swapaxes(numpy::reshape(numpy::astype(x, dtype), shape), 0, 1);
    };
    std::vector<Tensor> xs{rows(q, {heads, query_heads / heads, size}),
                           rows(call.tensor(1), {heads, 1, size}),
                           rows(call.tensor(2), {heads, 1, values})};
    if (is_gated) {
        const Tensor& decay = call.tensor(4);
        xs.push_back(apply("exp", {rows(decay, {heads, decay.shape().at(2) / heads, 1})}));
    }
    if (is_delta) {
        const Tensor& beta = call.tensor(5);
        xs.push_back(rows(beta, {beta.shape().at(2), 1, 1}));
    }
    const Tensor first = call.has(3) ? numpy::astype(call.tensor(3), dtype)
                                     : numpy::zeros({batch, heads, size, values}, dtype);
    const ScanBody step = [&](const Tensors& carry, const Tensors& x) {
        Tensor state = carry[0];
        if (is_gated) state = state * x[3];
        Tensor written = x[2];
        if (is_delta) written = x[is_gated ? 4 : 3] * (x[2] - numpy::matmul(x[1], state));
        state = state + numpy::matrix_transpose(x[1]) * written;
        return Scanned{{state}, {numpy::matmul(x[0], state) * scale}};
    };
    const Scanned made = scan(step, {first}, xs);
    const Tensor output =
        numpy::reshape(numpy::swapaxes(made.ys[0], 0, 1), {batch, times, query_heads * values});
    const DType of_state = call.has(3) ? call.tensor(3).dtype() : q.dtype();
    return {numpy::astype(output, q.dtype()), numpy::astype(made.carry[0], of_state)};
}

Values rotary(Call& call) {
    const Tensor& x = call.tensor(0);
    const bool is_flat = x.rank() == 3;
    call.check(is_flat || x.rank() == 4, "a tensor of shape ", x.shape(),
               ". Three or four axes are required.");
    const Tensor heads = is_flat ? split_heads(call, x, call.integer("num_heads")) : x;
    const auto angles = [&](size_t i) {
        Tensor cache = call.tensor(i);
        if (call.has(3)) cache = numpy::take(cache, numpy::astype(call.tensor(3), DType::int64), 0);
        return numpy::expand_dims(cache, 1);
    };
    const Tensor cosine = angles(1), sine = angles(2);
    const int64_t part = call.integer("rotary_embedding_dim", 0);
    const int64_t rotated = part == 0 ? heads.shape()[3] : part;
    call.check(cosine.shape().back() * 2 == rotated, "angles of shape ", cosine.shape(), " for ",
               rotated, " rotated features. Half as many are required.");
    const Tensor result = nn::rotary_embedding(heads, cosine, sine, call.flag("interleaved"));
    return {is_flat ? join_heads(result) : result};
}

}  // namespace
}  // namespace attention

void add_attention(Registry& registry) {
    using namespace attention;
    registry.add("Attention", scaled_dot_product);
    registry.add("FlexAttention", flexible, "ai.onnx.preview");
    registry.add("LinearAttention", linear);
    registry.add("RotaryEmbedding", rotary);
}

}  // namespace composit::onnx
