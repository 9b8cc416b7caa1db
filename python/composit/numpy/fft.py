"""numpy.fft, lazily: discrete Fourier transforms, their frequencies and orders."""

from __future__ import annotations

import operator
from typing import Any

import composit._core as _core
from composit import devices
from composit._core import LazyTensor, value_error
from composit.numpy.creation import asarray

_c = _core.fft

__all__ = [
    "fft", "fft2", "fftfreq", "fftn", "fftshift", "hfft", "ifft", "ifft2", "ifftn", "ifftshift",
    "ihfft", "irfft", "irfft2", "irfftn", "rfft", "rfft2", "rfftfreq", "rfftn",
]  # fmt: skip


_along: Any = _c.along
_over: Any = _c.over


def fft(
    a: Any, n: int | None = None, axis: int = -1, norm: str | None = None, out: Any = None
) -> LazyTensor:
    """The discrete Fourier transform along an axis, cropped or filled with zeros to n."""
    return _along("fft", a, n, axis, norm, out)


def ifft(
    a: Any, n: int | None = None, axis: int = -1, norm: str | None = None, out: Any = None
) -> LazyTensor:
    """Undoes fft."""
    return _along("ifft", a, n, axis, norm, out)


def rfft(
    a: Any, n: int | None = None, axis: int = -1, norm: str | None = None, out: Any = None
) -> LazyTensor:
    """The half of the transform of real numbers that symmetry does not give."""
    return _along("rfft", a, n, axis, norm, out)


def irfft(
    a: Any, n: int | None = None, axis: int = -1, norm: str | None = None, out: Any = None
) -> LazyTensor:
    """Undoes rfft: n real numbers."""
    return _along("irfft", a, n, axis, norm, out)


def hfft(
    a: Any, n: int | None = None, axis: int = -1, norm: str | None = None, out: Any = None
) -> LazyTensor:
    """The real transform of Hermitian numbers, of which half are given."""
    return _along("hfft", a, n, axis, norm, out)


def ihfft(
    a: Any, n: int | None = None, axis: int = -1, norm: str | None = None, out: Any = None
) -> LazyTensor:
    """Undoes hfft."""
    return _along("ihfft", a, n, axis, norm, out)


def fftn(
    a: Any, s: Any = None, axes: Any = None, norm: str | None = None, out: Any = None
) -> LazyTensor:
    """The transform along several axes, all of them unless given."""
    return _over("fftn", a, s, axes, norm, out)


def ifftn(
    a: Any, s: Any = None, axes: Any = None, norm: str | None = None, out: Any = None
) -> LazyTensor:
    """Undoes fftn."""
    return _over("ifftn", a, s, axes, norm, out)


def rfftn(
    a: Any, s: Any = None, axes: Any = None, norm: str | None = None, out: Any = None
) -> LazyTensor:
    """The transform of real numbers along several axes, the last one halved."""
    return _over("rfftn", a, s, axes, norm, out)


def irfftn(
    a: Any, s: Any = None, axes: Any = None, norm: str | None = None, out: Any = None
) -> LazyTensor:
    """Undoes rfftn."""
    return _over("irfftn", a, s, axes, norm, out)


def fft2(
    a: Any, s: Any = None, axes: Any = (-2, -1), norm: str | None = None, out: Any = None
) -> LazyTensor:
    """The transform along two axes."""
    return _over("fft2", a, s, axes, norm, out)


def ifft2(
    a: Any, s: Any = None, axes: Any = (-2, -1), norm: str | None = None, out: Any = None
) -> LazyTensor:
    """Undoes fft2."""
    return _over("ifft2", a, s, axes, norm, out)


def rfft2(
    a: Any, s: Any = None, axes: Any = (-2, -1), norm: str | None = None, out: Any = None
) -> LazyTensor:
    """The transform of real numbers along two axes, the last one halved."""
    return _over("rfft2", a, s, axes, norm, out)


def irfft2(
    a: Any, s: Any = None, axes: Any = (-2, -1), norm: str | None = None, out: Any = None
) -> LazyTensor:
    """Undoes rfft2."""
    return _over("irfft2", a, s, axes, norm, out)


def _length(function: str, n: Any) -> int:
    try:
        return operator.index(n)
    except TypeError:
        raise value_error(f"{function}: n is {n!r}. An integer is required.") from None


@devices.placing
def fftfreq(n: int, d: float = 1.0, device: Any = None) -> LazyTensor:
    """The frequencies of a transform of n samples with spacing d."""
    return _c.fftfreq(_length("fftfreq", n), d)


@devices.placing
def rfftfreq(n: int, d: float = 1.0, device: Any = None) -> LazyTensor:
    """The frequencies of a transform of n real samples with spacing d."""
    return _c.rfftfreq(_length("rfftfreq", n), d)


def _check_axes(function: str, x: Any) -> None:
    if asarray(x).ndim == 0:
        raise value_error(f"{function}: x has no dimension. One at least is required.")


def fftshift(x: Any, axes: Any = None) -> LazyTensor:
    """Zero frequency moved to the middle of the axes."""
    _check_axes("fftshift", x)
    return _c.fftshift(x, axes)


def ifftshift(x: Any, axes: Any = None) -> LazyTensor:
    """Undoes fftshift."""
    _check_axes("ifftshift", x)
    return _c.ifftshift(x, axes)
