"""The parts of numbers that may be complex, and questions about them."""

from __future__ import annotations

from typing import Any

import composit._core as _core
from composit._core import LazyScalar, LazyTensor

_c = _core.numpy


def real(val: Any) -> LazyTensor:
    """The real part, of a tensor as a view; of a real `val` that itself."""
    if isinstance(val, LazyTensor) and val.dtype.kind == "c":
        return _c.real_of(val)
    result = _c.real(val)
    is_itself = isinstance(val, LazyTensor) and not val.is_weak and val.dtype.kind != "c"
    return val if is_itself else result


def imag(val: Any) -> LazyTensor:
    """The imaginary part, of a tensor as a view; zeros of real numbers."""
    if isinstance(val, LazyTensor) and val.dtype.kind == "c":
        return _c.imag_of(val)
    result = _c.imag(val)
    if not isinstance(result, LazyScalar):
        result.is_writeable = False
    return result


def angle(z: Any, deg: bool = False) -> LazyTensor:
    """The angle of a number in the complex plane, in radians or degrees."""
    return _c.angle(z, deg)


def iscomplex(x: Any) -> LazyTensor:
    """Where the imaginary part is not zero."""
    return _c.iscomplex(x)


def isreal(x: Any) -> LazyTensor:
    """Where the imaginary part is zero."""
    return _c.isreal(x)


def iscomplexobj(x: Any) -> bool:
    """Whether the dtype is complex; of other objects no."""
    return not isinstance(x, (str, bytes, type(None))) and _c.iscomplexobj(x)


def isrealobj(x: Any) -> bool:
    """Whether the dtype is not complex; of other objects yes."""
    return not iscomplexobj(x)


def real_if_close(a: Any, tol: float = 100) -> LazyTensor:
    """The real part where all imaginary parts are within `tol` machine epsilons, else `a` itself;
    complex ones are evaluated now."""
    made = _c.real_if_close(a, tol)
    is_itself = isinstance(a, LazyTensor) and not a.is_weak and made.dtype == a.dtype
    return a if is_itself else made
