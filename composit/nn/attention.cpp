// Attention and its cache, composed of operations; the graph shows which.
#include "composit/nn/attention.h"

#include "composit/base/error.h"
#include "composit/base/errors_as.h"
#include "composit/nn/checks.h"
#include "composit/nn/differentiation.h"
#include "composit/nn/layers.h"
#include "composit/numpy/creation.h"
#include "composit/numpy/elementwise.h"
#include "composit/numpy/indexing.h"
#include "composit/numpy/linear.h"
#include "composit/numpy/manipulation.h"
#include "composit/numpy/one_node.h"
#include "composit/numpy/operators.h"
#include "composit/numpy/reductions.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace composit::nn {
namespace {

using ir::DType;
using numpy::apply;

constexpr std::string_view attention = "scaled_dot_product_attention";

Tensor refused(const Tensor& scores) {
    return numpy::scalar(scores.dtype(), -std::numeric_limits<double>::infinity());
}

// Which of the keys 0, 1, … each query, the first of which is at `position`, may attend to.
Tensor up_to_own(const Tensor& scores, const Tensor& position) {
    const int64_t queries = scores.shape()[static_cast<size_t>(scores.rank()) - 2];
    const int64_t keys = scores.shape().back();
    Tensor own = ops::iota({queries, 1}, 0);
    if (position) own = own + ops::astype(numpy::strong(position), DType::int64);
    return apply("less_equal", {ops::iota({1, keys}, 1), own});
}

// softmax over the last axis, whose rows of -inf become zeros.
Tensor softmax_or_zeros(const Tensor& scores) {
    if (scores.size() == 0) return scores;  // no keys, or no queries
    const Tensor none = numpy::scalar(scores.dtype(), 0);
    const Tensor maximum = stop_gradient(numpy::max(scores, -1, true));
    const Tensor is_empty = apply("equal", {maximum, refused(scores)});
    const Tensor powers = apply("exp", {scores - apply("where", {is_empty, none, maximum})});
    const Tensor sum = numpy::sum(powers, -1, {}, true);
    const Tensor one = numpy::scalar(scores.dtype(), 1);
    return powers / apply("where", {is_empty, one, sum});
}

void check_integer(std::string_view function, const Tensor& position) {
    user_check<TypeError>(ir::is_integer(position.dtype()), function, ": position has dtype ",
                          position.dtype(), ". An integer is required.");
    user_check(position.rank() == 0, function, ": position has shape ", position.shape(),
               ". One integer, 0-d, is required.");
}

// (…, heads, rows, columns) -> (…, groups, heads of a group, rows, columns)
Tensor grouped(const Tensor& x, int64_t groups) {
    ir::Shape shape = x.shape();
    const size_t axis = shape.size() - 3;
    const int64_t heads = shape[axis];
    shape[axis] = groups;
    shape.insert(shape.begin() + static_cast<long>(axis) + 1, heads / groups);
    return numpy::reshape(x, shape);
}

// A mask of scores with grouped heads: of all heads, or of each.
Tensor grouped_mask(const Tensor& mask, int64_t heads, int64_t groups) {
    if (!mask || mask.rank() < 3) return mask;
    const int64_t given = mask.shape()[static_cast<size_t>(mask.rank()) - 3];
    return given == heads ? grouped(mask, groups) : numpy::expand_dims(mask, -4);
}

Tensor attended(const Tensor& query, const Tensor& key, const Tensor& value,
                const AttentionOptions& options) {
    const double scale =
        options.scale.value_or(1 / std::sqrt(static_cast<double>(query.shape().back())));
    Tensor scores = numpy::matmul(query, numpy::swapaxes(key, -2, -1)) * scale;
    const bool may_refuse = options.mask || options.position;
    if (options.is_causal)
        scores = apply("where", {up_to_own(scores, {}), scores, refused(scores)});
    if (options.position)
        scores = apply("where", {up_to_own(scores, options.position), scores, refused(scores)});
    if (options.mask && options.mask.dtype() == DType::boolean)
        scores = apply("where", {options.mask, scores, refused(scores)});
    else if (options.mask)
        scores = scores + options.mask;
    const Tensor weights = may_refuse ? softmax_or_zeros(scores) : softmax(scores, -1);
    return numpy::matmul(weights, value);
}

Tensor attended_in_groups(const Tensor& query, const Tensor& key, const Tensor& value,
                          AttentionOptions options) {
    const auto heads_of = [](const Tensor& x) {
        return x.rank() < 3 ? 0 : x.shape()[static_cast<size_t>(x.rank()) - 3];
    };
    const int64_t heads = heads_of(query), groups = heads_of(key);
    user_check(groups > 0 && heads_of(value) == groups && heads % groups == 0, attention,
               ": query has shape ", query.shape(), ", key has shape ", key.shape(),
               ", value has shape ", value.shape(),
               ". The heads of query, axis -3, must be a multiple of those of key and value.");
    options.mask = grouped_mask(options.mask, heads, groups);
    const Tensor result =
        attended(grouped(query, groups), grouped(key, groups), grouped(value, groups), options);
    ir::Shape joined = result.shape();
    const size_t axis = joined.size() - 4;
    joined[axis] = heads;
    joined.erase(joined.begin() + static_cast<long>(axis) + 1);
    return numpy::reshape(result, joined);
}

}  // namespace

Tensor scaled_dot_product_attention(const Tensor& query, const Tensor& key, const Tensor& value,
                                    const AttentionOptions& options) {
    for (const Tensor* x : {&query, &key, &value})
        user_check(x->rank() >= 2, attention, ": an operand has shape ", x->shape(),
                   ". (…, sequence, features) is required.");
    if (options.position) check_integer(attention, options.position);
    return errors_as(attention, [&] {
        return options.group_heads ? attended_in_groups(query, key, value, options)
                                   : attended(query, key, value, options);
    });
}

Tensor update_cache(const Tensor& cache, const Tensor& fresh, const Tensor& position) {
    constexpr std::string_view name = "update_cache";
    check_integer(name, position);
    const auto shapes = [&] {
        return text("cache has shape ", cache.shape(), ", new has shape ", fresh.shape());
    };
    ir::Shape expected = cache.shape();
    const bool fits = cache.rank() >= 2 && fresh.rank() == cache.rank();
    if (fits) expected[expected.size() - 2] = fresh.shape()[expected.size() - 2];
    user_check(fits && fresh.shape() == expected, name, ": ", shapes(),
               ". (…, capacity, features) and (…, count, features) are required.");
    const int64_t capacity = cache.shape()[expected.size() - 2];
    const int64_t count = fresh.shape()[expected.size() - 2];
    user_check(count <= capacity, name, ": ", shapes(), ". At most ", capacity,
               " rows have a place.");
    const Tensor first = ops::astype(numpy::strong(position), DType::int64);
    if (ir::is_constant(position.node())) {
        const int64_t known = *numpy::concrete(name, "position", first).data_as<int64_t>();
        user_check<IndexError>(known >= 0 && known <= capacity - count, name, ": position is ",
                               known, ", ", shapes(), ". From 0 to ", capacity - count,
                               " is required.");
    }
    return errors_as(name, [&] {
        // Negative ones would count from the end.
        const Tensor begin = apply("where", {first < 0, capacity, first});
        const Tensor rows = ops::iota({count}, 0) + begin;
        return numpy::set_item(cache, {numpy::Ellipsis{}, rows, numpy::Slice{}}, fresh);
    });
}

Rotations rotary_angles(const Tensor& positions, int64_t size, double base, DType dtype) {
    constexpr std::string_view name = "rotary_angles";
    user_check<TypeError>(ir::is_integer(positions.dtype()), name, ": positions have dtype ",
                          positions.dtype(), ". Integers are required.");
    user_check(size >= 0 && size % 2 == 0, name, ": size is ", size,
               ". An even number, not negative, is required.");
    user_check(base > 0, name, ": base is ", base, ". It must be positive.");
    user_check<TypeError>(ir::is_inexact(dtype) && !ir::is_complex(dtype), name, ": dtype is ",
                          dtype, ". A floating dtype is required.");
    return errors_as(name, [&] {
        const Tensor pairs = ops::astype(ops::iota({size / 2}, 0), DType::float64);
        const double step = -2.0 / static_cast<double>(std::max<int64_t>(1, size));
        const Tensor speeds = apply("power", {numpy::scalar(DType::float64, base), pairs * step});
        const Tensor angles =
            ops::astype(numpy::expand_dims(numpy::strong(positions), -1), DType::float64) * speeds;
        return Rotations{ops::astype(apply("cos", {angles}), dtype),
                         ops::astype(apply("sin", {angles}), dtype)};
    });
}

Tensor rotary_embedding(const Tensor& x, const Tensor& cosine, const Tensor& sine,
                        bool interleaved) {
    constexpr std::string_view name = "rotary_embedding";
    user_check(x.rank() >= 1 && cosine.rank() >= 1 && cosine.shape() == sine.shape() &&
                   2 * cosine.shape().back() <= x.shape().back(),
               name, ": x has shape ", x.shape(), ", cosine has shape ", cosine.shape(),
               ", sine has shape ", sine.shape(),
               ". Cosines and sines of at most half the features are required.");
    const Tensor given = floating(name, x);
    const int64_t pairs = cosine.shape().back(), features = x.shape().back();
    return errors_as(name, [&] {
        const auto converted = [&](const Tensor& t) { return ops::astype(t, given.dtype()); };
        return numpy::one_node(
            name, {given, converted(cosine), converted(sine)}, [&](const numpy::Tensors& operands) {
                const Tensor &c = operands[1], &s = operands[2];
                const auto part = [&](int64_t begin, int64_t end) {
                    return numpy::get_item(operands[0],
                                           {numpy::Ellipsis{}, numpy::Slice{begin, end}});
                };
                const Tensor turned = part(0, 2 * pairs);
                Tensor result;
                if (interleaved) {
                    ir::Shape apart = turned.shape();
                    apart.back() = pairs;
                    apart.push_back(2);
                    const Tensor both = numpy::reshape(turned, apart);
                    const Tensor a = numpy::get_item(both, {numpy::Ellipsis{}, int64_t{0}});
                    const Tensor b = numpy::get_item(both, {numpy::Ellipsis{}, int64_t{1}});
                    const Tensor mixed = numpy::stack({a * c - b * s, b * c + a * s}, -1);
                    ir::Shape flat = mixed.shape();
                    flat.pop_back();
                    flat.back() *= 2;
                    result = numpy::reshape(mixed, flat);
                } else {
                    const Tensor a = part(0, pairs), b = part(pairs, 2 * pairs);
                    result = numpy::concatenate({a * c - b * s, b * c + a * s}, -1);
                }
                if (2 * pairs == features) return result;
                return numpy::concatenate({result, part(2 * pairs, features)}, -1);
            });
    });
}

}  // namespace composit::nn
