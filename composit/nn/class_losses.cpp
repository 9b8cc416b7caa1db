// Losses of scores of classes, which stand in the last axis.
#include "composit/base/errors_as.h"
#include "composit/nn/loss_parts.h"
#include "composit/nn/losses.h"
#include "composit/nn/operations.h"
#include "composit/numpy/creation.h"
#include "composit/numpy/indexing.h"
#include "composit/numpy/manipulation.h"

#include <algorithm>

namespace composit::nn {
namespace {

using numpy::Operand;

// Labels that can be used as indices, which of them count, and what each weighs.
struct Labels {
    Tensor index;    // checked, 0 where ignored
    Tensor ignored;  // bool; empty: none
    Tensor weight;   // of the classes, in the dtype of the scores; empty: 1
    Tensor weights;  // of the labels, 0 where ignored; empty: 1
};

Tensor at(const Tensor& scores, const Tensor& labels) {
    return numpy::squeeze(numpy::take_along_axis(scores, numpy::expand_dims(labels, -1), -1), -1);
}

Tensor class_weight(std::string_view function, const Tensor& scores, const Tensor& weight) {
    if (!weight) return {};
    const int64_t classes = scores.shape().back();
    user_check(weight.rank() == 1 && weight.size() == classes, function, ": weight has shape ",
               weight.shape(), ". (", classes, ",), a number for each class, is required.");
    return ops::astype(numpy::strong(weight), scores.dtype());
}

Labels checked_labels(std::string_view function, const Tensor& scores, const Tensor& labels,
                      const Tensor& weight, std::optional<int64_t> ignore_index) {
    check_labels(function, scores, labels);
    Labels result{labels, {}, class_weight(function, scores, weight), {}};
    if (ignore_index) {
        const Tensor wide = ops::astype(labels, DType::int64);
        result.ignored = apply("equal", {wide, *ignore_index});
        result.index = chosen(result.ignored, 0, wide);
    }
    errors_as(function,
              [&] { numpy::check_bounds(result.index, scores.rank() - 1, scores.shape().back()); });
    if (result.weight) result.weights = numpy::take(result.weight, result.index, 0);
    if (result.ignored) {
        const Tensor one = numpy::scalar(scores.dtype(), 1),
                     none = numpy::scalar(scores.dtype(), 0);
        result.weights = chosen(result.ignored, none, result.weights ? result.weights : one);
    }
    return result;
}

// Losses 0 where ignored, their mean over the weights of the labels.
Tensor reduced_by_weight(std::string_view function, Tensor losses, const Labels& labels,
                         std::string_view reduction) {
    if (labels.ignored) losses = chosen(labels.ignored, 0.0, losses);
    if (reduction != "mean" || !labels.weights) return reduced(function, losses, reduction);
    return numpy::sum(losses) / numpy::sum(labels.weights);
}

// Of every class as much as the target says.
Tensor spread_loss(const Tensor& logs, const Tensor& target, const Tensor& weight) {
    const Tensor terms = target ? logs * target : logs;
    return -numpy::sum(weight ? terms * weight : terms, -1);
}

Tensor check_scores(std::string_view function, const Tensor& scores) {
    user_check(scores.rank() > 0, function, ": scores are 0-d. (…, classes) is required.");
    return all_floating(function, {scores})[0];
}

}  // namespace

Tensor nll(const Tensor& log_probabilities, const Tensor& labels, const ClassOptions& options) {
    check_reduction("nll", options.reduction);
    user_check(options.label_smoothing == 0, "nll: label_smoothing is ", options.label_smoothing,
               ". It is cross_entropy's.");
    const Tensor logs = check_scores("nll", log_probabilities);
    const Labels known = checked_labels("nll", logs, labels, options.weight, options.ignore_index);
    return errors_as("nll", [&] {
        const Tensor losses = -at(logs, known.index);
        return reduced_by_weight("nll", known.weights ? losses * known.weights : losses, known,
                                 options.reduction);
    });
}

Tensor cross_entropy(const Tensor& logits, const Tensor& target, const ClassOptions& options) {
    constexpr std::string_view name = "cross_entropy";
    check_reduction(name, options.reduction);
    const double smoothing = options.label_smoothing;
    user_check(smoothing >= 0 && smoothing <= 1, name, ": label_smoothing is ", smoothing,
               ". 0 to 1 is required.");
    const Tensor scores = check_scores(name, logits);
    const auto classes = static_cast<double>(scores.shape().back());
    const Tensor logs = errors_as(name, [&] { return log_softmax(scores, -1); });
    if (ir::is_inexact(target.dtype()) && target.rank() == logits.rank()) {
        user_check(target.shape() == logits.shape(), name, ": logits have shape ", logits.shape(),
                   ", probabilities have shape ", target.shape(), ". Equal shapes are required.");
        user_check(!options.ignore_index, name, ": ignore_index is ",
                   options.ignore_index.value_or(0), " with probabilities. It requires labels.");
        const Tensor weight = class_weight(name, scores, options.weight);
        Tensor wanted = ops::astype(numpy::strong(target), logs.dtype());
        if (smoothing > 0) wanted = wanted * (1 - smoothing) + smoothing / classes;
        return reduced(name, spread_loss(logs, wanted, weight), options.reduction);
    }
    const Labels known = checked_labels(name, logs, target, options.weight, options.ignore_index);
    return errors_as(name, [&] {
        Tensor losses = -at(logs, known.index);
        if (known.weights) losses = losses * known.weights;
        if (smoothing > 0)
            losses = losses * (1 - smoothing) +
                     spread_loss(logs, {}, known.weight) * (smoothing / classes);
        return reduced_by_weight(name, losses, known, options.reduction);
    });
}

Tensor multi_margin_loss(const Tensor& x, const Tensor& labels, int64_t p, double margin,
                         const Tensor& weight, std::string_view reduction) {
    constexpr std::string_view name = "multi_margin_loss";
    check_reduction(name, reduction);
    user_check(p == 1 || p == 2, name, ": p is ", p, ". 1 or 2 is required.");
    const Tensor scores = check_scores(name, x);
    const Labels known = checked_labels(name, scores, labels, weight, {});
    return errors_as(name, [&] {
        const Tensor own = numpy::expand_dims(at(scores, known.index), -1);
        const Tensor z = scores - own + margin;
        Tensor terms = chosen(z > 0, p == 1 ? z : z * z, 0.0);
        const int64_t classes = scores.shape().back();
        const Tensor wide = ops::astype(known.index, DType::int64);
        const Tensor place = chosen(wide < 0, wide + classes, wide);
        const Tensor is_own = apply(
            "equal", {ops::iota(scores.shape(), scores.rank() - 1), numpy::expand_dims(place, -1)});
        if (known.weights) terms = terms * numpy::expand_dims(known.weights, -1);
        const Tensor losses = numpy::sum(chosen(is_own, 0.0, terms), -1) / classes;
        return reduced(name, losses, reduction);
    });
}

}  // namespace composit::nn
