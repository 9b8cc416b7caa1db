"""Functions that are computed when they are called, where that takes less time than nodes and a
plan: of known arrays of up to 16,384 elements. The graph is made when somebody asks for it."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from typing import Any

import composit._core as _core
from composit.numpy import _folding

# What these make depends on dtypes, shapes and numbers alone, and they write to nothing. (`isin`
# asks for values where they are known: NumPy's tables for small integers wrap.)
NAMES = (
    "all", "amax", "amin", "any", "append", "argmax", "argmin", "argpartition", "argsort",
    "around", "average", "bincount", "clip", "column_stack", "concat",
    "concatenate", "convolve", "copy", "corrcoef", "correlate", "count_nonzero", "cov", "cross",
    "cumprod", "cumsum", "diff", "digitize", "dot", "dstack", "ediff1d", "einsum", "fix",
    "gradient",
    "hstack", "inner", "interp", "isclose", "kron", "lexsort", "logspace", "matmul",
    "max", "mean", "median", "min", "nan_to_num", "nanmax", "nanmean", "nanmedian", "nanmin",
    "nanpercentile", "nanprod", "nanquantile", "nanstd", "nansum", "nanvar", "outer", "pad",
    "partition", "percentile", "polyval", "prod", "ptp", "quantile", "repeat", "roll", "rot90",
    "round", "searchsorted", "sort", "stack", "std", "sum", "take", "take_along_axis",
    "tensordot", "tile", "trace", "trapezoid", "tril", "triu", "unwrap", "vander", "var", "vdot",
    "vstack", "where",
)  # fmt: skip
FFT_NAMES = (
    "fft", "fft2", "fftn", "fftshift", "hfft", "ifft", "ifft2", "ifftn", "ifftshift", "ihfft",
    "irfft", "irfft2", "irfftn", "rfft", "rfft2", "rfftn",
)  # fmt: skip
LINALG_NAMES = (
    "cond", "det", "inv", "matrix_norm", "matrix_power", "norm", "pinv", "solve", "trace",
    "vector_norm",
)  # fmt: skip


def of_placeholders(function: Callable, arguments: list[Any], named: dict[str, Any]) -> Any:
    """What it returns; an exception where it warns, as it may only do for values."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return function(*arguments, **named)


def at_once(function: Callable, module: str) -> Any:
    """The function, as an object that looks like it and is found in that module."""
    made: Any = _core.FunctionAtOnce(of_placeholders, function)
    functools.update_wrapper(made, function)
    made.__module__ = module
    return made


def method(function: Callable) -> Any:
    """The same of a method of ufuncs, which is called for the ufunc first."""
    return at_once(function, function.__module__)


def method_at(function: Callable) -> Any:
    """The method `at` of ufuncs, as such an object: what add.at writes is known at once."""
    made: Any = _core.SumsAtOnce(_sums_at, function)
    functools.update_wrapper(made, function)
    return made


def _sums_at(ufunc: Any, a: Any, indices: Any, value: Any) -> Any:
    with _core.Reporting(_folding.name_of_at(ufunc, a, indices, (value,))):
        return _core.numpy.add_at(a, indices, value)


def replace(names: dict[str, Any], which: tuple[str, ...] = NAMES) -> None:
    """Puts such objects in place of functions of a module that users know."""
    for name in which:
        if name in names:
            names[name] = at_once(names[name], names["__name__"])
