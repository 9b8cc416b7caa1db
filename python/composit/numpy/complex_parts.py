"""The parts of numbers that may be complex, and questions about them."""

from __future__ import annotations

from typing import Any

from composit import _core
from composit._core import LazyTensor
from composit.numpy._ufunc import masked_by, write_out

_c = _core.numpy


def real(val: Any) -> LazyTensor:
    """The real part: `val` itself, as complex tensors cannot be computed with yet."""
    result = _c.real(val)
    return val if isinstance(val, LazyTensor) and not val.is_weak else result


def imag(val: Any) -> LazyTensor:
    """The imaginary part: zeros."""
    return _c.imag(val)


def conjugate(
    x: Any, /, out: Any = None, *, where: Any = True, casting: str = "same_kind", order: str = "K",
    dtype: Any = None, subok: bool = True,
) -> LazyTensor:  # fmt: skip
    """The complex conjugate: x itself; int8 for bool."""
    result = _c.conjugate(x) if dtype is None else _c.conjugate(_c.apply_in("positive", dtype, x))
    return write_out("conjugate", masked_by("conjugate", result, where, out), out)


conj = conjugate


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
    """Whether the dtype is complex."""
    return _c.iscomplexobj(x)


def isrealobj(x: Any) -> bool:
    """Whether the dtype is not complex."""
    return not _c.iscomplexobj(x)


def real_if_close(a: Any, tol: float = 100) -> LazyTensor:
    """The real part where the imaginary one is small: `a` itself."""
    result = _c.real_if_close(a)
    return a if isinstance(a, LazyTensor) and not a.is_weak else result
