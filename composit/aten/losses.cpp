// Losses in the order of PyTorch's arithmetic.
#include "composit/aten/losses.h"

#include "composit/aten/dtypes.h"
#include "composit/aten/operand_rules.h"
#include "composit/aten/rank.h"
#include "composit/aten/reductions.h"
#include "composit/aten/rows.h"
#include "composit/aten/special.h"
#include "composit/base/error.h"
#include "composit/ir/dtype_traits.h"
#include "composit/nn/loss_parts.h"
#include "composit/nn/losses.h"
#include "composit/nn/operations.h"
#include "composit/numpy/indexing.h"
#include "composit/numpy/manipulation.h"
#include "composit/numpy/reductions.h"
#include "composit/ops/ops.h"

#include <algorithm>
#include <numbers>
#include <string>

namespace composit::aten {
namespace {

using ir::Shape;

std::string_view word_of(Reduction reduction) {
    if (reduction == Reduction::none) return "none";
    return reduction == Reduction::mean ? "mean" : "sum";
}

Tensor reduced(const Tensor& losses, Reduction reduction) {
    return nn::reduced("loss", losses, word_of(reduction));
}

int64_t class_axis(const Tensor& x) { return x.rank() > 1 ? 1 : 0; }

// Weights of classes, to be multiplied with x.
Tensor along_classes(const Tensor& weight, const Tensor& x) {
    Shape shape(static_cast<size_t>(x.rank()), 1);
    shape[static_cast<size_t>(class_axis(x))] = -1;
    return numpy::reshape(weight, shape);
}

// Distances whose squares are finite: 0 where `is_near` does not hold.
Tensor near_part(const Tensor& away, const Tensor& is_near) {
    return rows::where(is_near, away, rows::zero_of(away));
}

// Losses in a floating dtype that PyTorch writes them in.
Tensor in_dtype(const Tensor& losses, ir::DType dtype) {
    return ir::is_inexact(dtype) ? ops::astype(losses, dtype) : losses;
}

Tensor weighted(const Tensor& losses, const Tensor& weight) {
    return weight ? losses * weight : losses;
}

}  // namespace

Reduction reduction_from(std::string_view word, std::optional<bool> size_average,
                         std::optional<bool> reduce) {
    if (!reduce.value_or(true)) return Reduction::none;
    if (reduce || size_average)
        return size_average.value_or(true) ? Reduction::mean : Reduction::sum;
    if (word == "none") return Reduction::none;
    if (word == "mean") return Reduction::mean;
    user_check<PyTorchValueError>(word == "sum", word, " is not a valid value for reduction");
    return Reduction::sum;
}

Tensor nll_loss(const Tensor& x, const Tensor& target, const ClassLossOptions& o) {
    check_rank("nll_loss", x, 1);
    const int64_t axis = class_axis(x);
    const Tensor counts = rows::not_equal(target, o.ignore_index);
    const int64_t classes = x.shape()[static_cast<size_t>(axis)];
    // No target counts from the end: negative ones are made too large, which the look refuses.
    const Tensor safe = rows::where(counts, rows::where(target < 0, classes, target), 0);
    const Tensor zero = rows::zero_of(x);
    const Tensor picked = numpy::take_along_axis(x, numpy::expand_dims(safe, axis), axis);
    Tensor losses = -numpy::squeeze(picked, axis);
    Tensor weights = ops::astype(counts, x.dtype());
    if (o.weight) {
        const Tensor of_labels = numpy::take(o.weight, safe);
        weights = weights * of_labels;
        losses = losses * of_labels;
    }
    losses = rows::where(counts, losses, zero);
    if (o.label_smoothing != 0) {
        const Tensor every = o.weight ? x * along_classes(o.weight, x) : x;
        const Tensor spread = rows::where(counts, -numpy::sum(every, axis) / classes, zero);
        losses = (1 - o.label_smoothing) * losses + o.label_smoothing * spread;
    }
    if (o.reduction == Reduction::mean) return numpy::sum(losses) / numpy::sum(weights);
    return reduced(losses, o.reduction);
}

Tensor cross_entropy_loss(const Tensor& x, const Tensor& target, const ClassLossOptions& o) {
    const int64_t axis = class_axis(x);
    const Tensor logs = nn::log_softmax(x, axis);
    if (x.shape() != target.shape() || ir::is_integer(target.dtype()))
        return nll_loss(logs, target, o);
    Tensor wanted = target;
    if (o.label_smoothing != 0)
        wanted = target * (1 - o.label_smoothing) +
                 o.label_smoothing / static_cast<double>(x.shape()[static_cast<size_t>(axis)]);
    Tensor terms = -logs * wanted;
    if (o.weight) terms = terms * along_classes(o.weight, x);
    const Tensor losses = numpy::sum(terms, axis);
    if (o.reduction == Reduction::mean)
        return numpy::sum(losses) / std::max<int64_t>(losses.size(), 1);
    return reduced(losses, o.reduction);
}

Tensor mse_loss(const Tensor& x, const Tensor& target, Reduction reduction) {
    const std::vector<Tensor> pair = together({x, target});
    return reduced(numpy::apply("square", {pair[0] - pair[1]}), reduction);
}

Tensor l1_loss(const Tensor& x, const Tensor& target, Reduction reduction) {
    const std::vector<Tensor> pair = together({x, target});
    return reduced(rows::abs(pair[0] - pair[1]), reduction);
}

Tensor smooth_l1_loss(const Tensor& x, const Tensor& target, Reduction reduction, double beta) {
    const Tensor away = rows::abs(x - target);
    if (beta == 0) return reduced(away, reduction);
    const Tensor is_near = away < beta, near = near_part(away, is_near);
    return reduced(rows::where(is_near, 0.5 * near * near / beta, away - 0.5 * beta), reduction);
}

Tensor huber_loss(const Tensor& x, const Tensor& target, Reduction reduction, double delta) {
    user_check<RuntimeError>(delta > 0,
                             "huber_loss does not support non-positive values for delta.");
    const Tensor away = rows::abs(x - target);
    const Tensor is_near = away <= delta, near = near_part(away, is_near);
    const Tensor losses = rows::where(is_near, 0.5 * near * near, delta * (away - 0.5 * delta));
    return reduced(in_dtype(losses, x.dtype()), reduction);
}

Tensor binary_cross_entropy(const Tensor& x, const Tensor& target, const Tensor& weight,
                            Reduction reduction) {
    return nn::binary_cross_entropy(x, target, weight, word_of(reduction));
}

Tensor binary_cross_entropy_with_logits(const Tensor& x, const Tensor& target, const Tensor& weight,
                                        const Tensor& pos_weight, Reduction reduction) {
    // PyTorch writes the losses over 1 - target.
    check_operand_dtypes("rsub", {target.dtype()},
                         [](size_t, std::string_view) { return std::nullopt; });
    user_check<RuntimeError>(ir::is_inexact(target.dtype()) || !ir::is_inexact(x.dtype()),
                             "result type ", ir::scalar_type_name(x.dtype()),
                             " can't be cast to the desired output type ",
                             ir::scalar_type_name(target.dtype()));
    const Tensor log_sigmoid = -rows::logaddexp(-x, 0.0);
    const Tensor times = pos_weight ? ((pos_weight - 1) * target + 1) * log_sigmoid : log_sigmoid;
    const Tensor losses = in_dtype((1 - target) * x - times, target.dtype());
    return reduced(weighted(losses, weight), reduction);
}

Tensor kl_div(const Tensor& x, const Tensor& target, Reduction reduction, bool log_target) {
    if (log_target) return reduced(rows::exp(target) * (target - x), reduction);
    const Tensor is_none = rows::equal(target, 0);
    const Tensor some = rows::where(is_none, rows::one_of(target), target);
    const Tensor entropy =
        rows::where(is_none, rows::zero_of(target), some * log_to_the_least(some));
    return reduced(entropy - target * x, reduction);
}

Tensor poisson_nll_loss(const Tensor& given_x, const Tensor& given_target, bool log_input,
                        bool full, double eps, Reduction reduction) {
    const std::vector<Tensor> pair = together_as_floats({given_x, given_target});
    const Tensor &x = pair[0], &target = pair[1];
    Tensor losses = log_input ? rows::exp(x) - target * x : x - target * rows::log(x + eps);
    if (full) {
        const Tensor stirling =
            target * rows::log(target) - target + 0.5 * rows::log(2 * std::numbers::pi * target);
        losses = losses + rows::where(target <= 1, rows::zero_of(losses), stirling);
    }
    return reduced(losses, reduction);
}

Tensor soft_margin_loss(const Tensor& x, const Tensor& target, Reduction reduction) {
    return reduced(in_dtype(rows::logaddexp(-target * x, 0.0), x.dtype()), reduction);
}

Tensor margin_ranking_loss(const Tensor& x1, const Tensor& x2, const Tensor& target, double margin,
                           Reduction reduction) {
    return reduced(rows::maximum(floating(-target * (x1 - x2)) + margin, 0), reduction);
}

Tensor cosine_embedding_loss(const Tensor& x1, const Tensor& x2, const Tensor& target,
                             double margin, Reduction reduction) {
    user_check(target.rank() <= 1, "0D or 1D target tensor expected, multi-target not supported");
    user_check(x1.rank() == target.rank() + 1 && x2.rank() == x1.rank(), target.rank(),
               "D target tensor expects ", target.rank() + 1,
               "D input tensors, but found inputs with sizes ", sizes_of(x1), " and ", sizes_of(x2),
               ".");
    // The target decides no dtype.
    const std::vector<Tensor> pair = together_as_floats({x1, x2});
    return nn::cosine_embedding_loss(pair[0], pair[1], ops::astype(target, pair[0].dtype()), margin,
                                     word_of(reduction));
}

Tensor hinge_embedding_loss(const Tensor& x, const Tensor& target, double margin,
                            Reduction reduction) {
    const Tensor zero = rows::zero_of(x);
    const Tensor apart = rows::where(rows::equal(target, 1), zero, rows::maximum(margin - x, 0));
    return reduced(apart + rows::where(rows::equal(target, -1), zero, x), reduction);
}

Tensor multi_margin_loss(const Tensor& x, const Tensor& target, int64_t p, double margin,
                         const Tensor& weight, Reduction reduction) {
    const bool is_alone = x.rank() != 2;
    const Tensor scores = is_alone ? numpy::reshape(x, {1, -1}) : x;
    Tensor labels = numpy::reshape(target, {-1});
    if (ir::is_signed_integer(labels.dtype()))  // none counts from the end
        labels = rows::where(labels < 0, cast(scores.shape()[1], labels.dtype()), labels);
    const Tensor losses = nn::multi_margin_loss(scores, labels, p, margin, weight,
                                                is_alone ? "none" : word_of(reduction));
    return is_alone ? reduced(numpy::squeeze(losses, 0), reduction) : losses;
}

Tensor multilabel_margin_loss(const Tensor& given_x, const Tensor& target, Reduction reduction) {
    const bool is_alone = given_x.rank() != 2;
    const Tensor x = is_alone ? numpy::reshape(given_x, {1, -1}) : given_x;
    const Tensor labels = is_alone ? numpy::reshape(target, {1, -1}) : target;
    const int64_t count = x.shape()[1];
    const Tensor ends = numpy::cumsum(ops::astype(labels < 0, DType::int64), 1);
    const Tensor is_before = rows::equal(ends, 0);
    const Tensor chosen = rows::where(is_before, labels, -1);
    const Tensor classes = numpy::arange(count);
    const Tensor is_label = numpy::any(rows::equal(numpy::expand_dims(chosen, 2), classes), 1);
    const Tensor own = numpy::take_along_axis(x, rows::maximum(chosen, 0), 1);
    const Tensor parts =
        rows::maximum(1 - numpy::expand_dims(own, 2) + numpy::expand_dims(x, 1), 0);
    const Tensor is_counted = numpy::expand_dims(is_before, 2) & ~numpy::expand_dims(is_label, 1);
    const Tensor losses =
        numpy::sum(rows::where(is_counted, parts, rows::zero_of(x)), {1, 2}) / count;
    return reduced(is_alone ? numpy::squeeze(losses, 0) : losses, reduction);
}

Tensor triplet_margin_loss(const Tensor& anchor, const Tensor& positive, const Tensor& negative,
                           const TripletOptions& o) {
    user_check<PyTorchValueError>(o.margin > 0, "margin must be greater than 0, got ", o.margin);
    const auto apart = [&](const Tensor& a, const Tensor& b) {
        return vector_norm(floating(a - b) + o.eps, o.p, -1);
    };
    Tensor far = apart(anchor, negative);
    if (o.swap) far = rows::minimum(far, apart(positive, negative));
    return reduced(rows::maximum(apart(anchor, positive) - far + o.margin, 0), o.reduction);
}

Tensor multilabel_soft_margin_loss(const Tensor& x, const Tensor& target, const Tensor& weight,
                                   Reduction reduction) {
    const Tensor losses =
        target * rows::logaddexp(-x, 0.0) + (1 - target) * rows::logaddexp(x, 0.0);
    return reduced(numpy::mean(weighted(losses, weight), -1), reduction);
}

Tensor weighted_loss(const Tensor& losses, const Tensor& weight, Reduction reduction,
                     bool by_count) {
    user_check(weight.shape() == losses.shape(), "Weights and input must have the same size, got ",
               weight.shape(), " for ", losses.shape(), ".");
    const Tensor made = losses * weight;
    if (reduction == Reduction::mean && !by_count) return numpy::sum(made) / numpy::sum(weight);
    return reduced(made, reduction);
}

Tensor ctc_loss(const Tensor& x, const Tensor& targets, const Tensor& input_lengths,
                const Tensor& target_lengths, const CtcOptions& o) {
    // PyTorch's gradient is that of the scores of which x is the log_softmax, so x's own gradient
    // gets what log_softmax adds.
    const Tensor logs = floating(x);
    const Tensor scores = logs - numpy::sum(rows::exp(logs), -1, {}, true);
    return nn::ctc_loss(ops::with_values(scores, logs), targets, input_lengths, target_lengths,
                        {o.blank, o.zero_infinity, word_of(o.reduction)});
}

Tensor cosine_similarity(const Tensor& x1, const Tensor& x2, int64_t dim, double eps) {
    const std::vector<Tensor> pair = numpy::broadcast_arrays(together({floating(x1), x2}));
    const auto unit = [&](const Tensor& v) {
        return v / rows::maximum(root(numpy::sum(v * v, dim, {}, true)), eps);
    };
    return numpy::sum(unit(pair[0]) * unit(pair[1]), dim);
}

}  // namespace composit::aten
