"""Layers composed of operations; the graph shows what they are made of."""

from __future__ import annotations

from typing import Any

import composit._core as _core
from composit._core import LazyTensor
from composit.nn.attention import multi_head_attention as multi_head_attention
from composit.nn.attention import scaled_dot_product_attention as scaled_dot_product_attention

_c = _core.nn

__all__ = [
    "batch_norm", "batch_norm_training", "dropout", "feedforward", "group_norm", "instance_norm",
    "layer_norm", "normalize", "resnet_module", "rms_norm", "softmax", "softmin",
]  # fmt: skip


def softmax(input_tensor: Any, *, axis: Any) -> LazyTensor:
    """exp(x - max(x)) / sum(…) along the axis."""
    return _c.softmax(input_tensor, axis)


def softmin(input_tensor: Any, *, axis: Any) -> LazyTensor:
    """softmax(-x) along the axis."""
    return _c.softmin(input_tensor, axis)


def layer_norm(
    input_tensor: Any,
    weight: Any = None,
    bias: Any = None,
    *,
    axis: Any = -1,
    epsilon: float = 1e-5,
) -> LazyTensor:
    """(x - mean) / sqrt(var + epsilon) * weight + bias over `axis`, one or several; weight and
    bias broadcast to x."""
    return _c.layer_norm(input_tensor, weight, bias, axis, epsilon)


def batch_norm(
    input_tensor: Any, mean: Any, var: Any, weight: Any, bias: Any, *, epsilon: float = 1e-5
) -> LazyTensor:
    """(x - mean) / sqrt(var + epsilon) * weight + bias with the statistics given."""
    return _c.batch_norm(input_tensor, mean, var, weight, bias, epsilon)


def batch_norm_training(
    input_tensor: Any,
    running_mean: Any,
    running_variance: Any,
    weight: Any = None,
    bias: Any = None,
    *,
    channel_axis: int,
    momentum: float = 0.1,
    epsilon: float = 1e-5,
) -> tuple[LazyTensor, LazyTensor, LazyTensor]:
    """batch_norm with the statistics of x itself over all axes but channel_axis: the result, and
    the running statistics moved by `momentum` towards x's mean and unbiased variance, through which
    no gradient flows. All parameters are (channels,). ValueError for fewer than 2 elements each."""
    result, mean, variance = _c.batch_norm_training(
        input_tensor, running_mean, running_variance, weight, bias, channel_axis, momentum, epsilon
    )
    return result, mean, variance


def instance_norm(
    input_tensor: Any,
    weight: Any = None,
    bias: Any = None,
    *,
    channel_axis: int,
    epsilon: float = 1e-5,
) -> LazyTensor:
    """Each image's channels normalised over its spatial axes; weight and bias: (channels,)."""
    return _c.instance_norm(input_tensor, weight, bias, channel_axis, epsilon)


def rms_norm(
    input_tensor: Any, weight: Any = None, *, axis: Any = -1, epsilon: float | None = None
) -> LazyTensor:
    """x / sqrt(mean(x**2) + epsilon) * weight over `axis` (Zhang and Sennrich, 2019); epsilon is
    the dtype's machine epsilon unless given. weight broadcasts to x."""
    return _c.rms_norm(input_tensor, weight, axis, epsilon)


def normalize(
    input_tensor: Any, p: float = 2.0, *, axis: Any = 1, epsilon: float = 1e-12
) -> LazyTensor:
    """x / maximum(norm, epsilon) with the p-norm along the axis or axes."""
    return _c.normalize(input_tensor, p, axis, epsilon)


def group_norm(
    input_tensor: Any,
    weight: Any,
    bias: Any,
    *,
    channel_axis: int,
    num_groups: int,
    epsilon: float = 1e-5,
) -> LazyTensor:
    """Each group of channels normalised over its channels and the spatial axes."""
    return _c.group_norm(input_tensor, weight, bias, channel_axis, num_groups, epsilon)


def dropout(input_tensor: Any, rate: float, key: Any) -> LazyTensor:
    """Each element zero with probability `rate`, or else divided by 1 - rate; for training."""
    return _c.dropout(input_tensor, rate, key)


def feedforward(
    hidden_states: Any, weight1: Any, bias1: Any, weight2: Any, bias2: Any
) -> LazyTensor:
    """gelu(x @ weight1 + bias1) @ weight2 + bias2"""
    return _c.feedforward(hidden_states, weight1, bias1, weight2, bias2)


def resnet_module(
    input_tensor: Any,
    *parameters: Any,
    channels_last: bool,
    module_strides: Any = (1, 1),
) -> LazyTensor:
    """ResNet's bottleneck. Parameters: filters, mean, variance, weight and bias of three
    convolutions, then of the shortcut's (or nothing, or Nones: the input itself)."""
    return _c.resnet_module(input_tensor, parameters, channels_last, module_strides)
