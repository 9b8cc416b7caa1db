"""Losses of margins, of sequences (CTC), and of products (linear_cross_entropy)."""

from __future__ import annotations

from typing import Any

import numpy as np

from composit import numpy as cnp
from composit._core import with_location
from composit.torch import calling
from composit.torch.calling import torch_function
from composit.torch.functions.indexing import from_zero

_neural: dict[str, Any] = {"is_function": False, "is_method": False, "is_neural": True}


def _reduced(losses: Any, reduction: str) -> Any:
    if reduction not in ("none", "mean", "sum"):
        raise ValueError(f"{reduction} is not a valid value for reduction")
    if reduction == "none":
        return losses
    return losses.mean() if reduction == "mean" else losses.sum()


@torch_function("multi_margin_loss", **_neural)
def _multi_margin_loss(
    input: Any, target: Any, p: int = 1, margin: float = 1.0, weight: Any = None,
    size_average: Any = None, reduce: Any = None, reduction: str = "mean",
) -> Any:  # fmt: skip
    """How far other classes are above the target's less a margin."""
    x = input if input.ndim == 2 else input[None]
    classes = from_zero(cnp.reshape(target, (-1,)), x.shape[1])
    own = cnp.take_along_axis(x, classes[:, None], axis=1)
    parts = cnp.maximum(margin - own + x, 0) ** p
    if weight is not None:
        parts = parts * cnp.take(weight, classes)[:, None]
    is_own = cnp.equal(np.arange(x.shape[1]), classes[:, None])
    losses = cnp.sum(cnp.where(is_own, cnp.zeros((), x.dtype), parts), axis=1) / x.shape[1]
    return _reduced(losses if input.ndim == 2 else losses[0], reduction)


@torch_function("multilabel_margin_loss", **_neural)
def _multilabel_margin_loss(
    input: Any, target: Any, size_average: Any = None, reduce: Any = None, reduction: str = "mean"
) -> Any:
    """How far classes that are no labels are above those that are, less 1; labels end at -1."""
    x, labels = (input, target) if input.ndim == 2 else (input[None], target[None])
    count = x.shape[1]
    is_before = cnp.equal(cnp.cumsum(cnp.astype(labels < 0, "int64"), axis=1), 0)
    chosen = cnp.where(is_before, labels, -1)
    is_label = cnp.any(cnp.equal(chosen[:, :, None], np.arange(count)), axis=1)
    own = cnp.take_along_axis(x, cnp.maximum(chosen, 0), axis=1)
    parts = cnp.maximum(1 - own[:, :, None] + x[:, None, :], 0)
    is_counted = is_before[:, :, None] & ~is_label[:, None, :]
    losses = cnp.sum(cnp.where(is_counted, parts, cnp.zeros((), x.dtype)), axis=(1, 2)) / count
    return _reduced(losses if input.ndim == 2 else losses[0], reduction)


def triplet_margin_with_distance_loss(
    anchor: Any, positive: Any, negative: Any, *, distance_function: Any = None,
    margin: float = 1.0, swap: bool = False, reduction: str = "mean",
) -> Any:  # fmt: skip
    """How much nearer than the positive, less a margin, the negative is to the anchor."""
    distance = distance_function or calling.neural["pairwise_distance"]
    near, far = distance(anchor, positive), distance(anchor, negative)
    if swap:
        far = calling.functions["minimum"](far, distance(positive, negative))
    return _reduced((near - far + margin).clamp_min(0), reduction)


calling.neural["triplet_margin_with_distance_loss"] = triplet_margin_with_distance_loss


def linear_cross_entropy(
    input: Any, linear_weight: Any, target: Any, *, linear_bias: Any = None, weight: Any = None,
    reduction: str = "mean", ignore_index: int | None = None, label_smoothing: float = 0.0,
    options: Any = None,
) -> Any:  # fmt: skip
    """cross_entropy of input @ linear_weight^T + linear_bias; weights are (classes, …, in), where
    dimensions between are the loss's own. options, which say how PyTorch cuts the product into
    pieces, are refused."""
    if options is not None:
        raise NotImplementedError(
            with_location(
                "linear_cross_entropy: options are not built; composit plans the product."
            )
        )
    outer = tuple(linear_weight.shape[:-1])
    flat = linear_weight.reshape(-1, linear_weight.shape[-1])
    bias = None if linear_bias is None else linear_bias.reshape(-1)
    logits = calling.neural["linear"](input, flat, bias)
    logits = logits.reshape(*input.shape[:-1], *outer)
    return calling.neural["cross_entropy"](
        logits, target, weight, ignore_index=-100 if ignore_index is None else ignore_index,
        reduction=reduction, label_smoothing=label_smoothing,
    )  # fmt: skip


calling.neural["linear_cross_entropy"] = linear_cross_entropy


@torch_function("ctc_loss", **_neural)
def _ctc_loss(
    log_probs: Any, targets: Any, input_lengths: Any, target_lengths: Any, blank: int = 0,
    reduction: str = "mean", zero_infinity: bool = False,
) -> Any:  # fmt: skip
    """-log of the probability of the targets, over all ways to align them: by the forward
    recursion, step by step."""
    x = log_probs if log_probs.ndim == 3 else log_probs[:, None]
    times, batch, _ = x.shape
    inputs, lengths = (_numbers(n).reshape(-1) for n in (input_lengths, target_lengths))
    labels = _numbers(targets)
    if labels.ndim == 1:
        ends = np.cumsum(lengths)
        rows = [labels[end - n : end] for end, n in zip(ends, lengths)]
    else:
        rows = [row[:n] for row, n in zip(labels, lengths)]
    width = 2 * int(max(lengths, default=0)) + 1
    extended = np.full((batch, width), blank)
    for i, row in enumerate(rows):
        extended[i, 1 : 2 * len(row) : 2] = row
    may_skip = np.zeros((batch, width), bool)
    may_skip[:, 2:] = (extended[:, 2:] != blank) & (extended[:, 2:] != extended[:, :-2])
    # Low enough to be no way at all, and finite, so that gradients are.
    never = -1e30 if np.dtype(x.dtype).itemsize == 8 else -1e20
    emitted = cnp.take_along_axis(x, np.broadcast_to(extended, (times, batch, width)), axis=2)
    alpha = cnp.where(np.arange(width) < 2, emitted[0], cnp.full((), never, x.dtype))
    kept = []
    for t in range(times):
        if t:
            one = cnp.pad(alpha[:, :-1], ((0, 0), (1, 0)), constant_values=never)
            two = cnp.pad(alpha, ((0, 0), (2, 0)), constant_values=never)[:, :width]
            two = cnp.where(may_skip, two, cnp.full((), never, x.dtype))
            alpha = cnp.logaddexp(cnp.logaddexp(alpha, one), two) + emitted[t]
        kept.append(alpha)
    last = cnp.stack(kept)[inputs - 1, np.arange(batch)]
    final = cnp.take_along_axis(last, 2 * lengths[:, None], axis=1)[:, 0]
    before = cnp.take_along_axis(last, np.maximum(2 * lengths - 1, 0)[:, None], axis=1)[:, 0]
    before = cnp.where(lengths > 0, before, cnp.full((), never, x.dtype))
    losses = -cnp.logaddexp(final, before)
    impossible = losses > -never / 2
    ends_at = cnp.zeros((), x.dtype) if zero_infinity else cnp.full((), np.inf, x.dtype)
    losses = cnp.where(impossible, ends_at, losses)
    if reduction == "mean":
        return (losses / np.maximum(lengths, 1).astype(np.dtype(x.dtype))).mean()
    losses = losses if log_probs.ndim == 3 else losses[0]
    return _reduced(losses, reduction)


def _numbers(value: Any) -> Any:
    """Integers, which decide shapes, as an array."""
    return np.asarray(value.evaluated() if hasattr(value, "evaluated") else value)
