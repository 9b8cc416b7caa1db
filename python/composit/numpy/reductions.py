"""Reductions and running totals, with NumPy's arguments."""

from __future__ import annotations

from typing import Any

import composit._core as _core
from composit._core import LazyTensor, value_error
from composit.numpy._outputs import write_out
from composit.numpy.creation import asarray

_c = _core.numpy


def _running_dtype(a: Any, dtype: Any, out: Any) -> Any:
    """The dtype in which sums and products are formed: with an `out` that which both have in
    common, as in NumPy, and 64 bits for integers only without one."""
    return dtype if out is None else _c.running_dtype(a, dtype, out)


def _divided_into(function: str, result: LazyTensor, out: Any) -> Any:
    """A mean or variance written into `out`, whatever its dtype: NumPy divides there. A quotient of
    complex numbers has no imaginary part only if it is finite."""
    dtype = getattr(_c.the_output(out), "dtype", None)
    if dtype is not None and dtype.kind == "c" and result.dtype.kind != "c":
        result = _c.apply("divide", _c.astype(result, dtype), 1)
    return write_out(function, result, out, "unsafe")


def _mask(where: Any) -> Any:
    return None if where is True or where is None else where


def sum(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: bool = False,
    initial: Any = None, where: Any = True,
) -> LazyTensor:  # fmt: skip
    """Sum over axes; narrow integers and bool are summed in 64 bits."""
    dtype = _running_dtype(a, dtype, out)
    return write_out("add", _c.sum(a, axis, dtype, keepdims, initial, _mask(where)), out, "unsafe")


def prod(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: bool = False,
    initial: Any = None, where: Any = True,
) -> LazyTensor:  # fmt: skip
    """Product over axes."""
    dtype = _running_dtype(a, dtype, out)
    result = _c.prod(a, axis, dtype, keepdims, initial, _mask(where))
    return write_out("multiply", result, out, "unsafe")


def max(
    a: Any, axis: Any = None, out: Any = None, keepdims: bool = False, initial: Any = None,
    where: Any = True,
) -> LazyTensor:  # fmt: skip
    """Maximum over axes; NaN wins."""
    result = _c.max(a, axis, keepdims, initial, _mask(where))
    return write_out("maximum", result, out, "unsafe")


def min(
    a: Any, axis: Any = None, out: Any = None, keepdims: bool = False, initial: Any = None,
    where: Any = True,
) -> LazyTensor:  # fmt: skip
    """Minimum over axes; NaN wins."""
    result = _c.min(a, axis, keepdims, initial, _mask(where))
    return write_out("minimum", result, out, "unsafe")


amax = max
amin = min


def ptp(a: Any, axis: Any = None, out: Any = None, keepdims: bool = False) -> LazyTensor:
    """Maximum minus minimum."""
    result = _c.ptp(a, axis, keepdims)
    target = getattr(_c.the_output(out), "dtype", None)
    if target is not None and asarray(a).dtype.kind not in "fc":
        # The minimum is subtracted from the maximum in out.
        _c.check_difference(asarray(a).dtype, target)
    return write_out("ptp", result, out)


def mean(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: bool = False, *,
    where: Any = True,
) -> LazyTensor:  # fmt: skip
    """Arithmetic mean over axes."""
    _c.warn_of_few("Mean of empty slice", a, axis, 0, where)
    return _divided_into("mean", _c.mean(a, axis, dtype, keepdims, _mask(where)), out)


def _ddof(function: str, ddof: float, correction: Any) -> float:
    if correction is None:
        return ddof
    if ddof != 0:
        raise value_error(f"{function}: ddof and correction can't be provided simultaneously.")
    return correction


def var(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, ddof: float = 0,
    keepdims: bool = False, *, where: Any = True, mean: Any = None, correction: Any = None,
) -> LazyTensor:  # fmt: skip
    """Variance over axes, divided by n - ddof."""
    ddof = _ddof("var", ddof, correction)
    _c.warn_of_few("Degrees of freedom <= 0 for slice", a, axis, ddof, where)
    result = _c.var(a, axis, dtype, ddof, keepdims, _mask(where), mean)
    return _divided_into("var", result, out)


def std(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, ddof: float = 0,
    keepdims: bool = False, *, where: Any = True, mean: Any = None, correction: Any = None,
) -> LazyTensor:  # fmt: skip
    """Standard deviation over axes."""
    ddof = _ddof("std", ddof, correction)
    _c.warn_of_few("Degrees of freedom <= 0 for slice", a, axis, ddof, where)
    result = _c.std(a, axis, dtype, ddof, keepdims, _mask(where), mean)
    return _root_into("std", result, out)


def _root_into(function: str, result: LazyTensor, out: Any) -> Any:
    """A standard deviation written into `out`: the root is taken of what has been divided there."""
    target = getattr(_c.the_output(out), "dtype", result.dtype)
    is_divided = target.kind in "fc" and result.dtype.kind != "c"
    return (_divided_into if is_divided else write_out)(function, result, out)


def average(
    a: Any, axis: Any = None, weights: Any = None, returned: bool = False, *, keepdims: bool = False
) -> Any:
    """Weighted mean; with `returned`, also the sum of the weights."""
    result, sums = _c.average(a, axis, weights, keepdims)
    return (result, sums) if returned else result


def argmax(a: Any, axis: Any = None, out: Any = None, *, keepdims: bool = False) -> LazyTensor:
    """Position of the first maximum."""
    result = _c.argmax(a, axis, keepdims)
    _c.check_buffer(result, out)
    return write_out("argmax", result, out, "unsafe")


def argmin(a: Any, axis: Any = None, out: Any = None, *, keepdims: bool = False) -> LazyTensor:
    """Position of the first minimum."""
    result = _c.argmin(a, axis, keepdims)
    _c.check_buffer(result, out)
    return write_out("argmin", result, out, "unsafe")


def any(
    a: Any, axis: Any = None, out: Any = None, keepdims: bool = False, *, where: Any = True
) -> LazyTensor:
    """Whether any element is not zero."""
    return write_out("any", _c.any(a, axis, keepdims, _mask(where)), out, "unsafe")


def all(
    a: Any, axis: Any = None, out: Any = None, keepdims: bool = False, *, where: Any = True
) -> LazyTensor:
    """Whether all elements are not zero."""
    return write_out("all", _c.all(a, axis, keepdims, _mask(where)), out, "unsafe")


def count_nonzero(a: Any, axis: Any = None, *, keepdims: bool = False) -> LazyTensor:
    """How many elements are not zero."""
    return _c.count_nonzero(a, axis, keepdims)


def cumsum(a: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> LazyTensor:
    """Running sum."""
    return write_out("add", _c.cumsum(a, axis, _running_dtype(a, dtype, out)), out, "unsafe")


def cumprod(a: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> LazyTensor:
    """Running product."""
    return write_out("multiply", _c.cumprod(a, axis, _running_dtype(a, dtype, out)), out, "unsafe")
