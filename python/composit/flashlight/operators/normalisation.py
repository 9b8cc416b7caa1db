"""torch's normalisations. Those of training give the running statistics anew."""

from __future__ import annotations

from typing import Any

import numpy as np

import composit._core as _core
from composit import nn
from composit import numpy as cnp
from composit.flashlight.operators.promotion import in_float32
from composit.flashlight.operators.table import Written, operator


def _normal(x: Any, axis: Any, epsilon: float, weight: Any, bias: Any) -> Any:
    """x normalised over the axes, times weight plus bias, where they are given."""
    if weight is not None and bias is not None:
        return nn.layer_norm(x, weight, bias, axis=axis, epsilon=epsilon)
    centred = x - cnp.mean(x, axis=axis, keepdims=True)
    variance = cnp.mean(centred * centred, axis=axis, keepdims=True)
    result = centred / cnp.sqrt(variance + epsilon)
    result = result if weight is None else result * weight
    return result if bias is None else result + bias


@operator("layer_norm")
def _layer_norm(input, normalized_shape, weight=None, bias=None, eps=1e-05, cudnn_enable=True):
    axis = tuple(range(-len(normalized_shape), 0))
    return _normal(input, axis if len(axis) > 1 else -1, eps, weight, bias)


@operator("rms_norm")
@in_float32
def _rms_norm(input, normalized_shape, weight=None, eps=None):
    axis = tuple(range(-len(normalized_shape), 0))
    eps = float(np.finfo(input.dtype).eps) if eps is None else eps
    size = cnp.mean(input * input, axis=axis, keepdims=True)
    result = input * cnp.reciprocal(cnp.sqrt(size + eps))
    return result if weight is None else result * weight


@operator("group_norm")
def _group_norm(input, num_groups, weight=None, bias=None, eps=1e-05, cudnn_enabled=True):
    ones = cnp.ones(input.shape[1], input.dtype)
    weight = ones if weight is None else weight
    bias = cnp.zeros(input.shape[1], input.dtype) if bias is None else bias
    return nn.group_norm(input, weight, bias, channel_axis=1, num_groups=num_groups, epsilon=eps)


def _by_channel(x: Any, values: Any) -> Any:
    return cnp.reshape(values, (-1,) + (1,) * (x.ndim - 2))


def _affine(x: Any, mean: Any, variance: Any, weight: Any, bias: Any, eps: float) -> Any:
    mean, variance = _by_channel(x, mean), _by_channel(x, variance)
    if weight is not None and bias is not None:
        weight, bias = _by_channel(x, weight), _by_channel(x, bias)
        return nn.batch_norm(x, mean, variance, weight, bias, epsilon=eps)
    result = (x - mean) / cnp.sqrt(variance + eps)
    result = result if weight is None else result * _by_channel(x, weight)
    return result if bias is None else result + _by_channel(x, bias)


def _standardised(
    input: Any, deviation: Any, slope: Any, weight: Any, bias: Any, axis: tuple[int, ...]
) -> Any:
    """The deviations from the mean times `slope`, one over their standard deviation, then weighted,
    with a gradient that sums twice: over the gradients of the result, and over them times it."""
    normal = deviation * slope
    result, inputs = normal, [input]
    if weight is not None:
        result, inputs = result * _by_channel(input, weight), [*inputs, weight]
    if bias is not None:
        result, inputs = result + _by_channel(input, bias), [*inputs, bias]
    if any(x.dtype != result.dtype for x in inputs):
        return result
    given = _core.input("gradient", result.dtype, result.shape)
    total, along = cnp.sum(given, axis=axis), cnp.sum(given * normal, axis=axis)
    count = input.size // input.shape[1]
    rest = given - _by_channel(input, total / count) - normal * _by_channel(input, along / count)
    gradients = [rest * (slope if weight is None else slope * _by_channel(input, weight))]
    gradients += [] if weight is None else [along]
    gradients += [] if bias is None else [total]
    return _core.cg.with_pullback("batch_norm", inputs, [result], [given], gradients)[0]


@operator("batch_norm")
def _batch_norm(
    input, weight, bias, running_mean, running_var, training, momentum, eps, cudnn_enabled=True
):
    if not training:
        return _affine(input, running_mean, running_var, weight, bias, eps)
    axis = (0, *range(2, input.ndim))
    mean = cnp.mean(input, axis=axis)
    deviation = input - _by_channel(input, mean)
    variance = cnp.mean(cnp.square(deviation), axis=axis)
    slope = _by_channel(input, cnp.reciprocal(cnp.sqrt(variance + eps)))
    result = _standardised(input, deviation, slope, weight, bias, axis)
    if running_mean is None:
        return result
    count = input.size // input.shape[1]
    steady = nn.stop_gradient(variance) * (count / (count - 1)) if count > 1 else variance
    writes = {
        3: running_mean * (1 - momentum) + nn.stop_gradient(mean) * momentum,
        4: running_var * (1 - momentum) + steady * momentum,
    }
    return Written(result, writes)


@operator("instance_norm")
def _instance_norm(
    input, weight, bias, running_mean, running_var, use_input_stats, momentum, eps,
    cudnn_enabled=True,
):  # fmt: skip
    if not use_input_stats:
        return _affine(input, running_mean, running_var, weight, bias, eps)
    axis = tuple(range(2, input.ndim))
    mean = cnp.mean(input, axis=axis, keepdims=True)
    variance = cnp.mean(cnp.square(input - mean), axis=axis, keepdims=True)
    result = (input - mean) / cnp.sqrt(variance + eps)
    result = result if weight is None else result * _by_channel(input, weight)
    result = result if bias is None else result + _by_channel(input, bias)
    if running_mean is None:
        return result
    count = int(np.prod(input.shape[2:]))
    new_mean = cnp.mean(nn.stop_gradient(mean), axis=(0, *axis))
    new_var = cnp.mean(nn.stop_gradient(variance), axis=(0, *axis)) * (count / max(count - 1, 1))
    writes = {
        3: running_mean * (1 - momentum) + new_mean * momentum,
        4: running_var * (1 - momentum) + new_var * momentum,
    }
    return Written(result, writes)
