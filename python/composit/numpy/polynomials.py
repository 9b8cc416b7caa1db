"""Polynomials as coefficients from the highest power down."""

from __future__ import annotations

from typing import Any

import composit._core as _core
from composit._core import LazyTensor, type_error
from composit.numpy.creation import asarray

_c = _core.numpy


def polyval(p: Any, x: Any) -> LazyTensor:
    """The polynomial's values at x."""
    return _c.polyval(p, x)


def polyadd(a1: Any, a2: Any) -> LazyTensor:
    """The sum of two polynomials."""
    return _c.polyadd(a1, a2)


def polysub(a1: Any, a2: Any) -> LazyTensor:
    """The difference of two polynomials."""
    return _c.polysub(a1, a2)


def polymul(a1: Any, a2: Any) -> LazyTensor:
    """The product of two polynomials, without their leading zeros: evaluates them now."""
    return _c.polymul(a1, a2)


def polydiv(u: Any, v: Any) -> tuple[LazyTensor, LazyTensor]:
    """Quotient and remainder, without its leading zeros: evaluates it now."""
    quotient, remainder = _c.polydiv(u, v)
    return quotient, remainder


def polyder(p: Any, m: Any = 1) -> LazyTensor:
    """The m-th derivative."""
    return _c.polyder(p, m)


def polyint(p: Any, m: Any = 1, k: Any = None) -> LazyTensor:
    """The m-th antiderivative, with constants of integration."""
    return _c.polyint(p, m, k)


def _check_sequence(function: str, value: Any) -> None:
    """That this is no number, of which a function of NumPy's that asks for sequences complains."""
    if getattr(value, "ndim", None) == 0 or isinstance(value, (bool, int, float, complex)):
        raise type_error(f"{function}: {value!r} is a number. A sequence is required.")


def poly(seq_of_zeros: Any) -> Any:
    """The polynomial with these zeros and a leading 1."""
    _check_sequence("poly", seq_of_zeros)
    zeros = asarray(seq_of_zeros)
    return 1.0 if zeros.shape == (0,) else _c.poly(zeros)


def roots(p: Any) -> LazyTensor:
    """The zeros of a polynomial: evaluates it now."""
    _check_sequence("roots", p)
    return _c.roots(p)


def polyfit(
    x: Any, y: Any, deg: Any, rcond: Any = None, full: bool = False, w: Any = None,
    cov: bool | str = False,
) -> Any:  # fmt: skip
    """The polynomial of a degree that is nearest to y at x by the squares of the distances; with
    `full`, also what lstsq says; with `cov`, also the covariance of the coefficients."""
    return _c.polyfit(x, y, deg, rcond, full, w, cov)
