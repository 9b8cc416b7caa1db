"""torch's normalisations, by composit::aten's. Those of training give the running statistics
anew."""

from __future__ import annotations

from typing import Any

import composit._core as _core
from composit.flashlight.operators.table import Written, operator

_aten = _core.aten


@operator("layer_norm")
def _layer_norm(input, normalized_shape, weight=None, bias=None, eps=1e-05, cudnn_enable=True):
    return _aten.layer_norm(input, len(normalized_shape), weight, bias, eps)


@operator("rms_norm")
def _rms_norm(input, normalized_shape, weight=None, eps=None):
    return _aten.rms_norm(input, len(normalized_shape), weight, eps)


@operator("group_norm")
def _group_norm(input, num_groups, weight=None, bias=None, eps=1e-05, cudnn_enabled=True):
    return _aten.group_norm(input, num_groups, weight, bias, eps)


def _written(made: Any) -> Any:
    """The result, with new running statistics where there are such."""
    result, mean, variance = made
    return result if mean is None else Written(result, {3: mean, 4: variance})


@operator("batch_norm")
def _batch_norm(
    input, weight, bias, running_mean, running_var, training, momentum, eps, cudnn_enabled=True
):
    return _written(
        _aten.batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps)
    )


@operator("instance_norm")
def _instance_norm(
    input, weight, bias, running_mean, running_var, use_input_stats, momentum, eps,
    cudnn_enabled=True,
):  # fmt: skip
    return _written(
        _aten.instance_norm(
            input, weight, bias, running_mean, running_var, use_input_stats, momentum, eps
        )
    )
