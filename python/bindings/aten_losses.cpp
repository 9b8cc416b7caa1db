// Losses of composit/aten/losses.h.
#include "aten.h"
#include "casters.h"
#include "composit/aten/losses.h"
#include "flags.h"
#include "location.h"

namespace composit::python {
namespace {

using Maybe = const MaybeOperand&;
using aten::Reduction;

// A loss as its operands lie in memory, where there is one for each element.
nb::object laid(const Tensor& loss, int64_t reduction, nb::handle x, nb::handle target) {
    PyObject* const operands[] = {x.ptr(), target.ptr()};
    return reduction == 0 ? wrap_elementwise(loss, operands, 2) : wrap(loss);
}

Reduction as_reduction(int64_t number) { return static_cast<Reduction>(number); }

void bind_of_classes(nb::module_& module) {
    const nb::call_guard<Located> located;
    module.def(
        "reduction_from",
        [](const std::string& word, std::optional<bool> size_average, std::optional<bool> reduce) {
            return static_cast<int64_t>(aten::reduction_from(word, size_average, reduce));
        },
        nb::arg(), nb::arg("size_average") = nb::none(), nb::arg("reduce") = nb::none(), located);
    const auto of_classes = [&](const char* name, auto function) {
        module.def(
            name,
            [function](const Tensor& x, const Tensor& target, Maybe weight, int64_t reduction,
                       int64_t ignore_index, double label_smoothing) {
                return function(x, target,
                                {weight, as_reduction(reduction), ignore_index, label_smoothing});
            },
            nb::arg(), nb::arg("target"), nb::arg("weight") = nb::none(), nb::arg("reduction") = 1,
            nb::arg("ignore_index") = -100, nb::arg("label_smoothing") = 0.0, located);
    };
    of_classes("nll_loss", aten::nll_loss);
    of_classes("cross_entropy_loss", aten::cross_entropy_loss);
    module.def(
        "multi_margin_loss",
        [](const Tensor& x, const Tensor& target, int64_t p, double margin, Maybe weight,
           int64_t reduction) {
            return aten::multi_margin_loss(x, target, p, margin, weight, as_reduction(reduction));
        },
        nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg().none(), nb::arg(), located);
    module.def(
        "multilabel_margin_loss",
        [](const Tensor& x, const Tensor& target, int64_t reduction) {
            return aten::multilabel_margin_loss(x, target, as_reduction(reduction));
        },
        located);
    module.def(
        "ctc_loss",
        [](const Tensor& x, const Tensor& targets, const Tensor& input_lengths,
           const Tensor& target_lengths, int64_t blank, int64_t reduction, bool zero_infinity) {
            return aten::ctc_loss(x, targets, input_lengths, target_lengths,
                                  {blank, as_reduction(reduction), zero_infinity});
        },
        located);
}

void bind_of_pairs(nb::module_& module) {
    const nb::call_guard<Located> located;
    const auto plain = [&](const char* name, auto function) {
        module.def(
            name,
            [function](nb::handle x, nb::handle target, int64_t reduction) {
                return laid(function(tensor_from(x), tensor_from(target), as_reduction(reduction)),
                            reduction, x, target);
            },
            nb::arg(), nb::arg("target"), nb::arg("reduction") = 1, located);
    };
    plain("mse_loss", aten::mse_loss);
    plain("l1_loss", aten::l1_loss);
    plain("soft_margin_loss", aten::soft_margin_loss);
    const auto with_number = [&](const char* name, const char* what, double number, auto function) {
        module.def(
            name,
            [function](nb::handle x, nb::handle target, int64_t reduction, double given) {
                return laid(
                    function(tensor_from(x), tensor_from(target), as_reduction(reduction), given),
                    reduction, x, target);
            },
            nb::arg(), nb::arg("target"), nb::arg("reduction") = 1, nb::arg(what) = number,
            located);
    };
    with_number("smooth_l1_loss", "beta", 1.0, aten::smooth_l1_loss);
    with_number("huber_loss", "delta", 1.0, aten::huber_loss);
    module.def(
        "hinge_embedding_loss",
        [](nb::handle x, nb::handle target, double margin, int64_t reduction) {
            return laid(aten::hinge_embedding_loss(tensor_from(x), tensor_from(target), margin,
                                                   as_reduction(reduction)),
                        reduction, x, target);
        },
        nb::arg(), nb::arg("target"), nb::arg("margin") = 1.0, nb::arg("reduction") = 1, located);
    module.def(
        "margin_ranking_loss",
        [](nb::handle x1, nb::handle x2, const Tensor& target, double margin, int64_t reduction) {
            return laid(aten::margin_ranking_loss(tensor_from(x1), tensor_from(x2), target, margin,
                                                  as_reduction(reduction)),
                        reduction, x1, x2);
        },
        nb::arg(), nb::arg("input2"), nb::arg("target"), nb::arg("margin") = 0.0,
        nb::arg("reduction") = 1, located);
    module.def(
        "cosine_embedding_loss",
        [](nb::handle x1, nb::handle x2, const Tensor& target, double margin, int64_t reduction) {
            return laid(aten::cosine_embedding_loss(tensor_from(x1), tensor_from(x2), target,
                                                    margin, as_reduction(reduction)),
                        reduction, x1, x2);
        },
        nb::arg(), nb::arg("input2"), nb::arg("target"), nb::arg("margin") = 0.0,
        nb::arg("reduction") = 1, located);
    module.def(
        "triplet_margin_loss",
        [](const Tensor& anchor, const Tensor& positive, const Tensor& negative, double margin,
           double p, double eps, TruthFlag swap, int64_t reduction) {
            return aten::triplet_margin_loss(anchor, positive, negative,
                                             {margin, p, eps, swap, as_reduction(reduction)});
        },
        located);
    module.def(
        "multilabel_soft_margin_loss",
        [](const Tensor& x, const Tensor& target, Maybe weight, int64_t reduction) {
            return aten::multilabel_soft_margin_loss(x, target, weight, as_reduction(reduction));
        },
        nb::arg(), nb::arg(), nb::arg().none(), nb::arg(), located);
    module.def(
        "weighted_loss",
        [](const Tensor& losses, const Tensor& weight, int64_t reduction, TruthFlag by_count) {
            return aten::weighted_loss(losses, weight, as_reduction(reduction), by_count);
        },
        located);
    module.def(
        "cosine_similarity",
        [](const Tensor& x1, const Tensor& x2, int64_t dim, double eps) {
            return aten::cosine_similarity(x1, x2, dim, eps);
        },
        nb::arg(), nb::arg("x2"), nb::arg("dim") = 1, nb::arg("eps") = 1e-8, located);
}

void bind_of_probabilities(nb::module_& module) {
    const nb::call_guard<Located> located;
    module.def(
        "binary_cross_entropy",
        [](nb::handle x, nb::handle target, Maybe weight, int64_t reduction) {
            return laid(aten::binary_cross_entropy(tensor_from(x), tensor_from(target), weight,
                                                   as_reduction(reduction)),
                        reduction, x, target);
        },
        nb::arg(), nb::arg("target"), nb::arg("weight") = nb::none(), nb::arg("reduction") = 1,
        located);
    module.def(
        "binary_cross_entropy_with_logits",
        [](nb::handle x, nb::handle target, Maybe weight, Maybe pos_weight, int64_t reduction) {
            return laid(
                aten::binary_cross_entropy_with_logits(tensor_from(x), tensor_from(target), weight,
                                                       pos_weight, as_reduction(reduction)),
                reduction, x, target);
        },
        nb::arg(), nb::arg("target"), nb::arg("weight") = nb::none(),
        nb::arg("pos_weight") = nb::none(), nb::arg("reduction") = 1, located);
    module.def(
        "kl_div",
        [](nb::handle x, nb::handle target, int64_t reduction, bool log_target) {
            return laid(aten::kl_div(tensor_from(x), tensor_from(target), as_reduction(reduction),
                                     log_target),
                        reduction, x, target);
        },
        nb::arg(), nb::arg("target"), nb::arg("reduction") = 1, nb::arg("log_target") = false,
        located);
    module.def(
        "poisson_nll_loss",
        [](nb::handle x, nb::handle target, bool log_input, bool full, double eps,
           int64_t reduction) {
            return laid(aten::poisson_nll_loss(tensor_from(x), tensor_from(target), log_input, full,
                                               eps, as_reduction(reduction)),
                        reduction, x, target);
        },
        nb::arg(), nb::arg("target"), nb::arg("log_input"), nb::arg("full"), nb::arg("eps"),
        nb::arg("reduction"), located);
}

}  // namespace

void bind_aten_losses(nb::module_& module) {
    bind_of_classes(module);
    bind_of_pairs(module);
    bind_of_probabilities(module);
}

}  // namespace composit::python
