// Losses of differences, probabilities and margins.
#include "composit/nn/losses.h"

#include "composit/base/errors_as.h"
#include "composit/nn/differentiation.h"
#include "composit/nn/loss_parts.h"
#include "composit/numpy/linalg.h"

#include <cmath>
#include <numbers>

namespace composit::nn {
namespace {

using numpy::Operand;
using Tensors = std::vector<Tensor>;

// A loss per element of operands in one dtype, reduced; errors bear the function's name.
template <class F>
Tensor elementwise(std::string_view function, const Tensors& given, std::string_view reduction,
                   const F& loss) {
    check_reduction(function, reduction);
    return errors_as(function, [&] {
        return reduced(function, loss(all_floating(function, given)), reduction);
    });
}

Tensor log_of(const Tensor& x) { return apply("log", {x}); }

// Logarithms of probabilities not below -100. Where torch limits the slope of the whole, x (1 - x)
// < 1e-12, the value keeps its place and the slope is that limit's.
Tensor bernoulli_loss(const Tensor& x, const Tensor& target) {
    const auto of = [&](const Tensor& p) {
        const Tensor on = apply("maximum", {log_of(p), -100.0});
        const Tensor off = apply("maximum", {apply("log1p", {-p}), -100.0});
        return (target - 1) * off - target * on;
    };
    const Tensor is_inside = x * (1 - x) >= 1e-12;
    const Tensor still = stop_gradient(chosen(is_inside, 0.5, x));
    const Tensor slope = stop_gradient((x - target) / 1e-12);
    return chosen(is_inside, of(chosen(is_inside, x, 0.5)),
                  of(still) + (x - stop_gradient(x)) * slope);
}

}  // namespace

Tensor l1_loss(const Tensor& x, const Tensor& target, std::string_view reduction) {
    return elementwise("l1_loss", {x, target}, reduction,
                       [](const Tensors& p) { return apply("absolute", {p[0] - p[1]}); });
}

Tensor smooth_l1_loss(const Tensor& x, const Tensor& target, double beta,
                      std::string_view reduction) {
    user_check(beta >= 0, "smooth_l1_loss: beta is ", beta, ". It must not be negative.");
    return elementwise("smooth_l1_loss", {x, target}, reduction, [&](const Tensors& p) {
        const Tensor d = apply("absolute", {p[0] - p[1]});
        return beta == 0 ? d : chosen(d < beta, d * d * 0.5 / beta, d - 0.5 * beta);
    });
}

Tensor huber_loss(const Tensor& x, const Tensor& target, double delta, std::string_view reduction) {
    user_check(delta > 0, "huber_loss: delta is ", delta, ". It must be positive.");
    return elementwise("huber_loss", {x, target}, reduction, [&](const Tensors& p) {
        const Tensor d = apply("absolute", {p[0] - p[1]});
        return chosen(d < delta, d * d * 0.5, (d - 0.5 * delta) * delta);
    });
}

Tensor binary_cross_entropy(const Tensor& x, const Tensor& target, const Tensor& weight,
                            std::string_view reduction) {
    Tensors given{x, target};
    if (weight) given.push_back(weight);
    return elementwise("binary_cross_entropy", given, reduction, [&](const Tensors& p) {
        const Tensor loss = bernoulli_loss(p[0], p[1]);
        return weight ? loss * p[2] : loss;
    });
}

Tensor binary_cross_entropy_with_logits(const Tensor& x, const Tensor& target, const Tensor& weight,
                                        const Tensor& pos_weight, std::string_view reduction) {
    Tensors given{x, target};
    if (pos_weight) given.push_back(pos_weight);
    if (weight) given.push_back(weight);
    return elementwise("binary_cross_entropy_with_logits", given, reduction, [&](const Tensors& p) {
        const Tensor log_weight = pos_weight ? (p[2] - 1) * p[1] + 1 : Tensor();
        const Tensor soft = softened(-p[0]);
        const Tensor loss = (1 - p[1]) * p[0] + (pos_weight ? log_weight * soft : soft);
        return weight ? loss * p.back() : loss;
    });
}

Tensor kl_div(const Tensor& x, const Tensor& target, std::string_view reduction, bool log_target) {
    const bool by_batch = reduction == "batchmean";
    user_check(!by_batch || x.rank() > 0,
               "kl_div: x is 0-d. Reduction 'batchmean' requires an axis.");
    const Tensor loss =
        elementwise("kl_div", {x, target}, by_batch ? "sum" : reduction, [&](const Tensors& p) {
            if (log_target) return apply("exp", {p[1]}) * (p[1] - p[0]);
            const Tensor is_none = apply("equal", {p[1], 0.0});
            const Tensor some = chosen(is_none, 1.0, p[1]);
            return chosen(is_none, 0.0, some * log_of(some)) - p[1] * p[0];
        });
    return by_batch ? loss / x.shape()[0] : loss;
}

Tensor gaussian_nll_loss(const Tensor& x, const Tensor& target, const Tensor& var, bool full,
                         double eps, std::string_view reduction) {
    user_check(eps > 0, "gaussian_nll_loss: eps is ", eps, ". It must be positive.");
    Tensor spread = var;  // torch takes one variance for the whole last axis, too
    if (var.rank() + 1 == x.rank() && var.rank() > 0 && var.shape() != x.shape()) {
        ir::Shape shape = var.shape();
        shape.push_back(1);
        spread = ops::reshape(var, shape);
    }
    return elementwise("gaussian_nll_loss", {x, target, spread}, reduction, [&](const Tensors& p) {
        const Tensor v = chosen(p[2] < eps, p[2] - stop_gradient(p[2]) + eps, p[2]);
        const Tensor d = p[0] - p[1];
        const Tensor loss = (log_of(v) + d * d / v) * 0.5;
        return full ? loss + 0.5 * std::log(2 * std::numbers::pi) : loss;
    });
}

Tensor poisson_nll_loss(const Tensor& x, const Tensor& target, bool log_input, bool full,
                        double eps, std::string_view reduction) {
    return elementwise("poisson_nll_loss", {x, target}, reduction, [&](const Tensors& p) {
        const Tensor& t = p[1];
        const Tensor loss =
            log_input ? apply("exp", {p[0]}) - t * p[0] : p[0] - t * log_of(p[0] + eps);
        if (!full) return loss;
        const Tensor is_more = t > 1;
        const Tensor n = chosen(is_more, t, 1.0);
        const Tensor stirling = n * log_of(n) - n + log_of(n * (2 * std::numbers::pi)) * 0.5;
        return loss + chosen(is_more, stirling, 0.0);
    });
}

Tensor margin_ranking_loss(const Tensor& x1, const Tensor& x2, const Tensor& target, double margin,
                           std::string_view reduction) {
    return elementwise("margin_ranking_loss", {x1, x2, target}, reduction, [&](const Tensors& p) {
        return positive_part(-p[2] * (p[0] - p[1]) + margin);
    });
}

Tensor hinge_embedding_loss(const Tensor& x, const Tensor& target, double margin,
                            std::string_view reduction) {
    return elementwise("hinge_embedding_loss", {x, target}, reduction, [&](const Tensors& p) {
        const Tensor apart = positive_part(margin - p[0]);
        return chosen(apply("not_equal", {p[1], 1.0}), apart, 0.0) +
               chosen(apply("not_equal", {p[1], -1.0}), p[0], 0.0);
    });
}

Tensor cosine_embedding_loss(const Tensor& x1, const Tensor& x2, const Tensor& target,
                             double margin, std::string_view reduction) {
    user_check(x1.rank() > 0 && x2.rank() > 0, "cosine_embedding_loss: x1 has shape ", x1.shape(),
               ", x2 has shape ", x2.shape(), ". Vectors in the last axis are required.");
    return elementwise("cosine_embedding_loss", {x1, x2, target}, reduction, [&](const Tensors& p) {
        const auto product = [](const Tensor& a, const Tensor& b) { return numpy::sum(a * b, -1); };
        constexpr double least = 1e-12;
        const Tensor squares = (product(p[0], p[0]) + least) * (product(p[1], p[1]) + least);
        const Tensor cosine = product(p[0], p[1]) / apply("sqrt", {squares});
        return chosen(apply("equal", {p[2], 1.0}), 1 - cosine, 0.0) +
               chosen(apply("equal", {p[2], -1.0}), positive_part(cosine - margin), 0.0);
    });
}

Tensor soft_margin_loss(const Tensor& x, const Tensor& target, std::string_view reduction) {
    return elementwise("soft_margin_loss", {x, target}, reduction,
                       [](const Tensors& p) { return softened(-p[1] * p[0]); });
}

Tensor triplet_margin_loss(const Tensor& anchor, const Tensor& positive, const Tensor& negative,
                           const TripletOptions& options) {
    user_check(anchor.rank() > 0 && positive.rank() > 0 && negative.rank() > 0,
               "triplet_margin_loss: the operands have shapes ", anchor.shape(), ", ",
               positive.shape(), " and ", negative.shape(),
               ". Vectors in the last axis are required.");
    return elementwise("triplet_margin_loss", {anchor, positive, negative}, options.reduction,
                       [&](const Tensors& p) {
                           const auto distance = [&](const Tensor& a, const Tensor& b) {
                               return numpy::linalg::vector_norm(a - b + options.eps, -1,
                                                                 options.p);
                           };
                           Tensor away = distance(p[0], p[2]);
                           if (options.swap) away = apply("minimum", {away, distance(p[1], p[2])});
                           return positive_part(distance(p[0], p[1]) - away + options.margin);
                       });
}

}  // namespace composit::nn
