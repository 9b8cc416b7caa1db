// Losses, with the values and gradients of torch.nn.functional's. Classes stand in the last axis.
//
// `reduction` is "mean", "sum" or "none". Operands broadcast; integers are computed in float64.
// ValueError for another reduction and shapes that do not fit, TypeError for complex numbers.
#pragma once

#include "composit/numpy/operand.h"

#include <cstdint>
#include <optional>
#include <string_view>

namespace composit::nn {

using ir::Tensor;

// ----- classes
// What cross_entropy and nll of operations.h take besides. `weight` (classes,) scales the losses of
// each class; the mean is over the weights of the labels that count. Labels that equal ignore_index
// have no loss and do not count: the mean of none is NaN, its gradient 0.
struct ClassOptions {
    Tensor weight = {};
    std::optional<int64_t> ignore_index = {};
    double label_smoothing = 0;  // cross_entropy's: that part of the target is for all classes
    std::string_view reduction = "mean";
};
// target: integer labels (…), or probabilities of the shape of logits, whose mean is over rows.
[[nodiscard]] Tensor cross_entropy(const Tensor& logits, const Tensor& target,
                                   const ClassOptions& options);
[[nodiscard]] Tensor nll(const Tensor& log_probabilities, const Tensor& labels,
                         const ClassOptions& options);
// sum over the other classes of max(0, margin - x[label] + x[class])^p * weight[label] / classes;
// p is 1 or 2.
[[nodiscard]] Tensor multi_margin_loss(const Tensor& x, const Tensor& labels, int64_t p = 1,
                                       double margin = 1, const Tensor& weight = {},
                                       std::string_view reduction = "mean");

// ----- differences
[[nodiscard]] Tensor l1_loss(const Tensor& x, const Tensor& target,
                             std::string_view reduction = "mean");  // |x - target|
// d^2 / 2 / beta where d = |x - target| < beta, else d - beta / 2
[[nodiscard]] Tensor smooth_l1_loss(const Tensor& x, const Tensor& target, double beta = 1,
                                    std::string_view reduction = "mean");
// d^2 / 2 where d = |x - target| < delta, else delta (d - delta / 2)
[[nodiscard]] Tensor huber_loss(const Tensor& x, const Tensor& target, double delta = 1,
                                std::string_view reduction = "mean");

// ----- probabilities
// -(target log x + (1 - target) log(1 - x)) weight, logarithms not below -100.
[[nodiscard]] Tensor binary_cross_entropy(const Tensor& x, const Tensor& target,
                                          const Tensor& weight = {},
                                          std::string_view reduction = "mean");
// The same of sigmoid(x), without overflow; pos_weight scales the losses of target.
[[nodiscard]] Tensor binary_cross_entropy_with_logits(const Tensor& x, const Tensor& target,
                                                      const Tensor& weight = {},
                                                      const Tensor& pos_weight = {},
                                                      std::string_view reduction = "mean");
// target (log target - x), 0 where target is 0; with log_target exp(target) (target - x). Reduction
// "batchmean" divides the sum by the length of the first axis.
[[nodiscard]] Tensor kl_div(const Tensor& x, const Tensor& target,
                            std::string_view reduction = "mean", bool log_target = false);
// (log v + (x - target)^2 / v) / 2 with v = max(var, eps), whose slope is 1; `full` adds
// log(2 pi) / 2.
[[nodiscard]] Tensor gaussian_nll_loss(const Tensor& x, const Tensor& target, const Tensor& var,
                                       bool full = false, double eps = 1e-6,
                                       std::string_view reduction = "mean");
// exp(x) - target x, or x - target log(x + eps) without log_input; `full` adds Stirling's
// approximation of log(target!) where target > 1.
[[nodiscard]] Tensor poisson_nll_loss(const Tensor& x, const Tensor& target, bool log_input = true,
                                      bool full = false, double eps = 1e-8,
                                      std::string_view reduction = "mean");

// ----- margins; targets are 1 or -1
// max(0, margin - target (x1 - x2))
[[nodiscard]] Tensor margin_ranking_loss(const Tensor& x1, const Tensor& x2, const Tensor& target,
                                         double margin = 0, std::string_view reduction = "mean");
// x where target is 1, max(0, margin - x) where it is -1
[[nodiscard]] Tensor hinge_embedding_loss(const Tensor& x, const Tensor& target, double margin = 1,
                                          std::string_view reduction = "mean");
// Of vectors in the last axis: 1 - cos where target is 1, max(0, cos - margin) where it is -1.
[[nodiscard]] Tensor cosine_embedding_loss(const Tensor& x1, const Tensor& x2, const Tensor& target,
                                           double margin = 0, std::string_view reduction = "mean");
// log(1 + exp(-target x))
[[nodiscard]] Tensor soft_margin_loss(const Tensor& x, const Tensor& target,
                                      std::string_view reduction = "mean");
// max(0, margin + |anchor - positive| - |anchor - negative|) of vectors in the last axis, norms of
// order p, eps added to each difference; swap: the negative's lesser distance from both others.
struct TripletOptions {
    double margin = 1, p = 2, eps = 1e-6;
    bool swap = false;
    std::string_view reduction = "mean";
};
[[nodiscard]] Tensor triplet_margin_loss(const Tensor& anchor, const Tensor& positive,
                                         const Tensor& negative,
                                         const TripletOptions& options = {});

// ----- sequences
// Connectionist temporal classification: minus the logarithm of the sum over all alignments of
// targets to log_probabilities (times, batch, classes), or (times, classes). targets: (batch,
// length), of which the first target_lengths count, or those of all sequences one after the other.
// Infinite (with a gradient of NaN) where there is no alignment, or 0 (gradient 0) with
// zero_infinity. The mean is over losses / max(1, target_length). One loop over times.
struct CtcOptions {
    int64_t blank = 0;
    bool zero_infinity = false;
    std::string_view reduction = "mean";
};
[[nodiscard]] Tensor ctc_loss(const Tensor& log_probabilities, const Tensor& targets,
                              const Tensor& input_lengths, const Tensor& target_lengths,
                              const CtcOptions& options = {});

}  // namespace composit::nn
