"""Reductions and running totals that pass over NaN, with NumPy's arguments."""

from __future__ import annotations

from typing import Any

import composit._core as _core
from composit import _mismatch
from composit._core import LazyTensor, type_error
from composit.numpy._outputs import write_out
from composit.numpy.creation import asarray
from composit.numpy.reductions import (
    _ddof,
    _divided_into,
    _mask,
    _root_into,
    _running_dtype,
)  # fmt: skip

_c = _core.numpy


def nansum(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: bool = False,
    initial: Any = None, where: Any = True,
) -> LazyTensor:  # fmt: skip
    """Sum over axes, NaN as 0."""
    dtype = _running_dtype(a, dtype, out)
    result = _c.nansum(a, axis, dtype, keepdims, initial, _mask(where))
    return write_out("add", result, out, "unsafe")


def nanprod(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: bool = False,
    initial: Any = None, where: Any = True,
) -> LazyTensor:  # fmt: skip
    """Product over axes, NaN as 1."""
    dtype = _running_dtype(a, dtype, out)
    result = _c.nanprod(a, axis, dtype, keepdims, initial, _mask(where))
    return write_out("multiply", result, out, "unsafe")


def nanmax(
    a: Any, axis: Any = None, out: Any = None, keepdims: bool = False, initial: Any = None,
    where: Any = True,
) -> LazyTensor:  # fmt: skip
    """Maximum of what is not NaN; NaN where there is nothing else."""
    result = _c.nanmax(a, axis, keepdims, initial, _mask(where))
    return write_out("fmax", result, out, "unsafe")


def nanmin(
    a: Any, axis: Any = None, out: Any = None, keepdims: bool = False, initial: Any = None,
    where: Any = True,
) -> LazyTensor:  # fmt: skip
    """Minimum of what is not NaN; NaN where there is nothing else."""
    result = _c.nanmin(a, axis, keepdims, initial, _mask(where))
    return write_out("fmin", result, out, "unsafe")


def nanmean(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: bool = False, *,
    where: Any = True,
) -> LazyTensor:  # fmt: skip
    """Arithmetic mean of what is not NaN."""
    _check_inexact_output("nanmean", a, out)
    return _divided_into("nanmean", _c.nanmean(a, axis, dtype, keepdims, _mask(where)), out)


def _check_inexact_output(function: str, a: Any, out: Any) -> None:
    """That the mean of floats is not written into integers."""
    if out is None or asarray(a).dtype.kind not in "fc":
        return
    if not hasattr(out, "dtype"):
        raise AttributeError(_mismatch.wrong(out, "A tensor or ndarray"))
    if out.dtype.kind not in "fc":
        raise type_error(f"{function}: If a is inexact, then out must be inexact, not {out.dtype}.")


def nanvar(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, ddof: float = 0,
    keepdims: bool = False, *, where: Any = True, mean: Any = None, correction: Any = None,
) -> LazyTensor:  # fmt: skip
    """Variance of what is not NaN, divided by its count - ddof."""
    ddof = _ddof("nanvar", ddof, correction)
    _check_inexact_output("nanvar", a, out)
    result = _c.nanvar(a, axis, dtype, ddof, keepdims, _mask(where), mean)
    return _divided_into("nanvar", result, out)


def nanstd(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, ddof: float = 0,
    keepdims: bool = False, *, where: Any = True, mean: Any = None, correction: Any = None,
) -> LazyTensor:  # fmt: skip
    """Standard deviation of what is not NaN."""
    ddof = _ddof("nanstd", ddof, correction)
    _check_inexact_output("nanstd", a, out)
    result = _c.nanstd(a, axis, dtype, ddof, keepdims, _mask(where), mean)
    return _root_into("nanstd", result, out)


def nanargmax(a: Any, axis: Any = None, out: Any = None, *, keepdims: bool = False) -> LazyTensor:
    """Position of the first maximum of what is not NaN; ValueError where all is NaN, for which
    floats are evaluated now."""
    _check_axes("nanargmax", a, axis)
    result = _c.nanargmax(a, axis, keepdims)
    _c.check_buffer(result, out)
    return write_out("nanargmax", result, out, "unsafe")


def _check_axes(function: str, a: Any, axis: Any) -> None:
    """What NumPy says of several axes of floats before it wants one."""
    if isinstance(axis, (tuple, list)) and asarray(a).dtype.kind in "fc" and asarray(a).size:
        _c.places_of(function, axis, asarray(a).ndim)


def nanargmin(a: Any, axis: Any = None, out: Any = None, *, keepdims: bool = False) -> LazyTensor:
    """Position of the first minimum of what is not NaN; ValueError where all is NaN, for which
    floats are evaluated now."""
    _check_axes("nanargmin", a, axis)
    result = _c.nanargmin(a, axis, keepdims)
    _c.check_buffer(result, out)
    return write_out("nanargmin", result, out, "unsafe")


def nancumsum(a: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> LazyTensor:
    """Running sum, NaN as 0."""
    return write_out("add", _c.nancumsum(a, axis, _running_dtype(a, dtype, out)), out, "unsafe")


def nancumprod(a: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> LazyTensor:
    """Running product, NaN as 1."""
    result = _c.nancumprod(a, axis, _running_dtype(a, dtype, out))
    return write_out("multiply", result, out, "unsafe")
