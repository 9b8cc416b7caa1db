"""numpy.fft, lazily: discrete Fourier transforms, their frequencies and orders."""

from __future__ import annotations

import operator
from typing import Any

from composit import _core
from composit._core import LazyTensor, with_location

_c = _core.fft

__all__ = ["fftfreq", "fftshift", "ifftshift", "rfftfreq"]


def _length(function: str, n: Any) -> int:
    try:
        return operator.index(n)
    except TypeError:
        message = f"{function}: n is {n!r}. An integer is required."
        raise ValueError(with_location(message)) from None


def _check_device(function: str, device: Any) -> None:
    if device not in (None, "cpu"):
        message = f'{function}: device is {device!r}. "cpu" or None is required.'
        raise ValueError(with_location(message))


def fftfreq(n: int, d: float = 1.0, device: Any = None) -> LazyTensor:
    """The frequencies of a transform of n samples with spacing d."""
    _check_device("fftfreq", device)
    return _c.fftfreq(_length("fftfreq", n), d)


def rfftfreq(n: int, d: float = 1.0, device: Any = None) -> LazyTensor:
    """The frequencies of a transform of n real samples with spacing d."""
    _check_device("rfftfreq", device)
    return _c.rfftfreq(_length("rfftfreq", n), d)


def fftshift(x: Any, axes: Any = None) -> LazyTensor:
    """Zero frequency moved to the middle of the axes."""
    return _c.fftshift(x, axes)


def ifftshift(x: Any, axes: Any = None) -> LazyTensor:
    """Undoes fftshift."""
    return _c.ifftshift(x, axes)
