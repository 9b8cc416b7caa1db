// Losses of composit/nn/losses.h, into module composit._core.nn.
#include "casters.h"
#include "composit/nn/losses.h"
#include "location.h"
#include "nn.h"

namespace composit::python {
namespace {

using Text = const std::string&;
using Maybe = const MaybeOperand&;

nn::ClassOptions class_options(Maybe weight, std::optional<int64_t> ignore_index,
                               double label_smoothing, Text reduction) {
    return {weight, ignore_index, label_smoothing, reduction};
}

void bind_of_classes(nb::module_& module) {
    const nb::call_guard<Located> located;
    const auto of_classes = [&](const char* name, auto function) {
        module.def(
            name,
            [function](const Tensor& x, const Tensor& target, Maybe weight,
                       std::optional<int64_t> ignore_index, double smoothing, Text reduction) {
                return function(x, target,
                                class_options(weight, ignore_index, smoothing, reduction));
            },
            nb::arg(), nb::arg(), nb::arg(), nb::arg().none(), nb::arg(), nb::arg(), located);
    };
    using Function = Tensor (*)(const Tensor&, const Tensor&, const nn::ClassOptions&);
    of_classes("cross_entropy_of", static_cast<Function>(nn::cross_entropy));
    of_classes("nll_of", static_cast<Function>(nn::nll));
    module.def(
        "multi_margin_loss",
        [](const Tensor& x, const Tensor& labels, int64_t p, double margin, Maybe weight,
           Text reduction) {
            return nn::multi_margin_loss(x, labels, p, margin, weight, reduction);
        },
        located);
    module.def(
        "ctc_loss",
        [](const Tensor& x, const Tensor& targets, const Tensor& input_lengths,
           const Tensor& target_lengths, int64_t blank, Text reduction, bool zero_infinity) {
            return nn::ctc_loss(x, targets, input_lengths, target_lengths,
                                {blank, zero_infinity, reduction});
        },
        located);
}

void bind_of_pairs(nb::module_& module) {
    const nb::call_guard<Located> located;
    const auto plain = [&](const char* name, auto function) {
        module.def(
            name,
            [function](const Tensor& x, const Tensor& target, Text reduction) {
                return function(x, target, reduction);
            },
            located);
    };
    plain("l1_loss", nn::l1_loss);
    plain("soft_margin_loss", nn::soft_margin_loss);
    const auto with_number = [&](const char* name, auto function) {
        module.def(
            name,
            [function](const Tensor& x, const Tensor& target, double number, Text reduction) {
                return function(x, target, number, reduction);
            },
            located);
    };
    with_number("smooth_l1_loss", nn::smooth_l1_loss);
    with_number("huber_loss", nn::huber_loss);
    with_number("hinge_embedding_loss", nn::hinge_embedding_loss);
    const auto of_two = [&](const char* name, auto function) {
        module.def(
            name,
            [function](const Tensor& x1, const Tensor& x2, const Tensor& target, double margin,
                       Text reduction) { return function(x1, x2, target, margin, reduction); },
            located);
    };
    of_two("margin_ranking_loss", nn::margin_ranking_loss);
    of_two("cosine_embedding_loss", nn::cosine_embedding_loss);
    module.def(
        "triplet_margin_loss",
        [](const Tensor& anchor, const Tensor& positive, const Tensor& negative, double margin,
           double p, double eps, bool swap, Text reduction) {
            return nn::triplet_margin_loss(anchor, positive, negative,
                                           {margin, p, eps, swap, reduction});
        },
        located);
}

void bind_of_probabilities(nb::module_& module) {
    const nb::call_guard<Located> located;
    module.def(
        "binary_cross_entropy",
        [](const Tensor& x, const Tensor& target, Maybe weight, Text reduction) {
            return nn::binary_cross_entropy(x, target, weight, reduction);
        },
        located);
    module.def(
        "binary_cross_entropy_with_logits",
        [](const Tensor& x, const Tensor& target, Maybe weight, Maybe pos_weight, Text reduction) {
            return nn::binary_cross_entropy_with_logits(x, target, weight, pos_weight, reduction);
        },
        located);
    module.def(
        "kl_div",
        [](const Tensor& x, const Tensor& target, Text reduction, bool log_target) {
            return nn::kl_div(x, target, reduction, log_target);
        },
        located);
    module.def(
        "gaussian_nll_loss",
        [](const Tensor& x, const Tensor& target, const Tensor& var, bool full, double eps,
           Text reduction) { return nn::gaussian_nll_loss(x, target, var, full, eps, reduction); },
        located);
    module.def(
        "poisson_nll_loss",
        [](const Tensor& x, const Tensor& target, bool log_input, bool full, double eps,
           Text reduction) {
            return nn::poisson_nll_loss(x, target, log_input, full, eps, reduction);
        },
        located);
}

}  // namespace

void bind_nn_losses(nb::module_& module) {
    bind_of_classes(module);
    bind_of_pairs(module);
    bind_of_probabilities(module);
}

}  // namespace composit::python
