"""torch's normalisations, by composit::aten's. Those of training give the running statistics
anew."""

from __future__ import annotations

import functools
from typing import Any

import composit._core as _core
from composit import numpy as cnp
from composit.flashlight.operators.promotion import is_narrow
from composit.flashlight.operators.table import Written, operator

_aten = _core.aten


def _weighted_in_float32(function: Any) -> Any:
    """Of an input of 16 bits and parameters of float32 the function is computed in float32, and the
    result is rounded to the input's dtype."""

    @functools.wraps(function)
    def over(input: Any, *rest: Any, **options: Any) -> Any:
        others = [x.dtype for x in (*rest, *options.values()) if hasattr(x, "dtype")]
        if not is_narrow(input.dtype) or "float32" not in others:
            return function(input, *rest, **options)
        made = function(cnp.astype(input, "float32"), *rest, **options)
        if isinstance(made, Written):
            return Written(cnp.astype(made.result, input.dtype), made.writes)
        return cnp.astype(made, input.dtype)

    return over


@operator("layer_norm")
@_weighted_in_float32
def _layer_norm(input, normalized_shape, weight=None, bias=None, eps=1e-05, cudnn_enable=True):
    return _aten.layer_norm(input, len(normalized_shape), weight, bias, eps)


@operator("rms_norm")
def _rms_norm(input, normalized_shape, weight=None, eps=None):
    return _aten.rms_norm(input, len(normalized_shape), weight, eps)


@operator("group_norm")
@_weighted_in_float32
def _group_norm(input, num_groups, weight=None, bias=None, eps=1e-05, cudnn_enabled=True):
    return _aten.group_norm(input, num_groups, weight, bias, eps)


def _written(made: Any) -> Any:
    """The result, with new running statistics where there are such."""
    result, mean, variance = made
    return result if mean is None else Written(result, {3: mean, 4: variance})


@operator("batch_norm")
@_weighted_in_float32
def _batch_norm(
    input, weight, bias, running_mean, running_var, training, momentum, eps, cudnn_enabled=True
):
    return _written(
        _aten.batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps)
    )


@operator("instance_norm")
@_weighted_in_float32
def _instance_norm(
    input, weight, bias, running_mean, running_var, use_input_stats, momentum, eps,
    cudnn_enabled=True,
):  # fmt: skip
    return _written(
        _aten.instance_norm(
            input, weight, bias, running_mean, running_var, use_input_stats, momentum, eps
        )
    )
