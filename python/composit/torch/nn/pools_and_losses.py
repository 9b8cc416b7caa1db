"""Functional pools and losses, over Tensors."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np

import composit._core as _core
from composit import nn
from composit._core import PyTorchValueError
from composit.flashlight.operators.table import function_of
from composit.torch import calling
from composit.torch.calling import define, torch_function

_neural: dict[str, Any] = {"is_function": False, "is_method": False, "is_neural": True}

for _count in (1, 2, 3):
    define(function_of(f"avg_pool{_count}d"), f"avg_pool{_count}d", **_neural)
    define(function_of(f"adaptive_avg_pool{_count}d"), f"adaptive_avg_pool{_count}d", **_neural)


def _max_pool(count: int) -> None:
    def function(
        input: Any, kernel_size: Any, stride: Any = None, padding: Any = 0, dilation: Any = 1,
        ceil_mode: bool = False, return_indices: bool = False,
    ) -> Any:  # fmt: skip
        ending = "_with_indices" if return_indices else ""
        row = function_of(f"max_pool{count}d{ending}")
        return row(input, kernel_size, stride or (), padding, dilation, ceil_mode)

    define(function, f"max_pool{count}d", doc="The largest element of each window.", **_neural)

    def adaptive(input: Any, output_size: Any, return_indices: bool = False) -> Any:
        found = function_of(f"adaptive_max_pool{count}d")(input, output_size)
        return tuple(found) if return_indices else found[0]

    define(adaptive, f"adaptive_max_pool{count}d",
           doc="The largest element of as many windows as are wanted.", **_neural)  # fmt: skip


for _count in (1, 2, 3):
    _max_pool(_count)


def _lp_pool(count: int) -> None:
    def function(
        input: Any, norm_type: float, kernel_size: Any, stride: Any = None, ceil_mode: bool = False
    ) -> Any:
        return _core.aten.lp_pool(input, count, norm_type, kernel_size, stride or (), ceil_mode)

    define(function, f"lp_pool{count}d", doc="The p-norm of each window.", **_neural)


_lp_pool(1)
_lp_pool(2)
_lp_pool(3)

# ----- losses


def _number(reduction: str, size_average: bool | None = None, reduce: bool | None = None) -> int:
    return _core.aten.reduction_from(reduction, size_average, reduce)


def _check_sizes(name: str, input: Any, target: Any) -> None:
    if tuple(input.shape) != tuple(target.shape):
        raise PyTorchValueError(
            f"{name}: target size {tuple(target.shape)} must be the same as the input size "
            f"{tuple(input.shape)}"
        )


_OLD: dict[str, Any] = {"size_average": None, "reduce": None, "reduction": "mean"}


def _simple(name: str, row: str, order: dict[str, Any], doc: str) -> None:
    """A loss of an input and a target, with options and a reduction in PyTorch's order."""
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    described = inspect.Signature([
        *(inspect.Parameter(each, kind) for each in ("input", "target")),
        *(inspect.Parameter(each, kind, default=value) for each, value in order.items()),
    ])  # fmt: skip

    def function(*args: Any, **kwargs: Any) -> Any:
        try:
            bound = described.bind(*args, **kwargs)
        except TypeError as error:
            raise TypeError(f"{name}(): {error}") from None
        bound.apply_defaults()
        given = dict(bound.arguments)
        input, target, weight = given.pop("input"), given.pop("target"), given.pop("weight", None)
        old = given.pop("size_average", None), given.pop("reduce", None)
        number = _number(given.pop("reduction"), *old)
        if weight is None:
            return function_of(row)(input, target, reduction=number, **given)
        losses = function_of(row)(input, target, reduction=0, **given)
        return _core.aten.weighted_loss(losses, weight, number, name == "huber_loss")

    function.__signature__ = described  # type: ignore[attr-defined]
    define(function, name, doc=doc, **_neural)


_simple("mse_loss", "mse_loss", {**_OLD, "weight": None}, "(input - target)²")
_simple("l1_loss", "l1_loss", {**_OLD, "weight": None}, "|input - target|")
_simple("huber_loss", "huber_loss", {"reduction": "mean", "delta": 1.0, "weight": None},
        "Squares near 0, lines from delta on.")  # fmt: skip
_simple("smooth_l1_loss", "smooth_l1_loss", {**_OLD, "beta": 1.0},
        "Squares near 0, lines from beta on.")  # fmt: skip
_simple("soft_margin_loss", "soft_margin_loss", _OLD, "log(1 + exp(-target * input))")
_simple("hinge_embedding_loss", "hinge_embedding_loss", {"margin": 1.0, **_OLD},
        "input, or max(0, margin - input).")  # fmt: skip


@torch_function("cross_entropy", **_neural)
def _cross_entropy(
    input: Any, target: Any, weight: Any = None, size_average: Any = None,
    ignore_index: int = -100, reduce: Any = None, reduction: str = "mean",
    label_smoothing: float = 0.0,
) -> Any:  # fmt: skip
    """-log_softmax(input)[target], or of probabilities."""
    _check_batch(input, target)
    return function_of("cross_entropy_loss")(
        input, target, weight, _number(reduction, size_average, reduce), ignore_index,
        label_smoothing,
    )  # fmt: skip


def _check_batch(input: Any, target: Any) -> None:
    if input.ndim == target.ndim + 1 and input.ndim > 1 and input.shape[0] != target.shape[0]:
        raise PyTorchValueError(
            f"Expected input batch_size ({input.shape[0]}) to match target batch_size "
            f"({target.shape[0]})."
        )
    if input.shape != target.shape and target.dtype not in (np.dtype("int64"), np.dtype("uint8")):
        found = _core.scalar_type_name(target.dtype.name)
        raise ValueError(f"expected target dtype to be Long or Byte, but got {found}")


@torch_function("nll_loss", **_neural)
def _nll_loss(
    input: Any, target: Any, weight: Any = None, size_average: Any = None,
    ignore_index: int = -100, reduce: Any = None, reduction: str = "mean",
) -> Any:  # fmt: skip
    """-input[target], input being log-probabilities."""
    _check_batch(input, target)
    number = _number(reduction, size_average, reduce)
    return function_of("nll_loss")(input, target, weight, number, ignore_index)


@torch_function("binary_cross_entropy", **_neural)
def _binary_cross_entropy(
    input: Any, target: Any, weight: Any = None, size_average: Any = None, reduce: Any = None,
    reduction: str = "mean",
) -> Any:  # fmt: skip
    """The cross entropy of probabilities."""
    _check_sizes("binary_cross_entropy", input, target)
    number = _number(reduction, size_average, reduce)
    return function_of("binary_cross_entropy")(input, target, weight, number)


@torch_function("binary_cross_entropy_with_logits", **_neural)
def _with_logits(
    input: Any, target: Any, weight: Any = None, size_average: Any = None, reduce: Any = None,
    reduction: str = "mean", pos_weight: Any = None,
) -> Any:  # fmt: skip
    """The cross entropy of sigmoid(input)."""
    _check_sizes("binary_cross_entropy_with_logits", input, target)
    number = _number(reduction, size_average, reduce)
    row = function_of("binary_cross_entropy_with_logits")
    return row(input, target, weight, pos_weight, number)


@torch_function("kl_div", **_neural)
def _kl_div(
    input: Any, target: Any, size_average: Any = None, reduce: Any = None,
    reduction: str = "mean", log_target: bool = False,
) -> Any:  # fmt: skip
    """target * (log(target) - input)"""
    row = function_of("kl_div")
    if reduction == "batchmean":
        return row(input, target, 2, log_target=log_target) / input.shape[0]
    return row(input, target, _number(reduction, size_average, reduce), log_target=log_target)


@torch_function("poisson_nll_loss", **_neural)
def _poisson(
    input: Any, target: Any, log_input: bool = True, full: bool = False, size_average: Any = None,
    eps: float = 1e-8, reduce: Any = None, reduction: str = "mean",
) -> Any:  # fmt: skip
    """exp(input) - target * input"""
    number = _number(reduction, size_average, reduce)
    return function_of("poisson_nll_loss")(input, target, log_input, full, eps, number)


@torch_function("margin_ranking_loss", **_neural)
def _margin_ranking(
    input1: Any, input2: Any, target: Any, margin: float = 0, size_average: Any = None,
    reduce: Any = None, reduction: str = "mean",
) -> Any:  # fmt: skip
    """max(0, -target * (input1 - input2) + margin)"""
    number = _number(reduction, size_average, reduce)
    return function_of("margin_ranking_loss")(input1, input2, target, margin, number)


@torch_function("cosine_embedding_loss", **_neural)
def _cosine_embedding(
    input1: Any, input2: Any, target: Any, margin: float = 0, size_average: Any = None,
    reduce: Any = None, reduction: str = "mean",
) -> Any:  # fmt: skip
    """1 - cos where the target is 1, max(0, cos - margin) where it is -1, else 0."""
    number = _number(reduction, size_average, reduce)
    return _core.aten.cosine_embedding_loss(input1, input2, target, margin, number)


@torch_function("triplet_margin_loss", **_neural)
def _triplet(
    anchor: Any, positive: Any, negative: Any, margin: float = 1.0, p: float = 2,
    eps: float = 1e-6, swap: bool = False, size_average: Any = None, reduce: Any = None,
    reduction: str = "mean",
) -> Any:  # fmt: skip
    """max(0, |anchor - positive| - |anchor - negative| + margin)"""
    number = _number(reduction, size_average, reduce)
    return _core.aten.triplet_margin_loss(anchor, positive, negative, margin, p, eps, swap, number)


@torch_function("gaussian_nll_loss", **_neural)
def _gaussian(
    input: Any, target: Any, var: Any, full: bool = False, eps: float = 1e-6,
    reduction: str = "mean",
) -> Any:  # fmt: skip
    """(log(var) + (input - target)² / var) / 2"""
    if reduction not in ("none", "mean", "sum"):
        raise PyTorchValueError(f"{reduction} is not valid")
    return nn.gaussian_nll_loss(input, target, var, full, eps, reduction)


@torch_function("multilabel_soft_margin_loss", **_neural)
def _multilabel_soft_margin(
    input: Any, target: Any, weight: Any = None, size_average: Any = None, reduce: Any = None,
    reduction: str = "mean",
) -> Any:  # fmt: skip
    """The cross entropy of each label, their mean."""
    number = _number(reduction, size_average, reduce)
    return _core.aten.multilabel_soft_margin_loss(input, target, weight, number)


assert calling.neural
