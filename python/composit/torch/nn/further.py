"""Functions of networks that are asked for less often: unpooling, responses, margins, bags."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from composit import numpy as cnp
from composit._core import with_location
from composit._floating_point import in_default_state
from composit.torch import calling, writing
from composit.torch.calling import torch_function
from composit.torch.nn import functional, pools_and_losses

assert functional and pools_and_losses  # they fill the table that is read here
_neural: dict[str, Any] = {"is_function": False, "is_method": False, "is_neural": True}


def _reduced(losses: Any, reduction: str) -> Any:
    if reduction not in ("none", "mean", "sum"):
        raise ValueError(f"{reduction} is not a valid value for reduction")
    if reduction == "none":
        return losses
    return losses.mean() if reduction == "mean" else losses.sum()


def _each(value: Any, count: int) -> tuple[int, ...]:
    return (value,) * count if isinstance(value, int) else tuple(value)


def _max_unpool(count: int) -> None:
    @torch_function(f"max_unpool{count}d", **_neural)
    def _(
        input: Any, indices: Any, kernel_size: Any, stride: Any = None, padding: Any = 0,
        output_size: Any = None,
    ) -> Any:  # fmt: skip
        """Elements back where max_pool's indices say, zeros elsewhere."""
        kernel = _each(kernel_size, count)
        steps = kernel if not stride and stride != 0 else _each(stride, count)
        pads = _each(padding, count)
        lengths = input.shape[-count:]
        size = tuple((n - 1) * s - 2 * p + k for n, s, p, k in zip(lengths, steps, pads, kernel))
        if output_size is not None:
            size = tuple(output_size)[-count:]
        before = tuple(input.shape[:-count])
        rows = math.prod(before)
        total = cnp.zeros((rows, math.prod(size)), input.dtype)
        places = cnp.reshape(indices, (rows, -1))
        total[np.arange(rows)[:, None], places] = cnp.reshape(input, (rows, -1))
        return cnp.reshape(total, (*before, *size))

    def with_indices(*args: Any, **kwargs: Any) -> Any:
        return calling.neural[f"max_pool{count}d"](*args, **{**kwargs, "return_indices": True})

    with_indices.__doc__ = "The largest element of each window, and where it is."
    with_indices.__name__ = f"max_pool{count}d_with_indices"
    calling.neural[with_indices.__name__] = with_indices


for _count in (1, 2, 3):
    _max_unpool(_count)


@torch_function("local_response_norm", **_neural)
def _local_response_norm(
    input: Any, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0
) -> Any:
    """Divided by a power of the mean square of neighbouring channels."""
    square = cnp.moveaxis(input * input, 1, -1)
    width = [(0, 0)] * (input.ndim - 1) + [(size // 2, (size - 1) // 2)]
    sums = cnp.cumsum(cnp.pad(cnp.pad(square, width), [(0, 0)] * (input.ndim - 1) + [(1, 0)]),
                      axis=-1)  # fmt: skip
    mean = (sums[..., size:] - sums[..., :-size]) / size
    return input / cnp.power(cnp.moveaxis(mean, -1, 1) * alpha + k, beta)


@torch_function("multi_margin_loss", **_neural)
def _multi_margin_loss(
    input: Any, target: Any, p: int = 1, margin: float = 1.0, weight: Any = None,
    size_average: Any = None, reduce: Any = None, reduction: str = "mean",
) -> Any:  # fmt: skip
    """How far other classes are above the target's less a margin."""
    x = input if input.ndim == 2 else input[None]
    classes = cnp.reshape(target, (-1,))
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


def upsample_nearest(input: Any, size: Any = None, scale_factor: Any = None) -> Any:
    """interpolate, by the nearest element."""
    return calling.neural["interpolate"](input, size, scale_factor, "nearest")


def upsample_bilinear(input: Any, size: Any = None, scale_factor: Any = None) -> Any:
    """interpolate, bilinearly with corners aligned."""
    return calling.neural["interpolate"](input, size, scale_factor, "bilinear", True)


calling.neural.update(upsample_nearest=upsample_nearest, upsample_bilinear=upsample_bilinear)


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

# What SELU tends to where it is given little, and so what alpha dropout puts in place of elements.
_SATURATED = -1.7580993408473766


def _alpha_dropout(name: str, is_of_features: bool) -> None:
    @in_default_state
    def function(input: Any, p: float = 0.5, training: bool = False, inplace: bool = False) -> Any:
        if not 0 <= p <= 1:
            raise ValueError(
                with_location(f"dropout probability has to be between 0 and 1, but got {p}")
            )
        if not training or p == 0:
            return input
        shape = (*input.shape[:2], *[1] * (input.dim() - 2)) if is_of_features else input.shape
        kept = calling.functions["rand"](*shape, dtype=input.dtype) >= p
        if p == 1:
            made = input * 0
        else:
            scale = 1 / math.sqrt((1 - p) * (1 + p * _SATURATED**2))
            made = calling.functions["where"](kept, input, _SATURATED) * scale
            made = made - scale * p * _SATURATED
        return writing.write(input, made, name) if inplace else made

    function.__name__ = function.__qualname__ = name
    function.__doc__ = "Dropout that keeps mean and variance of what SELU gives."
    calling.neural[name] = calling.functions[name] = function


_alpha_dropout("alpha_dropout", False)
_alpha_dropout("feature_alpha_dropout", True)


@torch_function("affine_grid", **_neural)
@in_default_state
def _affine_grid(theta: Any, size: Any, align_corners: bool | None = None) -> Any:
    """Where grid_sample looks for an affine map: (batch, height, width, 2), or with depth 3."""
    lines = []
    for n in tuple(size)[2:]:
        line = np.linspace(-1, 1, n) if n > 1 else np.zeros(1)
        lines.append(line if align_corners else line * (n - 1) / n)
    grids = np.meshgrid(*lines, indexing="ij")
    places = np.stack([*reversed(grids), np.ones_like(grids[0])], axis=-1)
    flat = cnp.asarray(places.reshape(-1, places.shape[-1]).astype(np.dtype(theta.dtype)))
    found = cnp.matmul(flat, cnp.swapaxes(theta, 1, 2))
    return cnp.reshape(found, (theta.shape[0], *places.shape[:-1], places.shape[-1] - 1))


@torch_function("embedding_bag", **_neural)
def _embedding_bag(
    input: Any, weight: Any, offsets: Any = None, max_norm: float | None = None,
    norm_type: float = 2, scale_grad_by_freq: bool = False, mode: str = "mean",
    sparse: bool = False, per_sample_weights: Any = None, include_last_offset: bool = False,
    padding_idx: int | None = None,
) -> Any:  # fmt: skip
    """Sums, means or largest elements of rows of weight, by bags."""
    if max_norm is not None or scale_grad_by_freq or sparse:
        raise NotImplementedError(
            with_location("embedding_bag: max_norm, scale_grad_by_freq and sparse are not built.")
        )
    if mode not in ("sum", "mean", "max"):
        raise ValueError("mode has to be one of sum, mean or max")
    if input.ndim == 2:
        bags, line = input.shape[0], cnp.reshape(input, (-1,))
        starts: Any = np.arange(bags) * input.shape[1]
    else:
        bags = offsets.shape[0] - bool(include_last_offset)
        starts, line = offsets[:bags], input
    place = np.arange(line.shape[0])
    bag = cnp.sum(cnp.astype(place[:, None] >= cnp.reshape(starts, (1, -1)), "int64"), axis=1) - 1
    member = cnp.equal(np.arange(bags)[:, None], bag[None, :])
    if padding_idx is not None:
        member = member & ~cnp.equal(line, padding_idx % weight.shape[0])[None, :]
    rows = cnp.take(weight, line, axis=0)
    if mode == "max":
        low = cnp.where(member[:, :, None], rows[None], cnp.full((), -np.inf, rows.dtype))
        found = cnp.max(low, axis=1)
        is_empty = ~cnp.any(member, axis=1)
        return cnp.where(is_empty[:, None], cnp.zeros((), rows.dtype), found)
    if per_sample_weights is not None:
        rows = rows * cnp.reshape(per_sample_weights, (-1, 1))
    shares = cnp.astype(member, rows.dtype)
    total = cnp.matmul(shares, rows)
    if mode == "sum":
        return total
    return total / cnp.maximum(cnp.sum(shares, axis=1, keepdims=True), 1)


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
