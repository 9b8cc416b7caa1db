"""Layers composed of operations; the graph shows what they are made of."""

from __future__ import annotations

from typing import Any

from composit import _core
from composit._core import LazyTensor

_c = _core.nn

__all__ = [
    "batch_norm", "dropout", "feedforward", "group_norm", "layer_norm", "multi_head_attention",
    "resnet_module", "scaled_dot_product_attention", "softmax",
]  # fmt: skip


def softmax(input_tensor: Any, *, axis: Any) -> LazyTensor:
    """exp(x - max(x)) / sum(…) along the axis."""
    return _c.softmax(input_tensor, axis)


def layer_norm(
    input_tensor: Any, weight: Any, bias: Any, *, axis: Any = -1, epsilon: float = 1e-5
) -> LazyTensor:
    """(x - mean) / sqrt(var + epsilon) * weight + bias over `axis`."""
    return _c.layer_norm(input_tensor, weight, bias, axis, epsilon)


def batch_norm(
    input_tensor: Any, mean: Any, var: Any, weight: Any, bias: Any, *, epsilon: float = 1e-5
) -> LazyTensor:
    """(x - mean) / sqrt(var + epsilon) * weight + bias with the statistics given."""
    return _c.batch_norm(input_tensor, mean, var, weight, bias, epsilon)


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


def scaled_dot_product_attention(query: Any, key: Any, value: Any, mask: Any = None) -> LazyTensor:
    """softmax(query @ key^T / sqrt(head size) + mask) @ value"""
    return _c.scaled_dot_product_attention(query, key, value, mask)


def multi_head_attention(
    hidden_states: Any,
    attention_mask: Any,
    query_weight: Any,
    query_bias: Any,
    key_weight: Any,
    key_bias: Any,
    value_weight: Any,
    value_bias: Any,
    output_weight: Any,
    output_bias: Any,
    *,
    head_size: int,
) -> LazyTensor:
    """Attention by heads of width head_size, projected; the additive mask may be None."""
    parameters = [
        query_weight, query_bias, key_weight, key_bias, value_weight, value_bias, output_weight,
        output_bias,
    ]  # fmt: skip
    return _c.multi_head_attention(hidden_states, attention_mask, parameters, head_size)


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
    parts = [parameters[i : i + 5] for i in range(0, len(parameters), 5)]
    if len(parts) == 4 and all(part is None for part in parts[3]):
        parts.pop()
    shortcut = parts[3] if len(parts) == 4 else ()
    if len(parts) not in (3, 4):
        raise TypeError(
            _core.with_location(
                f"resnet_module: {len(parameters)} parameters. 15, or 20 with a shortcut, are "
                "required."
            )
        )
    return _c.resnet_module(
        input_tensor, parts[0], parts[1], parts[2], shortcut, channels_last, module_strides
    )
