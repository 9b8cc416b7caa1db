"""Reductions and running totals, with NumPy's arguments."""

from __future__ import annotations

import warnings
from typing import Any

from composit import _core
from composit._core import LazyTensor, with_location
from composit.numpy._ufunc import write_out

_c = _core.numpy


def _mask(where: Any) -> Any:
    return None if where is True or where is None else where


def sum(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: bool = False,
    initial: Any = None, where: Any = True,
) -> LazyTensor:  # fmt: skip
    """Sum over axes; narrow integers and bool are summed in 64 bits."""
    return write_out("add", _c.sum(a, axis, dtype, keepdims, initial, _mask(where)), out)


def prod(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: bool = False,
    initial: Any = None, where: Any = True,
) -> LazyTensor:  # fmt: skip
    """Product over axes."""
    return write_out("multiply", _c.prod(a, axis, dtype, keepdims, initial, _mask(where)), out)


def max(
    a: Any, axis: Any = None, out: Any = None, keepdims: bool = False, initial: Any = None,
    where: Any = True,
) -> LazyTensor:  # fmt: skip
    """Maximum over axes; NaN wins."""
    return write_out("maximum", _c.max(a, axis, keepdims, initial, _mask(where)), out)


def min(
    a: Any, axis: Any = None, out: Any = None, keepdims: bool = False, initial: Any = None,
    where: Any = True,
) -> LazyTensor:  # fmt: skip
    """Minimum over axes; NaN wins."""
    return write_out("minimum", _c.min(a, axis, keepdims, initial, _mask(where)), out)


amax = max
amin = min


def ptp(a: Any, axis: Any = None, out: Any = None, keepdims: bool = False) -> LazyTensor:
    """Maximum minus minimum."""
    return write_out("ptp", _c.ptp(a, axis, keepdims), out)


def mean(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: bool = False, *,
    where: Any = True,
) -> LazyTensor:  # fmt: skip
    """Arithmetic mean over axes."""
    _warn_of_few("Mean of empty slice", a, axis, 0, where)
    return write_out("mean", _c.mean(a, axis, dtype, keepdims, _mask(where)), out)


def _warn_of_few(message: str, a: Any, axis: Any, ddof: float, where: Any) -> None:
    """NumPy's warning where there are not more than ddof elements along the axes."""
    if where is not True or not isinstance(a, LazyTensor):
        return
    axes = range(a.ndim) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    count = 1
    for each in axes:
        if isinstance(each, int) and -a.ndim <= each < a.ndim:
            count *= a.shape[each]
    if isinstance(ddof, (int, float)) and count <= ddof:
        warnings.warn(message, RuntimeWarning, stacklevel=3)


def _ddof(function: str, ddof: float, correction: Any) -> float:
    if correction is None:
        return ddof
    if ddof != 0:
        raise ValueError(
            with_location(f"{function}: ddof and correction can't be provided simultaneously.")
        )
    return correction


def var(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, ddof: float = 0,
    keepdims: bool = False, *, where: Any = True, mean: Any = None, correction: Any = None,
) -> LazyTensor:  # fmt: skip
    """Variance over axes, divided by n - ddof."""
    ddof = _ddof("var", ddof, correction)
    _warn_of_few("Degrees of freedom <= 0 for slice", a, axis, ddof, where)
    return write_out("var", _c.var(a, axis, dtype, ddof, keepdims, _mask(where), mean), out)


def std(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, ddof: float = 0,
    keepdims: bool = False, *, where: Any = True, mean: Any = None, correction: Any = None,
) -> LazyTensor:  # fmt: skip
    """Standard deviation over axes."""
    ddof = _ddof("std", ddof, correction)
    _warn_of_few("Degrees of freedom <= 0 for slice", a, axis, ddof, where)
    return write_out("std", _c.std(a, axis, dtype, ddof, keepdims, _mask(where), mean), out)


def average(
    a: Any, axis: Any = None, weights: Any = None, returned: bool = False, *, keepdims: bool = False
) -> Any:
    """Weighted mean; with `returned`, also the sum of the weights."""
    result = _c.average(a, axis, weights, keepdims)
    if not returned:
        return result
    from composit.numpy import asarray, broadcast_to, ndim, ones_like, reshape

    if weights is None:
        weights = ones_like(a)
    elif ndim(weights) == 1 < ndim(a):  # along the axis
        place = _c.normalize_axis("average", _core.integer(axis), ndim(a))
        lengths = [1] * ndim(a)
        lengths[place] = -1
        weights = broadcast_to(reshape(weights, lengths), asarray(a).shape)
    total = sum(weights, axis=axis, dtype=result.dtype, keepdims=keepdims)
    return result, broadcast_to(total, result.shape)


def argmax(a: Any, axis: Any = None, out: Any = None, *, keepdims: bool = False) -> LazyTensor:
    """Position of the first maximum."""
    return write_out("argmax", _c.argmax(a, axis, keepdims), out)


def argmin(a: Any, axis: Any = None, out: Any = None, *, keepdims: bool = False) -> LazyTensor:
    """Position of the first minimum."""
    return write_out("argmin", _c.argmin(a, axis, keepdims), out)


def any(
    a: Any, axis: Any = None, out: Any = None, keepdims: bool = False, *, where: Any = True
) -> LazyTensor:
    """Whether any element is not zero."""
    return write_out("any", _c.any(a, axis, keepdims, _mask(where)), out)


def all(
    a: Any, axis: Any = None, out: Any = None, keepdims: bool = False, *, where: Any = True
) -> LazyTensor:
    """Whether all elements are not zero."""
    return write_out("all", _c.all(a, axis, keepdims, _mask(where)), out)


def count_nonzero(a: Any, axis: Any = None, *, keepdims: bool = False) -> LazyTensor:
    """How many elements are not zero."""
    return _c.count_nonzero(a, axis, keepdims)


def cumsum(a: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> LazyTensor:
    """Running sum."""
    return write_out("add", _c.cumsum(a, axis, dtype), out)


def cumprod(a: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> LazyTensor:
    """Running product."""
    return write_out("multiply", _c.cumprod(a, axis, dtype), out)
