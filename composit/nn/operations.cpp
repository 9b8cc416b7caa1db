// Activations, embedding, log_softmax and losses.
#include "composit/nn/operations.h"

#include "composit/base/error.h"
#include "composit/base/errors_as.h"
#include "composit/nn/checks.h"
#include "composit/nn/differentiation.h"
#include "composit/numpy/axis.h"
#include "composit/numpy/elementwise.h"
#include "composit/numpy/indexing.h"
#include "composit/numpy/manipulation.h"
#include "composit/numpy/one_node.h"
#include "composit/numpy/operators.h"
#include "composit/numpy/reductions.h"
#include "composit/ops/ops.h"

#include <algorithm>

namespace composit::nn {

using numpy::apply;

void register_images();
void register_differentiation();
void register_remat();
void register_resizing();
void register_unpooling();

void register_operations() {
    register_images();
    register_differentiation();
    register_remat();
    register_resizing();
    register_unpooling();
}

Tensor relu(const Tensor& x) { return apply("relu", {x}); }
Tensor sigmoid(const Tensor& x) { return apply("sigmoid", {x}); }
Tensor silu(const Tensor& x) { return apply("silu", {x}); }

Tensor gelu(const Tensor& x, std::string_view approximate) {
    if (approximate == "none") return apply("gelu", {x});
    user_check(approximate == "tanh", "gelu: approximate is '", approximate,
               "'. Available: none, tanh.");
    return numpy::one_node("gelu_tanh", {floating("gelu", x)}, [](const numpy::Tensors& operands) {
        const Tensor& x = operands[0];
        constexpr double root = 0.79788456080286535588;  // sqrt(2 / pi)
        const Tensor inner = (x + x * x * x * 0.044715) * root;
        return x * 0.5 * (apply("tanh", {inner}) + 1);
    });
}

Tensor embedding(const Tensor& ids, const Tensor& weights, std::optional<int64_t> padding_idx) {
    user_check<TypeError>(ir::is_integer(ids.dtype()), "embedding: ids have dtype ", ids.dtype(),
                          ". Integers are required.");
    user_check(weights.rank() > 0, "embedding: weights are 0-d. (rows, …) is required.");
    Tensor rows = weights;
    if (padding_idx) {
        const int64_t count = weights.shape()[0];
        user_check<IndexError>(*padding_idx >= -count && *padding_idx < count,
                               "embedding: padding_idx is ", *padding_idx, ", weights have ", count,
                               " rows. One of them is required.");
        ir::Shape column(weights.shape().size(), 1);
        column[0] = count;
        const Tensor is_padding =
            apply("equal", {ops::iota(column, 0), (*padding_idx + count) % count});
        rows = apply("where", {is_padding, stop_gradient(weights), weights});
    }
    return errors_as("embedding", [&] { return numpy::take(rows, ids, 0); });
}

namespace {

// x - max(x), and log(sum(exp(x - max(x)))): what log_softmax is made of.
struct Shifted {
    Tensor rest, log_sum;
};

Shifted shifted(const Tensor& x, int64_t axis) {
    const Tensor maximum = stop_gradient(numpy::max(x, axis, true));
    const Tensor rest = apply("subtract", {x, maximum});
    const Tensor sum = numpy::sum(apply("exp", {rest}), axis, {}, true);
    return {rest, apply("log", {sum})};
}

void check_indices(std::string_view function, const Tensor& scores, const Tensor& labels) {
    check_labels(function, scores, labels);
    errors_as(function,
              [&] { numpy::check_bounds(labels, scores.rank() - 1, scores.shape().back()); });
}

// Minus the entries that checked labels choose.
Tensor losses_at(std::string_view function, const Tensor& log_probabilities, const Tensor& labels,
                 std::string_view reduction) {
    const Tensor column = numpy::expand_dims(labels, -1);
    const Tensor chosen = numpy::take_along_axis(log_probabilities, column, -1);
    return errors_as(function, [&] {
        return reduced(function, apply("negative", {numpy::squeeze(chosen, -1)}), reduction);
    });
}

}  // namespace

void check_labels(std::string_view function, const Tensor& scores, const Tensor& labels) {
    user_check<TypeError>(ir::is_integer(labels.dtype()), function, ": labels have dtype ",
                          labels.dtype(), ". Integers are required.");
    const bool fits =
        scores.rank() == labels.rank() + 1 &&
        std::equal(labels.shape().begin(), labels.shape().end(), scores.shape().begin());
    user_check(fits, function, ": scores have shape ", scores.shape(), ", labels have shape ",
               labels.shape(), ". scores.shape must be labels.shape + (classes,).");
}

void check_reduction(std::string_view function, std::string_view reduction) {
    user_check(reduction == "mean" || reduction == "sum" || reduction == "none", function,
               ": reduction is '", reduction, "'. Available: mean, sum, none.");
}

Tensor reduced(std::string_view function, const Tensor& losses, std::string_view reduction) {
    check_reduction(function, reduction);
    if (reduction == "none") return losses;
    return reduction == "sum" ? numpy::sum(losses) : numpy::mean(losses);
}

Tensor logsumexp(const Tensor& x, int64_t axis, bool keepdims) {
    axis = numpy::normalize_axis("logsumexp", axis, x.rank());
    return errors_as("logsumexp", [&] {
        const Tensor given = floating("logsumexp", x);
        const Tensor maximum = stop_gradient(numpy::max(given, axis, true));
        // Nothing is taken away from infinities, so that -inf alone gives -inf, and inf gives inf.
        const Tensor shift = apply("where", {apply("isfinite", {maximum}), maximum, 0.0});
        const Tensor sum =
            numpy::sum(apply("exp", {apply("subtract", {given, shift})}), axis, {}, true);
        const Tensor result = apply("add", {apply("log", {sum}), shift});
        return keepdims ? result : numpy::squeeze(result, axis);
    });
}

Tensor log_softmax(const Tensor& x, int64_t axis) {
    axis = numpy::normalize_axis("log_softmax", axis, x.rank());
    return errors_as("log_softmax", [&] {
        if (x.size() == 0) return floating("log_softmax", x);
        const Shifted parts = shifted(floating("log_softmax", x), axis);
        return apply("subtract", {parts.rest, parts.log_sum});
    });
}

Tensor one_hot(const Tensor& labels, int64_t classes, DType dtype) {
    user_check<TypeError>(ir::is_integer(labels.dtype()), "one_hot: labels have dtype ",
                          labels.dtype(), ". Integers are required.");
    user_check(classes >= 0, "one_hot: classes is ", classes, ". It must not be negative.");
    Shape shape = labels.shape();
    shape.push_back(classes);
    const Tensor positions = ops::iota(shape, labels.rank());
    return ops::astype(apply("equal", {positions, numpy::expand_dims(labels, -1)}), dtype);
}

Tensor nll(const Tensor& log_probabilities, const Tensor& labels, std::string_view reduction) {
    check_indices("nll", log_probabilities, labels);
    return losses_at("nll", log_probabilities, labels, reduction);
}

Tensor cross_entropy(const Tensor& logits, const Tensor& labels, std::string_view reduction) {
    check_indices("cross_entropy", logits, labels);
    return errors_as("cross_entropy", [&] {
        return losses_at("cross_entropy", log_softmax(logits, -1), labels, reduction);
    });
}

Tensor mse(const Tensor& prediction, const Tensor& target, std::string_view reduction) {
    return errors_as("mse", [&] {
        const Tensor error = apply("subtract", {prediction, target});
        return reduced("mse", apply("multiply", {error, error}), reduction);
    });
}

}  // namespace composit::nn
