"""Losses as modules."""

from __future__ import annotations

from typing import Any
from warnings import warn

import composit._core as _core
from composit.torch import calling
from composit.torch.nn import checked_values, losses
from composit.torch.nn.module import Module
from composit.torch.nn.modules.of_function import module_of

assert checked_values and losses  # they fill the table that is read here
_old = "size_average=None, reduce=None, reduction=mean"

MSELoss = module_of("MSELoss", "mse_loss", _old)
L1Loss = module_of("L1Loss", "l1_loss", _old)
SmoothL1Loss = module_of("SmoothL1Loss", "smooth_l1_loss", f"{_old}, beta=1.0")
HuberLoss = module_of("HuberLoss", "huber_loss", "reduction=mean, delta=1.0")
SoftMarginLoss = module_of("SoftMarginLoss", "soft_margin_loss", _old)
HingeEmbeddingLoss = module_of("HingeEmbeddingLoss", "hinge_embedding_loss", f"margin=1.0, {_old}")
MarginRankingLoss = module_of("MarginRankingLoss", "margin_ranking_loss", f"margin=0.0, {_old}")
CosineEmbeddingLoss = module_of(
    "CosineEmbeddingLoss", "cosine_embedding_loss", f"margin=0.0, {_old}"
)
KLDivLoss = module_of("KLDivLoss", "kl_div", f"{_old}, log_target=False")
PoissonNLLLoss = module_of(
    "PoissonNLLLoss", "poisson_nll_loss",
    "log_input=True, full=False, size_average=None, eps=1e-8, reduce=None, reduction=mean",
)  # fmt: skip
GaussianNLLLoss = module_of(
    "GaussianNLLLoss", "gaussian_nll_loss", "full=False, eps=1e-6, reduction=mean"
)
TripletMarginLoss = module_of(
    "TripletMarginLoss", "triplet_margin_loss",
    f"margin=1.0, p=2.0, eps=1e-6, swap=False, {_old}",
)  # fmt: skip
MultiLabelMarginLoss = module_of(
    "MultiLabelMarginLoss", "multilabel_margin_loss", _old,
    doc="How far classes that are no labels are above those that are, less 1.",
)  # fmt: skip
CTCLoss = module_of(
    "CTCLoss",
    "ctc_loss",
    "blank=0, reduction=mean, zero_infinity=False",
    doc="-log of the probability of the targets, over all ways to align them.",
)


class _Loss(Module):
    """A base for losses of users'."""

    def __init__(
        self, size_average: Any = None, reduce: Any = None, reduction: str = "mean"
    ) -> None:
        super().__init__()
        if size_average is not None or reduce is not None:
            number = _core.aten.reduction_from("mean", size_average, reduce)
            reduction = ("none", "mean", "sum")[number]
        self.reduction = reduction


class _WeightedLoss(_Loss):
    """A base for losses of users' with weights of classes."""

    def __init__(
        self, weight: Any = None, size_average: Any = None, reduce: Any = None,
        reduction: str = "mean",
    ) -> None:  # fmt: skip
        super().__init__(size_average, reduce, reduction)
        self.register_buffer("weight", weight)


# ----- losses with weights that are part of their state


def _hold(loss: Any, weights: dict[str, Any], options: dict[str, Any]) -> None:
    Module.__init__(loss)
    for name, tensor in weights.items():
        loss.register_buffer(name, tensor)
    loss.__dict__.update(options, _options=tuple(options), _weights=tuple(weights))


def _weighted(self: Any, input: Any, target: Any) -> Any:
    """The loss."""
    options = _core.modules.options_of(self, self._options)
    options.update(zip(self._weights, _core.modules.tensors_of(self, self._weights)))
    return calling.neural[self._function](input, target, **options)


class CrossEntropyLoss(Module):
    """-log_softmax(input)[target]"""

    _function = "cross_entropy"
    forward = _weighted

    def __init__(
        self, weight: Any = None, size_average: Any = None, ignore_index: int = -100,
        reduce: Any = None, reduction: str = "mean", label_smoothing: float = 0.0,
    ) -> None:  # fmt: skip
        _hold(self, {"weight": weight}, {
            "size_average": size_average, "ignore_index": ignore_index, "reduce": reduce,
            "reduction": reduction, "label_smoothing": label_smoothing,
        })  # fmt: skip


class NLLLoss(Module):
    """-input[target]"""

    _function = "nll_loss"
    forward = _weighted

    def __init__(
        self, weight: Any = None, size_average: Any = None, ignore_index: int = -100,
        reduce: Any = None, reduction: str = "mean",
    ) -> None:  # fmt: skip
        _hold(self, {"weight": weight}, {
            "size_average": size_average, "ignore_index": ignore_index, "reduce": reduce,
            "reduction": reduction,
        })  # fmt: skip


class NLLLoss2d(NLLLoss):
    """NLLLoss, whose old name for images this is. Deprecated in PyTorch."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        warn(
            "`NLLLoss2d` has been deprecated. Please use `NLLLoss` instead as a drop-in "
            "replacement and see https://pytorch.org/docs/main/nn.html#torch.nn.NLLLoss for more "
            "details.",
            FutureWarning, stacklevel=2,
        )  # fmt: skip
        super().__init__(*args, **kwargs)


class BCELoss(Module):
    """The cross entropy of probabilities."""

    _function = "binary_cross_entropy"
    forward = _weighted

    def __init__(
        self, weight: Any = None, size_average: Any = None, reduce: Any = None,
        reduction: str = "mean",
    ) -> None:  # fmt: skip
        _hold(self, {"weight": weight}, {
            "size_average": size_average, "reduce": reduce, "reduction": reduction,
        })  # fmt: skip


class BCEWithLogitsLoss(Module):
    """The cross entropy of sigmoid(input)."""

    _function = "binary_cross_entropy_with_logits"
    forward = _weighted

    def __init__(
        self, weight: Any = None, size_average: Any = None, reduce: Any = None,
        reduction: str = "mean", pos_weight: Any = None,
    ) -> None:  # fmt: skip
        _hold(self, {"weight": weight, "pos_weight": pos_weight}, {
            "size_average": size_average, "reduce": reduce, "reduction": reduction,
        })  # fmt: skip


class MultiLabelSoftMarginLoss(Module):
    """The cross entropy of each label, their mean."""

    _function = "multilabel_soft_margin_loss"
    forward = _weighted

    def __init__(
        self, weight: Any = None, size_average: Any = None, reduce: Any = None,
        reduction: str = "mean",
    ) -> None:  # fmt: skip
        _hold(self, {"weight": weight}, {
            "size_average": size_average, "reduce": reduce, "reduction": reduction,
        })  # fmt: skip


class MultiMarginLoss(Module):
    """How far other classes are above the target's less a margin."""

    def __init__(
        self, p: int = 1, margin: float = 1.0, weight: Any = None, size_average: Any = None,
        reduce: Any = None, reduction: str = "mean",
    ) -> None:  # fmt: skip
        super().__init__()
        self.register_buffer("weight", weight)
        self.p, self.margin, self.reduction = p, margin, reduction

    def forward(self, input: Any, target: Any) -> Any:
        """The loss."""
        return calling.neural["multi_margin_loss"](
            input, target, self.p, self.margin, self.weight, reduction=self.reduction
        )


class TripletMarginWithDistanceLoss(Module):
    """How much nearer than the positive, less a margin, the negative is to the anchor."""

    def __init__(
        self, *, distance_function: Any = None, margin: float = 1.0, swap: bool = False,
        reduction: str = "mean",
    ) -> None:  # fmt: skip
        super().__init__()
        self.distance_function, self.margin = distance_function, margin
        self.swap, self.reduction = swap, reduction

    def forward(self, anchor: Any, positive: Any, negative: Any) -> Any:
        """The loss."""
        return calling.neural["triplet_margin_with_distance_loss"](
            anchor, positive, negative, distance_function=self.distance_function,
            margin=self.margin, swap=self.swap, reduction=self.reduction,
        )  # fmt: skip


__all__ = [
    "BCELoss", "BCEWithLogitsLoss", "CTCLoss", "CosineEmbeddingLoss", "CrossEntropyLoss",
    "GaussianNLLLoss", "HingeEmbeddingLoss", "HuberLoss", "KLDivLoss", "L1Loss", "MSELoss",
    "MarginRankingLoss", "MultiLabelMarginLoss", "MultiLabelSoftMarginLoss", "MultiMarginLoss",
    "NLLLoss", "NLLLoss2d", "PoissonNLLLoss", "SmoothL1Loss", "SoftMarginLoss", "TripletMarginLoss",
    "TripletMarginWithDistanceLoss",
]  # fmt: skip
