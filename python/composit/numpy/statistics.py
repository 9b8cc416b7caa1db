"""Quantiles, covariances, histograms, and values between points."""

from __future__ import annotations

import warnings
from typing import Any

import composit._core as _core
from composit._core import LazyTensor, value_error
from composit.numpy._outputs import write_out
from composit.numpy.creation import asarray

_c = _core.numpy


def _method(method: Any) -> str:
    if not isinstance(method, str):
        raise value_error(f"quantile: {method!r} is not a valid method.")
    return method


def quantile(
    a: Any, q: Any, axis: Any = None, out: Any = None, overwrite_input: bool = False,
    method: str = "linear", keepdims: bool = False, *, weights: Any = None,
) -> LazyTensor:  # fmt: skip
    """The values below which shares q of the values over axes lie; NaN where there is one."""
    result = _c.quantile(a, q, axis, _method(method), keepdims, weights)
    return write_out("quantile", result, out, widens=True)


def percentile(
    a: Any, q: Any, axis: Any = None, out: Any = None, overwrite_input: bool = False,
    method: str = "linear", keepdims: bool = False, *, weights: Any = None,
) -> LazyTensor:  # fmt: skip
    """The values below which q percent of the values over axes lie; NaN where there is one."""
    result = _c.percentile(a, q, axis, _method(method), keepdims, weights)
    return write_out("percentile", result, out, widens=True)


def nanquantile(
    a: Any, q: Any, axis: Any = None, out: Any = None, overwrite_input: bool = False,
    method: str = "linear", keepdims: bool = False, *, weights: Any = None,
) -> LazyTensor:  # fmt: skip
    """quantile of what is not NaN; NaN where nothing is."""
    result = _c.nanquantile(a, q, axis, _method(method), keepdims, weights)
    return write_out("nanquantile", result, out, "unsafe", widens=True)


def nanpercentile(
    a: Any, q: Any, axis: Any = None, out: Any = None, overwrite_input: bool = False,
    method: str = "linear", keepdims: bool = False, *, weights: Any = None,
) -> LazyTensor:  # fmt: skip
    """percentile of what is not NaN; NaN where nothing is."""
    result = _c.nanpercentile(a, q, axis, _method(method), keepdims, weights)
    return write_out("nanpercentile", result, out, "unsafe", widens=True)


def nanmedian(
    a: Any, axis: Any = None, out: Any = None, overwrite_input: bool = False, keepdims: bool = False
) -> LazyTensor:
    """The middle of what is not NaN, or the mean of both middle ones; NaN where nothing is."""
    return write_out("nanmedian", _c.nanmedian(a, axis, keepdims), out, "unsafe", widens=True)


def cov(
    m: Any, y: Any = None, rowvar: bool = True, bias: bool = False, ddof: Any = None,
    fweights: Any = None, aweights: Any = None, *, dtype: Any = None,
) -> LazyTensor:  # fmt: skip
    """Covariances of variables, which are rows (or columns), over their observations."""
    return _c.cov(m, y, rowvar, bias, ddof, fweights, aweights, dtype)


def corrcoef(x: Any, y: Any = None, rowvar: bool = True, *, dtype: Any = None) -> LazyTensor:
    """Correlations of variables, which are rows (or columns), over their observations."""
    return _c.corrcoef(x, y, rowvar, dtype)


def _countable(function: str, a: Any, stacklevel: int = 3) -> LazyTensor:
    a = asarray(a)
    if a.dtype == bool:
        warnings.warn(
            f"{function}: Converting input from bool to uint8 for compatibility.",
            RuntimeWarning,
            stacklevel=stacklevel,
        )
    return a


def histogram_bin_edges(
    a: Any, bins: Any = 10, range: Any = None, weights: Any = None
) -> LazyTensor:
    """The edges of the bins of histogram; the name of an estimator evaluates `a` now."""
    x = _countable("histogram_bin_edges", a)
    return _c.histogram_bin_edges(x, bins, range, weights)


def histogram(
    a: Any, bins: Any = 10, range: Any = None, density: Any = None, weights: Any = None
) -> tuple[LazyTensor, LazyTensor]:
    """How many values, or what sum of weights, are in each bin, and the bins' edges."""
    x = _countable("histogram", a)
    counts, edges = _c.histogram(x, bins, range, density, weights)
    return counts, edges[0]


def histogramdd(
    sample: Any, bins: Any = 10, range: Any = None, density: Any = None, weights: Any = None
) -> tuple[LazyTensor, list[LazyTensor]]:
    """How many points, or what sum of weights, are in each box of bins, and the bins' edges."""
    return _c.histogramdd(sample, bins, range, density, weights)


def histogram2d(
    x: Any, y: Any, bins: Any = 10, range: Any = None, density: Any = None, weights: Any = None
) -> tuple[LazyTensor, LazyTensor, LazyTensor]:
    """How many points (x, y), or what sum of weights, are in each box, and the edges of both."""
    counts, edges = _c.histogram2d(x, y, bins, range, density, weights)
    return counts, edges[0], edges[1]


def digitize(x: Any, bins: Any, right: bool = False) -> LazyTensor:
    """How many of the bins, ascending or descending, each value is behind."""
    return _c.digitize(x, bins, right)


def bincount(x: Any, /, weights: Any = None, minlength: Any = 0) -> LazyTensor:
    """How often each integer from 0 to the largest occurs, or the sum of its weights: evaluates x
    now."""
    return _c.bincount(x, weights, _core.integer(minlength))


def interp(
    x: Any, xp: Any, fp: Any, left: Any = None, right: Any = None, period: Any = None
) -> LazyTensor:
    """At every x the line between the neighbours among the points (xp, fp)."""
    return _c.interp(x, xp, fp, left, right, period)
