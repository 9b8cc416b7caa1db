"""Products of sequences that slide along each other, and of vectors."""

from __future__ import annotations

from typing import Any

import composit._core as _core
from composit._core import LazyTensor

_c = _core.numpy


def convolve(a: Any, v: Any, mode: str = "full") -> LazyTensor:
    """The convolution of two sequences."""
    return _c.convolve(a, v, mode)


def correlate(a: Any, v: Any, mode: str = "valid") -> LazyTensor:
    """The sums of a[n + k] v[n] of two sequences."""
    return _c.correlate(a, v, mode)


def cross(
    a: Any, b: Any, axisa: int = -1, axisb: int = -1, axisc: int = -1, axis: int | None = None
) -> LazyTensor:
    """The cross product of vectors of three elements."""
    if axis is not None:
        axisa, axisb, axisc = axis, axis, axis
    return _c.cross(a, b, axisa, axisb, axisc)
