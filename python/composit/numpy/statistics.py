"""Quantiles, covariances, histograms, and values between points."""

from __future__ import annotations

import warnings
from typing import Any

import composit._core as _core
from composit import _mismatch
from composit._core import LazyTensor, type_error, value_error
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


def _check_inexact(function: str, dtype: Any) -> None:
    if dtype is not None and _core.dtype_of(dtype).kind not in "fc":
        found = _core.dtype_of(dtype)
        raise type_error(f"{function}: dtype is {found}. A float is required.")


def cov(
    m: Any, y: Any = None, rowvar: bool = True, bias: bool = False, ddof: Any = None,
    fweights: Any = None, aweights: Any = None, *, dtype: Any = None,
) -> LazyTensor:  # fmt: skip
    """Covariances of variables, which are rows (or columns), over their observations."""
    _check_inexact("cov", dtype)
    if ddof is not None:
        number = _core.number(ddof)
        if number != int(number):
            raise value_error(f"cov: ddof must be integer, not {ddof!r}.")
        ddof = int(number)
    result, has_no_freedom = _c.cov(m, y, rowvar, bias, ddof, fweights, aweights, dtype)
    if has_no_freedom:
        warnings.warn("cov: Degrees of freedom <= 0 for slice.", RuntimeWarning, stacklevel=2)
    return result


def corrcoef(x: Any, y: Any = None, rowvar: bool = True, *, dtype: Any = None) -> LazyTensor:
    """Correlations of variables, which are rows (or columns), over their observations."""
    _check_inexact("corrcoef", dtype)
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


def _bins(function: str, bins: Any) -> Any:
    """bins as a text, an integer, or something with one dimension or more."""
    if isinstance(bins, (str, list, tuple, range)) or getattr(bins, "ndim", 0) > 0:
        return bins
    try:
        return _core.integer(bins)
    except TypeError:
        required = "`bins` must be an integer, a string, or an array"
        raise type_error(f"{function}: {required}, not {bins!r}.") from None


def histogram_bin_edges(
    a: Any, bins: Any = 10, range: Any = None, weights: Any = None
) -> LazyTensor:
    """The edges of the bins of histogram; the name of an estimator evaluates `a` now."""
    x = _countable("histogram_bin_edges", a)
    return _c.histogram_bin_edges(x, _bins("histogram_bin_edges", bins), range, weights)


def histogram(
    a: Any, bins: Any = 10, range: Any = None, density: Any = None, weights: Any = None
) -> tuple[LazyTensor, LazyTensor]:
    """How many values, or what sum of weights, are in each bin, and the bins' edges."""
    x = _countable("histogram", a)
    counts, edges = _c.histogram(x, _bins("histogram", bins), range, density, weights)
    return counts, edges[0]


def histogramdd(
    sample: Any, bins: Any = 10, range: Any = None, density: Any = None, weights: Any = None
) -> tuple[LazyTensor, list[LazyTensor]]:
    """How many points, or what sum of weights, are in each box of bins, and the bins' edges."""
    if getattr(sample, "ndim", None) != 2:
        sample = _c.transpose(_c.atleast_2d(asarray(sample)), None)
    rank = sample.shape[1]
    try:
        each = list(bins)
    except TypeError:
        each = [bins] * rank
    counts = [_bins("histogramdd", item) for item in each]
    return _c.histogramdd(sample, counts, _ranges("histogramdd", range, rank), density, weights)


def _ranges(function: str, range: Any, rank: int) -> list[Any]:
    """A range for each dimension, or none."""
    if range is None:
        return []
    if not hasattr(range, "__iter__"):
        raise TypeError(_mismatch.wrong(range, "A sequence of pairs"))
    ranges = list(range)
    if len(ranges) != rank:
        message = f"{function}: range argument must have one entry per dimension"
        raise value_error(f"{message}: {len(ranges)} are given for {rank}.")
    return ranges


def histogram2d(
    x: Any, y: Any, bins: Any = 10, range: Any = None, density: Any = None, weights: Any = None
) -> tuple[LazyTensor, LazyTensor, LazyTensor]:
    """How many points (x, y), or what sum of weights, are in each box, and the edges of both."""
    each = [_bins("histogram2d", item) for item in _bins_of_two(bins)]
    ranges = _ranges("histogram2d", range, 2)
    counts, edges = _c.histogram2d(x, y, each, ranges, density, weights)
    return counts, edges[0], edges[1]


def _bins_of_two(bins: Any) -> Any:
    """Those of either axis: edges of both, unless there are one or two."""
    try:
        count = len(bins)
    except TypeError:
        return [bins] * 2
    return list(bins) if count in (1, 2) else [asarray(bins)] * 2


def digitize(x: Any, bins: Any, right: bool = False) -> LazyTensor:
    """How many of the bins, ascending or descending, each value is behind."""
    return _c.digitize(x, bins, right)


def bincount(x: Any, /, weights: Any = None, minlength: Any = 0) -> LazyTensor:
    """How often each integer from 0 to the largest occurs, or the sum of its weights: evaluates x
    now."""
    if isinstance(x, (list, tuple)):
        found = asarray(x)
        x = _c.astype(found, int) if found.dtype.kind == "f" else found
    return _c.bincount(x, weights, _core.integer(minlength))


def interp(
    x: Any, xp: Any, fp: Any, left: Any = None, right: Any = None, period: Any = None
) -> LazyTensor:
    """At every x the line between the neighbours among the points (xp, fp)."""
    return _c.interp(x, xp, fp, left, right, period)
