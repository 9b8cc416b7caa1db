"""Reductions and running ones."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

import composit._core as _core
from composit import numpy as cnp
from composit._core import LazyTensor
from composit.flashlight.operators.promotion import floating, is_floating, together
from composit.flashlight.operators.reductions import axes
from composit.flashlight.operators.table import function_of
from composit.torch.calling import define, torch_function
from composit.torch.named_results import named

for _name in ("sum", "cumsum", "cumprod", "count_nonzero", "logsumexp", "amax", "amin"):
    define(function_of(_name), _name, is_inplace=_name.startswith("cum"))


def _place(name: str) -> None:
    function = function_of(name)

    @functools.wraps(function)
    def checked(input: Any, dim: Any = None, keepdim: bool = False) -> Any:
        _core.aten.check_not_empty(name, input, dim)
        return function(input, dim, keepdim)

    define(checked, name)


_place("argmax")
_place("argmin")


def _checked_float(name: str, input: Any, dtype: Any) -> None:
    if dtype is None and not is_floating(input.dtype):
        raise ValueError(
            f"{name}(): could not infer output dtype. Input dtype must be either a floating point "
            f"or complex dtype. Got: {_core.scalar_type_name(input.dtype.name)}"
        )


@torch_function("mean")
def _mean(input: Any, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
    """The mean of all elements, or along dimensions."""
    _checked_float("mean", input, dtype)
    return function_of("mean.dim")(input, dim, keepdim, dtype=dtype)


@torch_function("nanmean")
def _nanmean(input: Any, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
    x = input if dtype is None else cnp.astype(input, dtype)
    is_nan = cnp.isnan(x)
    total = cnp.sum(cnp.where(is_nan, cnp.zeros((), x.dtype), x), axis=axes(dim), keepdims=keepdim)
    count = cnp.sum(cnp.astype(~is_nan, x.dtype), axis=axes(dim), keepdims=keepdim)
    return total / count


@torch_function("nansum")
def _nansum(input: Any, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
    x = input if dtype is None else cnp.astype(input, dtype)
    kept = cnp.where(cnp.isnan(x), cnp.zeros((), x.dtype), x) if is_floating(x.dtype) else x
    return function_of("sum")(kept, dim, keepdim)


@torch_function("prod")
def _prod(input: Any, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
    if dim is None:
        return function_of("prod")(input, dtype=dtype)
    return function_of("prod.dim_int")(input, dim, keepdim, dtype=dtype)


def _extreme(name: str, elementwise: str) -> None:
    result = named(name)

    def function(input: Any, dim: Any = None, keepdim: bool = False, *, other: Any = None) -> Any:
        if isinstance(dim, LazyTensor):
            other, dim = dim, None
        if other is not None:
            return function_of(elementwise)(input, other)
        if dim is None:
            return function_of(name)(input)
        _core.aten.check_not_empty(name, input, dim)
        return result(*function_of(f"{name}.dim")(input, dim, keepdim))

    define(function, name, doc=f"The {name}imum of all, along a dimension with its place, or of "
           "two tensors' elements.")  # fmt: skip


_extreme("max", "maximum")
_extreme("min", "minimum")


@torch_function("aminmax")
def _aminmax(input: Any, *, dim: int | None = None, keepdim: bool = False) -> Any:
    """The least and the greatest element, of all or along a dimension."""
    dim = dim if input.ndim else None
    if dim is not None:
        _core.aten.check_not_empty("aminmax", input, dim)
    return named("aminmax")(
        cnp.min(input, axis=dim, keepdims=keepdim), cnp.max(input, axis=dim, keepdims=keepdim)
    )


def _truth(name: str) -> None:
    reduce = getattr(cnp, name)

    def function(input: Any, dim: Any = None, keepdim: bool = False) -> Any:
        result = reduce(input, axis=axes(dim) if input.ndim else None, keepdims=keepdim)
        return cnp.astype(result, "uint8") if input.dtype == np.dtype("uint8") else result

    define(function, name, doc=f"Whether {name} elements are true.")


_truth("all")
_truth("any")


def _spread(name: str) -> None:
    def function(
        input: Any, dim: Any = None, unbiased: Any = None, keepdim: bool = False, *,
        correction: Any = None,
    ) -> Any:  # fmt: skip
        if isinstance(dim, bool):
            dim, unbiased = None, dim
        if correction is None:
            correction = 1 if unbiased is None else int(unbiased)
        return function_of(f"{name}.correction")(input, dim, correction=correction, keepdim=keepdim)

    define(function, name, is_method=not name.endswith("mean"),
           doc=f"{name}: divided by the count less correction (1).")  # fmt: skip


for _name in ("var", "std", "var_mean", "std_mean"):
    _spread(_name)


@torch_function("norm")
def _norm(input: Any, p: Any = "fro", dim: Any = None, keepdim: bool = False, dtype: Any = None):
    """The p-norm of all elements, or along dimensions."""
    if p == "nuc":
        return cnp.linalg.norm(input, "nuc", (0, 1) if dim is None else tuple(dim), keepdim)
    order = 2 if p in ("fro", None) else p
    return function_of("linalg_vector_norm")(input, order, dim, keepdim, dtype=dtype)


@torch_function("norm_except_dim", is_method=False)
def _norm_except_dim(v: Any, pow: float = 2, dim: int = 0) -> Any:
    """The p-norm over all dimensions but one, which stays; of -1 over all."""
    return _core.aten.norm_except_dim(v, pow, dim)


@torch_function("softmax", is_neural=True, order="rows")
def _softmax(input: Any, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None) -> Any:
    """exp(x) / sum(exp(x)) along a dimension."""
    return function_of("softmax.int")(input, _implicit(input, dim), dtype=dtype or input.dtype)


@torch_function("log_softmax", is_neural=True, order="rows")
def _log_softmax(
    input: Any, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None
) -> Any:
    """log(softmax(x)) along a dimension."""
    return function_of("log_softmax.int")(input, _implicit(input, dim), dtype=dtype or input.dtype)


@torch_function("softmin", is_neural=True, is_function=False, is_method=False, order="rows")
def _softmin(input: Any, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None) -> Any:
    return function_of("softmin.int")(input, _implicit(input, dim), dtype=dtype or input.dtype)


def _implicit(input: Any, dim: int | None) -> int:
    if dim is None:
        return 0 if input.ndim in (0, 1, 3) else 1
    return dim


def _running(name: str) -> None:
    function = function_of(name)

    def running(input: Any, dim: int) -> Any:
        return named(name)(*function(input, dim))

    define(running, name, doc="The extreme so far and its last place, along a dimension.")


_running("cummax")
_running("cummin")


@torch_function("logcumsumexp")
def _logcumsumexp(input: Any, dim: int) -> Any:
    return _core.aten.logcumsumexp(input, dim)


@torch_function("median")
def _median(input: Any, dim: int | None = None, keepdim: bool = False) -> Any:
    """The middle element, the lower of two, NaN where there is one; with its place where a
    dimension is given."""
    found = _core.aten.median(input, dim, keepdim)
    return found[0] if dim is None else named("median")(*found)


@torch_function("quantile")
def _quantile(
    input: Any, q: Any, dim: int | None = None, keepdim: bool = False, *,
    interpolation: str = "linear",
) -> Any:  # fmt: skip
    """Quantiles of all elements, or along a dimension."""
    dim = dim if input.ndim else None
    return cnp.quantile(input, q, axis=dim, keepdims=keepdim, method=interpolation)


@torch_function("dist")
def _dist(input: Any, other: Any, p: Any = 2) -> Any:
    """The p-norm of input - other."""
    x, y = together(input, other)
    return function_of("linalg_vector_norm")(floating(x - y), p)


@torch_function("cov")
def _cov(input: Any, *, correction: int = 1, fweights: Any = None, aweights: Any = None) -> Any:
    found = cnp.cov(input, ddof=correction, fweights=fweights, aweights=aweights)
    return cnp.astype(found, floating(input).dtype)


@torch_function("corrcoef")
def _corrcoef(input: Any) -> Any:
    return cnp.astype(cnp.corrcoef(input), floating(input).dtype)
