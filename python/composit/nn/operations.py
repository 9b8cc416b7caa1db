"""Operations of neural networks that NumPy does not have."""

from __future__ import annotations

from typing import Any

from composit import _core
from composit._core import LazyTensor

_c = _core.nn

__all__ = [
    "average_pool", "convolution", "cross_entropy", "embedding", "gelu", "log_softmax",
    "logsumexp", "max_pool", "mse", "nll", "one_hot", "relu", "sigmoid", "silu",
]  # fmt: skip


def relu(x: Any) -> LazyTensor:
    """maximum(x, 0); slope 0 at 0."""
    return _c.relu(x)


def sigmoid(x: Any) -> LazyTensor:
    """1 / (1 + exp(-x))"""
    return _c.sigmoid(x)


def silu(x: Any) -> LazyTensor:
    """x * sigmoid(x)"""
    return _c.silu(x)


def gelu(x: Any) -> LazyTensor:
    """x * (1 + erf(x / sqrt(2))) / 2"""
    return _c.gelu(x)


def embedding(input_ids: Any, weights: Any) -> LazyTensor:
    """Rows of weights at integer ids."""
    return _c.embedding(input_ids, weights)


def _lengths(value: Any) -> Any:
    return () if value is None else value


def convolution(
    image: Any,
    filters: Any,
    *,
    channels_last: bool,
    strides: Any = None,
    padding: Any = None,
    dilation: Any = None,
    groups: int = 1,
) -> LazyTensor:
    """Cross-correlation in 1, 2 or 3 dimensions. Filters: (out, in / groups, window…), or
    (out, window…, in / groups) with channels_last."""
    return _c.convolution(
        image,
        filters,
        channels_last,
        _lengths(strides),
        _lengths(padding),
        _lengths(dilation),
        groups,
    )


def max_pool(
    image: Any,
    *,
    kernel_size: Any,
    channels_last: bool,
    strides: Any = (1, 1),
    padding: Any = (0, 0),
) -> LazyTensor:
    """Maximum over windows; padding is -inf."""
    return _c.max_pool(image, kernel_size, channels_last, *_windows(image, strides, padding))


def average_pool(
    image: Any,
    *,
    kernel_size: Any,
    channels_last: bool,
    strides: Any = (1, 1),
    padding: Any = (0, 0),
) -> LazyTensor:
    """Mean over windows; padding is zeros, which count."""
    return _c.average_pool(image, kernel_size, channels_last, *_windows(image, strides, padding))


def _windows(image: Any, strides: Any, padding: Any) -> tuple[Any, Any]:
    """The defaults are written for two spatial axes, and mean "1 and 0" for any number."""
    return (
        () if strides is None or tuple_of(strides) == (1, 1) else strides,
        () if padding is None or tuple_of(padding) == (0, 0) else padding,
    )


def tuple_of(value: Any) -> tuple[Any, ...]:
    """A single length as a tuple."""
    return tuple(value) if isinstance(value, (tuple, list)) else (value,)


def logsumexp(x: Any, axis: int = -1, keepdims: bool = False) -> LazyTensor:
    """log(sum(exp(x))) along an axis."""
    return _c.logsumexp(x, axis, keepdims)


def log_softmax(x: Any, axis: int = -1) -> LazyTensor:
    """x - logsumexp(x)"""
    return _c.log_softmax(x, axis)


def one_hot(labels: Any, classes: int, dtype: Any = "float32") -> LazyTensor:
    """labels.shape + (classes,): 1 where the position is the label."""
    return _c.one_hot(labels, classes, dtype)


def cross_entropy(logits: Any, labels: Any, reduction: str = "mean") -> LazyTensor:
    """-log_softmax(logits)[label]"""
    return _c.cross_entropy(logits, labels, reduction)


def nll(log_probabilities: Any, labels: Any, reduction: str = "mean") -> LazyTensor:
    """-log_probabilities[label]"""
    return _c.nll(log_probabilities, labels, reduction)


def mse(prediction: Any, target: Any, reduction: str = "mean") -> LazyTensor:
    """(prediction - target)^2"""
    return _c.mse(prediction, target, reduction)
