"""numpy.fft, lazily: discrete Fourier transforms, their frequencies and orders."""

from __future__ import annotations

import operator
import warnings
from typing import Any

import composit._core as _core
from composit import devices
from composit._core import LazyTensor, index_error, value_error
from composit._mismatch import wrong
from composit.numpy._outputs import write_out
from composit.numpy.creation import asarray

_c = _core.fft

__all__ = [
    "fft", "fft2", "fftfreq", "fftn", "fftshift", "hfft", "ifft", "ifft2", "ifftn", "ifftshift",
    "ihfft", "irfft", "irfft2", "irfftn", "rfft", "rfft2", "rfftfreq", "rfftn",
]  # fmt: skip


def _norm(norm: Any) -> str:
    if norm is None:
        return "backward"
    return norm if isinstance(norm, str) else repr(norm)  # which is refused by its name


def _along(name: str, a: Any, n: Any, axis: Any, norm: Any, out: Any) -> Any:
    return _written(name, getattr(_c, name)(a, n, axis, _norm(norm)), out)


def _written(name: str, result: LazyTensor, out: Any) -> Any:
    if out is not None and getattr(out, "shape", result.shape) != result.shape:
        required = f"{out.shape}. {result.shape} is required."
        raise value_error(f"{name}: output array has wrong shape: {required}")
    return write_out(name, result, out)


def _lengths(function: str, a: Any, s: Any, axes: Any) -> Any:
    """The lengths with -1 for those of the axes."""
    if s is None or None not in s:
        return s
    warnings.warn(
        f"{function}: Passing an array containing `None` values to `s` is deprecated, as in NumPy "
        "2.0. Use -1.",
        DeprecationWarning,
        stacklevel=4,
    )
    lengths = [-1 if length is None else length for length in s]
    if s[-1] is None and function.startswith("irfft"):
        lengths[-1] = 2 * (asarray(a).shape[-1 if axes is None else axes[-1]] - 1)
    return lengths


def _check_place(function: str, ndim: int, s: Any, axes: Any) -> None:
    """NumPy looks up the length of an axis that is given alone before it wants a sequence."""
    if s is None and hasattr(axes, "__index__") and not -ndim <= axes < ndim:
        message = f"{function}: axes is {axes}, beyond the {ndim} axes of the operand"
        raise index_error(f"{message}. A sequence of axes is required.")


# What transforms the last axis, and what the others, of functions that write into out.
_STAGES = {
    "fftn": ("fft", "fft"), "ifftn": ("ifft", "ifft"), "fft2": ("fft", "fft"),
    "rfftn": ("rfft", "fft"), "rfft2": ("rfft", "fft"),
}  # fmt: skip


def _in_stages(name: str, a: Any, s: Any, axes: Any, norm: Any, out: Any) -> Any:
    """Axis after axis, the last one first, each written into out: so its dtype is that of what is
    between them, and its shape must be theirs."""
    x = asarray(a)
    places = list(range(-(x.ndim if s is None else len(s)), 0) if axes is None else axes)
    if s is not None and len(s) != len(places):
        raise value_error(f"{name}: Shape and axes have different lengths.")
    lengths = [None if s is None or n == -1 else n for n in (s or places)]
    last, other = _STAGES[name]
    for number, (length, place) in enumerate(reversed([*zip(lengths, places)])):
        x = _along(last if number == 0 else other, x, length, place, norm, out)
    return x


def _over(name: str, a: Any, s: Any, axes: Any, norm: Any, out: Any) -> Any:
    if s is not None and axes is None:
        warnings.warn(
            f"{name}: `axes` should not be `None` if `s` is not `None`: deprecated, as in NumPy "
            "2.0. Give axes.",
            DeprecationWarning,
            stacklevel=3,
        )
    for value in (s, axes):
        if value is not None and not hasattr(value, "__iter__"):
            _check_place(name, asarray(a).ndim, s, axes)
            raise TypeError(wrong(value, "A sequence of integers, or None,"))
    lengths = _lengths(name, a, s, axes)
    # What is between the axes has the result's dtype and shape: nothing shows where it was.
    is_alike = s is None and getattr(out, "dtype", None) == asarray(a).dtype
    if out is not None and name in _STAGES and not is_alike:
        return _in_stages(name, a, lengths, axes, norm, out)
    given = s if axes is None else axes
    fits = s is None or axes is None or len(s) == len(axes)
    is_one = (asarray(a).ndim if given is None else len(given)) == 1
    if name in ("irfftn", "irfft2") and is_one and fits:
        length = None if s is None or lengths[0] == -1 else lengths[0]
        return _along("irfft", a, length, -1 if axes is None else axes[0], norm, out)
    return _written(name, getattr(_c, name)(a, lengths, axes, _norm(norm)), out)


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
