"""numpy.emath: functions whose results are complex where real ones would be NaN. Which they are
depends on the values, so these are evaluated when a function is called."""

from __future__ import annotations

from typing import Any

import composit._core as _core
from composit._core import LazyTensor, not_supported
from composit.numpy.complex_parts import isreal
from composit.numpy.creation import asarray

__all__ = ["arccos", "arcsin", "arctanh", "log", "log2", "log10", "logn", "power", "sqrt"]

_NARROW = frozenset(
    ("float32", "int8", "int16", "uint8", "uint16", "complex64")
)  # they become complex64


def _apply(name: str, *operands: Any) -> LazyTensor:
    return _core.numpy.apply(name, *operands)


def _is_any(function: str, x: LazyTensor, condition: LazyTensor) -> bool:
    if not x.has_value():
        raise not_supported(
            f"emath.{function}: whether the result is complex depends on the values of what "
            "depends on a placeholder. Inside compile, grad, vmap and wrap_as_operation use "
            f"numpy.{function}, of x.astype(complex) where it may be."
        )
    return bool(condition.any().evaluated())


def _is_real(x: LazyTensor) -> LazyTensor:
    return isreal(x)


def _complex(x: LazyTensor) -> LazyTensor:
    return x.astype("complex64" if x.dtype.name in _NARROW else "complex128")


def _negative(function: str, x: Any) -> tuple[LazyTensor, bool]:
    x = asarray(x)
    return x, _is_any(function, x, _is_real(x) & (x < 0))


def _of_positive(function: str, x: Any) -> LazyTensor:
    x, has_negative = _negative(function, x)
    return _complex(x) if has_negative else x


def _of_inside(function: str, x: Any) -> LazyTensor:
    x = asarray(x)
    return _complex(x) if _is_any(function, x, _is_real(x) & (_apply("absolute", x) > 1)) else x


def sqrt(x: Any) -> LazyTensor:
    """The square root, complex if an element is negative."""
    return _apply("sqrt", _of_positive("sqrt", x))


def log(x: Any) -> LazyTensor:
    """The natural logarithm, complex if an element is negative."""
    return _apply("log", _of_positive("log", x))


def log2(x: Any) -> LazyTensor:
    """The logarithm to base 2, complex if an element is negative."""
    return _apply("log2", _of_positive("log2", x))


def log10(x: Any) -> LazyTensor:
    """The logarithm to base 10, complex if an element is negative."""
    return _apply("log10", _of_positive("log10", x))


def logn(n: Any, x: Any) -> LazyTensor:
    """The logarithm of x to base n, complex if an element of either is negative."""
    x, n = _of_positive("log", x), _of_positive("log", n)
    return _apply("divide", _apply("log", x), _apply("log", n))


def power(x: Any, p: Any) -> LazyTensor:
    """x to the power p: complex if an element of x is negative, floating if one of p is."""
    x = _of_positive("power", x)
    p, has_negative = _negative("power", p)
    return _apply("power", x, p * 1.0 if has_negative else p)


def arccos(x: Any) -> LazyTensor:
    """The inverse cosine, complex if an element is outside -1 to 1."""
    return _apply("arccos", _of_inside("arccos", x))


def arcsin(x: Any) -> LazyTensor:
    """The inverse sine, complex if an element is outside -1 to 1."""
    return _apply("arcsin", _of_inside("arcsin", x))


def arctanh(x: Any) -> LazyTensor:
    """The inverse hyperbolic tangent, complex if an element is outside -1 to 1."""
    return _apply("arctanh", _of_inside("arctanh", x))
