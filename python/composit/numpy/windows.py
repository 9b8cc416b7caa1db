"""Window functions, and the Bessel function that kaiser is made of."""

from __future__ import annotations

from typing import Any

import composit._core as _core
from composit._core import LazyTensor

_c = _core.numpy


def _window(name: str, count: Any) -> LazyTensor:
    """A window; complex counts up to 1 are taken, as NumPy's, which orders them by their parts."""
    if isinstance(count, complex) and (count.real, count.imag) <= (1, 0):
        return _c.ones((int(count == 1),), complex, "")
    return getattr(_c, name)(count)


def bartlett(M: float) -> LazyTensor:
    """A triangle of M points that is 0 at its ends."""
    return _window("bartlett", M)


def blackman(M: float) -> LazyTensor:
    """Blackman's window of M points."""
    return _window("blackman", M)


def hamming(M: float) -> LazyTensor:
    """Hamming's window of M points."""
    return _window("hamming", M)


def hanning(M: float) -> LazyTensor:
    """Hann's window of M points."""
    return _window("hanning", M)


def kaiser(M: float, beta: float) -> LazyTensor:
    """Kaiser's window of M points, narrower for greater beta."""
    return _c.kaiser(M, beta)


def i0(x: Any) -> LazyTensor:
    """The modified Bessel function of the first kind and order 0."""
    return _c.i0(x)
