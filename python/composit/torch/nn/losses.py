"""Losses of margins, of sequences (CTC), and of products (linear_cross_entropy)."""

from __future__ import annotations

import dataclasses
from typing import Any

import composit._core as _core
from composit._core import type_error
from composit.torch import calling, operations
from composit.torch.calling import torch_function

assert operations  # what the formulas are made of
_aten = _core.aten
_neural: dict[str, Any] = {"is_function": False, "is_method": False, "is_neural": True}


@torch_function("multi_margin_loss", **_neural)
def _multi_margin_loss(
    input: Any, target: Any, p: int = 1, margin: float = 1.0, weight: Any = None,
    size_average: Any = None, reduce: Any = None, reduction: str = "mean",
) -> Any:  # fmt: skip
    """How far other classes are above the target's less a margin."""
    number = _aten.reduction_from(reduction, size_average, reduce)
    return _aten.multi_margin_loss(input, target, int(p), margin, weight, number)


@torch_function("multilabel_margin_loss", **_neural)
def _multilabel_margin_loss(
    input: Any, target: Any, size_average: Any = None, reduce: Any = None, reduction: str = "mean"
) -> Any:
    """How far classes that are no labels are above those that are, less 1; labels end at -1."""
    number = _aten.reduction_from(reduction, size_average, reduce)
    return _aten.multilabel_margin_loss(input, target, number)


def triplet_margin_with_distance_loss(
    anchor: Any, positive: Any, negative: Any, *, distance_function: Any = None,
    margin: float = 1.0, swap: bool = False, reduction: str = "mean",
) -> Any:  # fmt: skip
    """How much nearer than the positive, less a margin, the negative is to the anchor."""
    return _aten.triplet_margin_with_distance_loss(
        anchor, positive, negative, distance_function or calling.neural["pairwise_distance"],
        margin, swap, reduction,
    )  # fmt: skip


calling.neural["triplet_margin_with_distance_loss"] = triplet_margin_with_distance_loss


@dataclasses.dataclass(slots=True, frozen=True)
class LinearCrossEntropyOptions:
    """How PyTorch cuts the product of linear_cross_entropy into pieces: that many rows at once, or
    a number by a method ("auto", "aspect_ratio", "aspect_ratio:N"), and what it computes in which
    dtype. Here the options change no value: the product is planned. ValueError for others."""

    allow_retain_graph: bool = False
    batch_chunk_size: int | None = None
    chunking_method: str | None = "auto"
    acc_policy: str = "auto"
    acc_dtype: Any = None

    def __post_init__(self) -> None:
        _aten.check_product_loss(
            self.batch_chunk_size, self.chunking_method, str(self.acc_policy), self.acc_dtype
        )


def linear_cross_entropy(
    input: Any, linear_weight: Any, target: Any, *, linear_bias: Any = None, weight: Any = None,
    reduction: str = "mean", ignore_index: int | None = None, label_smoothing: float = 0.0,
    options: Any = None,
) -> Any:  # fmt: skip
    """cross_entropy of input @ linear_weight^T + linear_bias; weights are (classes, …, in), where
    dimensions between are the loss's own. `options`, LinearCrossEntropyOptions, change no
    value."""
    if options is not None and not isinstance(options, LinearCrossEntropyOptions):
        raise type_error(
            f"linear_cross_entropy: options are {options!r}. LinearCrossEntropyOptions, or None, "
            "are required."
        )
    return _aten.linear_cross_entropy(
        input, linear_weight, target, linear_bias, weight, reduction, ignore_index,
        label_smoothing,
    )  # fmt: skip


calling.neural["linear_cross_entropy"] = linear_cross_entropy


@torch_function("ctc_loss", **_neural)
def _ctc_loss(
    log_probs: Any, targets: Any, input_lengths: Any, target_lengths: Any, blank: int = 0,
    reduction: str = "mean", zero_infinity: bool = False,
) -> Any:  # fmt: skip
    """-log of the probability of the targets, over all ways to align them."""
    number = _aten.reduction_from(reduction)
    return _aten.ctc_loss(
        log_probs, targets, input_lengths, target_lengths, blank, number, zero_infinity
    )
