// PyTorch's losses. Classes stand in axis 1, in axis 0 of what has one axis.
//
// Errors have PyTorch's words. Results are lazy.
#pragma once

#include "composit/numpy/operand.h"

#include <cstdint>
#include <optional>
#include <string_view>

namespace composit::aten {

using ir::Tensor;

// ATen's numbers for "none", "mean" and "sum".
enum class Reduction : int64_t { none = 0, mean = 1, sum = 2 };
// ValueError for another word. Where one of the two is given, they decide in its place, as in
// PyTorch's older signatures: no reduction unless `reduce`, then a mean or else a sum.
[[nodiscard]] Reduction reduction_from(std::string_view word, std::optional<bool> size_average = {},
                                       std::optional<bool> reduce = {});

struct ClassLossOptions {
    Tensor weight = {};  // of each class
    Reduction reduction = Reduction::mean;
    int64_t ignore_index = -100;  // labels of this value have no loss and do not count
    double label_smoothing = 0;
};
// -x[target] over the axis of classes; x holds logarithms of probabilities.
[[nodiscard]] Tensor nll_loss(const Tensor& x, const Tensor& target,
                              const ClassLossOptions& options = {});
// nll_loss of log_softmax(x); target: labels, or probabilities of x's shape.
[[nodiscard]] Tensor cross_entropy_loss(const Tensor& x, const Tensor& target,
                                        const ClassLossOptions& options = {});

[[nodiscard]] Tensor mse_loss(const Tensor& x, const Tensor& target,
                              Reduction reduction = Reduction::mean);
[[nodiscard]] Tensor l1_loss(const Tensor& x, const Tensor& target,
                             Reduction reduction = Reduction::mean);
[[nodiscard]] Tensor smooth_l1_loss(const Tensor& x, const Tensor& target,
                                    Reduction reduction = Reduction::mean, double beta = 1);
[[nodiscard]] Tensor huber_loss(const Tensor& x, const Tensor& target,
                                Reduction reduction = Reduction::mean, double delta = 1);
[[nodiscard]] Tensor binary_cross_entropy(const Tensor& x, const Tensor& target,
                                          const Tensor& weight = {},
                                          Reduction reduction = Reduction::mean);
[[nodiscard]] Tensor binary_cross_entropy_with_logits(const Tensor& x, const Tensor& target,
                                                      const Tensor& weight = {},
                                                      const Tensor& pos_weight = {},
                                                      Reduction reduction = Reduction::mean);
// target (log(target) - x), which is 0 at a target of 0 and NaN below; with log_target
// exp(target) (target - x).
[[nodiscard]] Tensor kl_div(const Tensor& x, const Tensor& target,
                            Reduction reduction = Reduction::mean, bool log_target = false);
[[nodiscard]] Tensor poisson_nll_loss(const Tensor& x, const Tensor& target, bool log_input = true,
                                      bool full = false, double eps = 1e-8,
                                      Reduction reduction = Reduction::mean);
[[nodiscard]] Tensor soft_margin_loss(const Tensor& x, const Tensor& target,
                                      Reduction reduction = Reduction::mean);
[[nodiscard]] Tensor margin_ranking_loss(const Tensor& x1, const Tensor& x2, const Tensor& target,
                                         double margin = 0, Reduction reduction = Reduction::mean);
[[nodiscard]] Tensor hinge_embedding_loss(const Tensor& x, const Tensor& target, double margin = 1,
                                          Reduction reduction = Reduction::mean);
// Of vectors (features,) and a target (), or of (batch, features) and (batch,): 1 - cos where the
// target is 1, max(0, cos - margin) where it is -1, 0 for any other. RuntimeError in PyTorch for
// other dimensions; here a ValueError of its text.
[[nodiscard]] Tensor cosine_embedding_loss(const Tensor& x1, const Tensor& x2, const Tensor& target,
                                           double margin = 0,
                                           Reduction reduction = Reduction::mean);
// How far classes that are not the target's are above its score less a margin, to the power p.
// IndexError for labels that are not in range.
[[nodiscard]] Tensor multi_margin_loss(const Tensor& x, const Tensor& target, int64_t p = 1,
                                       double margin = 1, const Tensor& weight = {},
                                       Reduction reduction = Reduction::mean);
// How far classes that are no labels are above those that are, less 1; labels end at -1.
[[nodiscard]] Tensor multilabel_margin_loss(const Tensor& x, const Tensor& target,
                                            Reduction reduction = Reduction::mean);

// max(0, |anchor - positive| - |anchor - negative| + margin) of vectors in the last axis, by norms
// of order p of differences to which eps is added; swap: |positive - negative| where it is less
// than |anchor - negative|.
struct TripletOptions {
    double margin = 1, p = 2, eps = 1e-6;
    bool swap = false;
    Reduction reduction = Reduction::mean;
};
[[nodiscard]] Tensor triplet_margin_loss(const Tensor& anchor, const Tensor& positive,
                                         const Tensor& negative,
                                         const TripletOptions& options = {});
// The cross entropy of sigmoid(x) of each label, the mean over the last axis; `weight` is that of
// each label.
[[nodiscard]] Tensor multilabel_soft_margin_loss(const Tensor& x, const Tensor& target,
                                                 const Tensor& weight = {},
                                                 Reduction reduction = Reduction::mean);

// Losses times weights of their shape (ValueError), reduced; their mean is the sum over that of the
// weights, or, with by_count, over the number of losses.
[[nodiscard]] Tensor weighted_loss(const Tensor& losses, const Tensor& weight,
                                   Reduction reduction = Reduction::mean, bool by_count = false);

struct CtcOptions {
    int64_t blank = 0;
    Reduction reduction = Reduction::mean;
    bool zero_infinity = false;
};
// -log of the probability of the targets over all ways to align them. x: (time, batch, classes), or
// without batch; targets (batch, length), or one after another. The gradient is PyTorch's, that of
// the scores of which x is the log_softmax: it is the derivative with respect to x where
// nn::log_softmax made x, and else differs from it by exp(x) times the loss's gradient. Lengths
// decide shapes: NotSupported where they depend on a placeholder.
[[nodiscard]] Tensor ctc_loss(const Tensor& x, const Tensor& targets, const Tensor& input_lengths,
                              const Tensor& target_lengths, const CtcOptions& options = {});

// The cosine of the angle between two tensors' vectors along an axis.
[[nodiscard]] Tensor cosine_similarity(const Tensor& x1, const Tensor& x2, int64_t dim = 1,
                                       double eps = 1e-8);

}  // namespace composit::aten
