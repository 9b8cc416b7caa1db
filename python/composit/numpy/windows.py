"""Window functions, and the Bessel function that kaiser is made of."""

from __future__ import annotations

from typing import Any

from composit import _core
from composit._core import LazyTensor

_c = _core.numpy


def bartlett(M: float) -> LazyTensor:
    """A triangle of M points that is 0 at its ends."""
    return _c.bartlett(M)


def blackman(M: float) -> LazyTensor:
    """Blackman's window of M points."""
    return _c.blackman(M)


def hamming(M: float) -> LazyTensor:
    """Hamming's window of M points."""
    return _c.hamming(M)


def hanning(M: float) -> LazyTensor:
    """Hann's window of M points."""
    return _c.hanning(M)


def kaiser(M: float, beta: float) -> LazyTensor:
    """Kaiser's window of M points, narrower for greater beta."""
    return _c.kaiser(M, beta)


def i0(x: Any) -> LazyTensor:
    """The modified Bessel function of the first kind and order 0."""
    return _c.i0(x)
