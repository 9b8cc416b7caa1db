"""Batch normalisation out of training as part of the convolution or linear layer before it."""

from __future__ import annotations

import copy
from typing import Any

import composit._core as _core
from composit.torch import operations
from composit.torch.nn.parameter import Parameter

assert operations  # what the formulas are made of
__all__ = [
    "fuse_conv_bn_eval", "fuse_conv_bn_weights", "fuse_linear_bn_eval", "fuse_linear_bn_weights",
]  # fmt: skip


def _check(layer: Any, bn: Any) -> None:
    if layer.training or bn.training:
        raise AssertionError("Fusion only for eval!")
    if bn.running_mean is None or bn.running_var is None:
        raise AssertionError("bn.running_mean and bn.running_var must not be None")


def _fused(
    weight: Any, bias: Any, mean: Any, variance: Any, eps: float, scale: Any, shift: Any,
    shape: list[int],
) -> tuple[Any, Any]:  # fmt: skip
    """A layer's weight and bias with a normalisation of its outputs, whose weights the scale is
    multiplied with in a shape."""
    made, moved = _core.aten.fused_with_norm(
        weight, bias, mean, variance, eps, scale, shift, shape
    )  # fmt: skip
    learns = bias is not None and bias.requires_grad
    return Parameter(made, weight.requires_grad), Parameter(moved, learns)


def fuse_conv_bn_weights(
    conv_w: Any, conv_b: Any, bn_rm: Any, bn_rv: Any, bn_eps: float, bn_w: Any, bn_b: Any,
    transpose: bool = False,
) -> tuple[Any, Any]:  # fmt: skip
    """(weight, bias) of a convolution with a normalisation by a running mean and variance; of a
    transposed one with `transpose`."""
    shape = ([1, -1] if transpose else [-1, 1]) + [1] * (conv_w.dim() - 2)
    return _fused(conv_w, conv_b, bn_rm, bn_rv, bn_eps, bn_w, bn_b, shape)


def fuse_conv_bn_eval(conv: Any, bn: Any, transpose: bool = False) -> Any:
    """A convolution that does what conv and bn do one after another, both out of training
    (AssertionError)."""
    _check(conv, bn)
    made = copy.deepcopy(conv)
    made.weight, made.bias = fuse_conv_bn_weights(
        made.weight, made.bias, bn.running_mean, bn.running_var, bn.eps, bn.weight, bn.bias,
        transpose,
    )  # fmt: skip
    return made


def fuse_linear_bn_weights(
    linear_w: Any, linear_b: Any, bn_rm: Any, bn_rv: Any, bn_eps: float, bn_w: Any, bn_b: Any
) -> tuple[Any, Any]:
    """(weight, bias) of a linear layer with a normalisation by a running mean and variance."""
    return _fused(linear_w, linear_b, bn_rm, bn_rv, bn_eps, bn_w, bn_b, [-1, 1])


def fuse_linear_bn_eval(linear: Any, bn: Any) -> Any:
    """A linear layer that does what linear and bn do one after another, both out of training, of
    as many features (AssertionError)."""
    _check(linear, bn)
    if bn.num_features not in (linear.out_features, 1):
        raise AssertionError(
            "To fuse, linear.out_features == bn.num_features or bn.num_features == 1, got "
            f"linear.out_features={linear.out_features} and bn.num_features={bn.num_features}"
        )
    made = copy.deepcopy(linear)
    made.weight, made.bias = fuse_linear_bn_weights(
        made.weight, made.bias, bn.running_mean, bn.running_var, bn.eps, bn.weight, bn.bias
    )
    return made
