"""Products of sequences that slide along each other, and of vectors."""

from __future__ import annotations

import warnings
from typing import Any

import composit._core as _core
from composit._core import LazyTensor, with_location
from composit.numpy.creation import asarray

_c = _core.numpy


def convolve(a: Any, v: Any, mode: str = "full") -> LazyTensor:
    """The convolution of two sequences."""
    return _c.convolve(a, v, _mode("convolve", mode))


def _mode(function: str, mode: Any) -> str:
    if isinstance(mode, str):
        return mode
    if mode in (0, 1, 2):  # NumPy's old names
        return ("valid", "same", "full")[mode]
    kind = ValueError if hasattr(mode, "__index__") else TypeError
    raise kind(
        with_location(f"{function}: mode is {mode!r}. 'valid', 'same' or 'full' is required.")
    )


def correlate(a: Any, v: Any, mode: str = "valid") -> LazyTensor:
    """The sums of a[n + k] v[n] of two sequences."""
    return _c.correlate(a, v, _mode("correlate", mode))


def cross(
    a: Any, b: Any, axisa: int = -1, axisb: int = -1, axisc: int = -1, axis: int | None = None
) -> LazyTensor:
    """The cross product of vectors of three elements."""
    if axis is not None:
        axisa, axisb, axisc = axis, axis, axis
    a, b = asarray(a), asarray(b)
    result = _c.cross(a, b, axisa, axisb, axisc)
    if 2 in (a.shape[axisa], b.shape[axisb]):
        warnings.warn(
            "cross: vectors of two elements are deprecated, as in NumPy 2.0. Give three.",
            DeprecationWarning,
            stacklevel=2,
        )
    return result
