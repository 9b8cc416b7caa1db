"""Reductions and running totals that pass over NaN, with NumPy's arguments."""

from __future__ import annotations

from typing import Any

from composit import _core
from composit._core import LazyTensor
from composit.numpy._ufunc import write_out
from composit.numpy.reductions import _ddof, _mask

_c = _core.numpy


def nansum(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: bool = False,
    initial: Any = None, where: Any = True,
) -> LazyTensor:  # fmt: skip
    """Sum over axes, NaN as 0."""
    return write_out("add", _c.nansum(a, axis, dtype, keepdims, initial, _mask(where)), out)


def nanprod(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: bool = False,
    initial: Any = None, where: Any = True,
) -> LazyTensor:  # fmt: skip
    """Product over axes, NaN as 1."""
    return write_out("multiply", _c.nanprod(a, axis, dtype, keepdims, initial, _mask(where)), out)


def nanmax(
    a: Any, axis: Any = None, out: Any = None, keepdims: bool = False, initial: Any = None,
    where: Any = True,
) -> LazyTensor:  # fmt: skip
    """Maximum of what is not NaN; NaN where there is nothing else."""
    return write_out("fmax", _c.nanmax(a, axis, keepdims, initial, _mask(where)), out)


def nanmin(
    a: Any, axis: Any = None, out: Any = None, keepdims: bool = False, initial: Any = None,
    where: Any = True,
) -> LazyTensor:  # fmt: skip
    """Minimum of what is not NaN; NaN where there is nothing else."""
    return write_out("fmin", _c.nanmin(a, axis, keepdims, initial, _mask(where)), out)


def nanmean(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: bool = False, *,
    where: Any = True,
) -> LazyTensor:  # fmt: skip
    """Arithmetic mean of what is not NaN."""
    return write_out("nanmean", _c.nanmean(a, axis, dtype, keepdims, _mask(where)), out)


def nanvar(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, ddof: float = 0,
    keepdims: bool = False, *, where: Any = True, mean: Any = None, correction: Any = None,
) -> LazyTensor:  # fmt: skip
    """Variance of what is not NaN, divided by its count - ddof."""
    ddof = _ddof("nanvar", ddof, correction)
    return write_out("nanvar", _c.nanvar(a, axis, dtype, ddof, keepdims, _mask(where), mean), out)


def nanstd(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, ddof: float = 0,
    keepdims: bool = False, *, where: Any = True, mean: Any = None, correction: Any = None,
) -> LazyTensor:  # fmt: skip
    """Standard deviation of what is not NaN."""
    ddof = _ddof("nanstd", ddof, correction)
    return write_out("nanstd", _c.nanstd(a, axis, dtype, ddof, keepdims, _mask(where), mean), out)


def nanargmax(a: Any, axis: Any = None, out: Any = None, *, keepdims: bool = False) -> LazyTensor:
    """Position of the first maximum of what is not NaN; ValueError where all is NaN, for which
    floats are evaluated now."""
    return write_out("nanargmax", _c.nanargmax(a, axis, keepdims), out)


def nanargmin(a: Any, axis: Any = None, out: Any = None, *, keepdims: bool = False) -> LazyTensor:
    """Position of the first minimum of what is not NaN; ValueError where all is NaN, for which
    floats are evaluated now."""
    return write_out("nanargmin", _c.nanargmin(a, axis, keepdims), out)


def nancumsum(a: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> LazyTensor:
    """Running sum, NaN as 0."""
    return write_out("add", _c.nancumsum(a, axis, dtype), out)


def nancumprod(a: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> LazyTensor:
    """Running product, NaN as 1."""
    return write_out("multiply", _c.nancumprod(a, axis, dtype), out)
