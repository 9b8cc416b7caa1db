"""Activations: elementwise, one node each, with PyTorch's values and its slopes at kinks.

They take any shape and keep it; integers are computed in float64, complex numbers are a TypeError.
"""

from __future__ import annotations

from typing import Any

import composit._core as _core
from composit._core import LazyTensor

_c = _core.nn

__all__ = [
    "celu", "elu", "gelu", "glu", "hardshrink", "hardsigmoid", "hardswish", "hardtanh",
    "leaky_relu", "logsigmoid", "mish", "prelu", "relu", "relu6", "rrelu", "selu", "sigmoid",
    "silu", "softplus", "softshrink", "softsign", "tanh", "tanhshrink", "threshold",
]  # fmt: skip


def relu(x: Any) -> LazyTensor:
    """maximum(x, 0); slope 0 at 0."""
    return _c.relu(x)


def sigmoid(x: Any) -> LazyTensor:
    """1 / (1 + exp(-x))"""
    return _c.sigmoid(x)


def tanh(x: Any) -> LazyTensor:
    """The hyperbolic tangent."""
    return _c.tanh(x)


def silu(x: Any) -> LazyTensor:
    """x * sigmoid(x)"""
    return _c.silu(x)


def gelu(x: Any, approximate: str = "none") -> LazyTensor:
    """x * (1 + erf(x / sqrt(2))) / 2; with approximate "tanh" (Hendrycks and Gimpel, 2016)
    x * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x**3))) / 2."""
    return _c.gelu(x, approximate)


def relu6(x: Any) -> LazyTensor:
    """x between 0 and 6; slope 0 at both."""
    return _c.relu6(x)


def leaky_relu(x: Any, negative_slope: float = 0.01) -> LazyTensor:
    """x where x > 0, else negative_slope * x."""
    return _c.leaky_relu(x, negative_slope)


def prelu(x: Any, weight: Any, *, channel_axis: int = 1) -> LazyTensor:
    """x where x > 0, else weight * x; one weight, or (channels,) along channel_axis.
    ValueError when the weights are not as many as channels."""
    return _c.prelu(x, weight, channel_axis)


def rrelu(x: Any, lower: float = 1 / 8, upper: float = 1 / 3, key: Any = None) -> LazyTensor:
    """leaky_relu of slope (lower + upper) / 2; with a key (training) each element that is not
    positive has a slope of its own, uniform between lower and upper."""
    return _c.rrelu(x, lower, upper, key)


def elu(x: Any, alpha: float = 1.0) -> LazyTensor:
    """x where x > 0, else alpha * expm1(x)."""
    return _c.elu(x, alpha)


def selu(x: Any) -> LazyTensor:
    """1.0507… * elu(x, 1.6732…), the self-normalising constants of Klambauer et al., 2017."""
    return _c.selu(x)


def celu(x: Any, alpha: float = 1.0) -> LazyTensor:
    """x where x > 0, else alpha * expm1(x / alpha)."""
    return _c.celu(x, alpha)


def mish(x: Any) -> LazyTensor:
    """x * tanh(softplus(x))"""
    return _c.mish(x)


def hardtanh(x: Any, least: float = -1.0, greatest: float = 1.0) -> LazyTensor:
    """x between least and greatest; slope 0 at both. ValueError: least > greatest."""
    return _c.hardtanh(x, least, greatest)


def hardsigmoid(x: Any) -> LazyTensor:
    """relu6(x + 3) / 6"""
    return _c.hardsigmoid(x)


def hardswish(x: Any) -> LazyTensor:
    """x * relu6(x + 3) / 6"""
    return _c.hardswish(x)


def softplus(x: Any, beta: float = 1.0, threshold: float = 20.0) -> LazyTensor:
    """log(1 + exp(beta * x)) / beta, and x where beta * x > threshold."""
    return _c.softplus(x, beta, threshold)


def softsign(x: Any) -> LazyTensor:
    """x / (1 + abs(x))"""
    return _c.softsign(x)


def softshrink(x: Any, lambd: float = 0.5) -> LazyTensor:
    """x moved towards 0 by lambd; 0 where abs(x) <= lambd."""
    return _c.softshrink(x, lambd)


def hardshrink(x: Any, lambd: float = 0.5) -> LazyTensor:
    """x where abs(x) > lambd, else 0."""
    return _c.hardshrink(x, lambd)


def tanhshrink(x: Any) -> LazyTensor:
    """x - tanh(x)"""
    return _c.tanhshrink(x)


def threshold(x: Any, least: float, value: float) -> LazyTensor:
    """x where x > least, else value."""
    return _c.threshold(x, least, value)


def logsigmoid(x: Any) -> LazyTensor:
    """-log(1 + exp(-x))"""
    return _c.logsigmoid(x)


def glu(x: Any, axis: int = -1) -> LazyTensor:
    """The first half of an axis times sigmoid of the other. ValueError: its length is odd."""
    return _c.glu(x, axis)
