"""Operations of neural networks that NumPy does not have."""

from __future__ import annotations

from typing import Any

import composit._core as _core
from composit._core import LazyTensor

_c = _core.nn

__all__ = [
    "embedding", "log_softmax", "logsumexp", "one_hot",
]  # fmt: skip


def embedding(input_ids: Any, weights: Any, padding_idx: int | None = None) -> LazyTensor:
    """Rows of weights (rows, …) at integer ids: ids.shape + weights.shape[1:]. No gradient reaches
    the row padding_idx. IndexError for ids, and a padding_idx, that are out of range."""
    return _c.embedding(input_ids, weights, padding_idx)


def logsumexp(x: Any, axis: int = -1, keepdims: bool = False) -> LazyTensor:
    """log(sum(exp(x))) along an axis."""
    return _c.logsumexp(x, axis, keepdims)


def log_softmax(x: Any, axis: int = -1) -> LazyTensor:
    """x - logsumexp(x)"""
    return _c.log_softmax(x, axis)


def one_hot(labels: Any, classes: int, dtype: Any = "float32") -> LazyTensor:
    """labels.shape + (classes,): 1 where the position is the label."""
    return _c.one_hot(labels, classes, dtype)
