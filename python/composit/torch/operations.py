"""The operations of which formulas of composit::aten are made: composit.torch's, so that each is
recorded."""

from __future__ import annotations

import operator
from collections import ChainMap
from collections.abc import Callable
from typing import Any

import composit._core as _core
from composit.torch import calling, dtypes

functions, neural = calling.functions, calling.neural

# Those whose names or arguments are not those of a function of torch's.
more: dict[str, Callable[..., Any]] = {
    "attended": lambda q, k, v, share, mask=None: neural["scaled_dot_product_attention"](
        q, k, v, mask, share
    ),
    "clamp_max": lambda x, most: functions["clamp"](x, max=most),
    "clamp_min": lambda x, least: functions["clamp"](x, min=least),
    "count_like": lambda x, count: functions["arange"](count, dtype=x.dtype, device=x.device),
    "cross_entropy_of_logits": lambda x, y: neural["binary_cross_entropy_with_logits"](
        x, y, reduction="none"
    ),
    "expand": lambda x, shape: x.expand(shape),
    "eye_like": lambda x, size: functions["eye"](size, dtype=x.dtype, device=x.device),
    "item": operator.getitem,
    "joined": lambda a, b, dim: functions["cat"]([a, b], dim),
    "padded": lambda x, widths, value: neural["pad"](x, list(widths), value=value),
    "largest": lambda x, dim: functions["max"](x, dim, True)[0],
    "long": lambda x: x.long(),
    "loss_of_classes": lambda x, target, ignored, number, smoothing, weight=None: neural[
        "cross_entropy"
    ](
        x,
        target,
        weight,
        ignore_index=ignored,
        reduction=("none", "mean", "sum")[number],
        label_smoothing=smoothing,
    ),
    "number_like": lambda value, like: (
        functions["tensor"](value, dtype=dtypes.default())
        if like is None
        else functions["tensor"](value, dtype=like.dtype, device=like.device)
    ),
    "paired": lambda a, b: functions["stack"]([a, b], -1),
    "positions": lambda x, count: functions["arange"](0, count, device=x.device),
    "precise": lambda x: x.double() if x.dtype.name == "float64" else x.float(),
    "repeat": lambda x, times: x.repeat(times),
    "stacked": lambda first, *others: functions["stack"](
        [first, *(x.to(first.device) for x in others)]
    ),
    "type_as": lambda x, other: x.type_as(other),
    "zeros_for": lambda x, like: functions["zeros"](*x.shape, dtype=like.dtype, device=x.device),
    "zeros_shaped": lambda x, shape: x.new_zeros(shape),
}
_core.provide("torch_operations", ChainMap(more, neural, functions))
