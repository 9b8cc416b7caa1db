"""torch's reductions, and running ones."""

from __future__ import annotations

from typing import Any

import numpy as np

from composit import nn
from composit import numpy as cnp
from composit.flashlight.operators.promotion import floating, in_float32, is_floating
from composit.flashlight.operators.table import operator


def axes(dim: Any) -> Any:
    """torch's dim as NumPy's axis: no dimensions are all."""
    if dim is None or (isinstance(dim, (list, tuple)) and len(dim) == 0):
        return None
    return tuple(dim) if isinstance(dim, list) else dim


def _summable(x: Any, dtype: Any) -> Any:
    if dtype is not None:
        return cnp.astype(x, dtype)
    return x if is_floating(x.dtype) else cnp.astype(x, "int64")


def _flat(self: Any, dim: Any) -> Any:
    return (axes(dim), self) if self.ndim else (None, self)


@operator("sum", "sum.dim_IntList")
def _sum(self, dim=None, keepdim=False, *, dtype=None):
    axis, x = _flat(_summable(self, dtype), dim)
    return cnp.sum(x, axis=axis, keepdims=keepdim)


@operator("mean", "mean.dim")
def _mean(self, dim=None, keepdim=False, *, dtype=None):
    axis, x = _flat(self if dtype is None else cnp.astype(self, dtype), dim)
    return cnp.mean(x, axis=axis, keepdims=keepdim)


@operator("prod")
def _prod(self, *, dtype=None):
    return cnp.prod(_summable(self, dtype))


@operator("prod.dim_int")
def _prod_dim(self, dim, keepdim=False, *, dtype=None):
    axis, x = _flat(_summable(self, dtype), dim)
    return cnp.prod(x, axis=axis, keepdims=keepdim)


@operator("amax")
def _amax(self, dim=(), keepdim=False):
    axis, x = _flat(self, dim)
    return cnp.max(x, axis=axis, keepdims=keepdim)


@operator("amin")
def _amin(self, dim=(), keepdim=False):
    axis, x = _flat(self, dim)
    return cnp.min(x, axis=axis, keepdims=keepdim)


@operator("max", "amax.all")
def _max(self):
    return cnp.max(self)


@operator("min")
def _min(self):
    return cnp.min(self)


def _picked(self: Any, indices: Any, dim: int, keepdim: bool) -> tuple[Any, Any]:
    """The elements at the indices along dim, and the indices: so gradients go to the first."""
    if self.ndim == 0:
        return self, indices
    wide = cnp.expand_dims(indices, dim) if not keepdim else indices
    values = cnp.take_along_axis(self, wide, axis=dim)
    return (values if keepdim else cnp.squeeze(values, dim)), indices


@operator("max.dim")
def _max_dim(self, dim, keepdim=False):
    return _picked(self, _argmax(self, dim, keepdim), dim, keepdim)


@operator("min.dim")
def _min_dim(self, dim, keepdim=False):
    return _picked(self, _argmin(self, dim, keepdim), dim, keepdim)


@operator("argmax")
def _argmax(self, dim=None, keepdim=False):
    if self.ndim == 0:
        return cnp.zeros((), "int64")
    return cnp.argmax(self, axis=dim, keepdims=keepdim)


@operator("argmin")
def _argmin(self, dim=None, keepdim=False):
    if self.ndim == 0:
        return cnp.zeros((), "int64")
    return cnp.argmin(self, axis=dim, keepdims=keepdim)


@operator("any", "_is_any_true")
def _any(self):
    return cnp.any(self)


@operator("any.dim", "any.dims")
def _any_dim(self, dim=None, keepdim=False):
    axis, x = _flat(self, dim)
    return cnp.any(x, axis=axis, keepdims=keepdim)


@operator("all", "_is_all_true")
def _all(self):
    return cnp.all(self)


@operator("all.dim", "all.dims")
def _all_dim(self, dim=None, keepdim=False):
    axis, x = _flat(self, dim)
    return cnp.all(x, axis=axis, keepdims=keepdim)


def _correction(unbiased: Any, correction: Any) -> Any:
    if correction is not None:
        return correction
    return 1 if unbiased is None or unbiased else 0


@operator("var.correction")
def _var(self, dim=None, *, correction=None, keepdim=False):
    axis, x = _flat(self, dim)
    return cnp.var(x, axis=axis, ddof=_correction(None, correction), keepdims=keepdim)


@operator("std.correction")
def _std(self, dim=None, *, correction=None, keepdim=False):
    axis, x = _flat(self, dim)
    return root(cnp.var(x, axis=axis, ddof=_correction(None, correction), keepdims=keepdim))


@operator("var", "var.dim")
def _var_dim(self, dim=None, unbiased=True, keepdim=False):
    if isinstance(dim, bool):
        dim, unbiased = None, dim
    return _var(self, dim, correction=int(unbiased), keepdim=keepdim)


@operator("std", "std.dim")
def _std_dim(self, dim=None, unbiased=True, keepdim=False):
    if isinstance(dim, bool):
        dim, unbiased = None, dim
    return _std(self, dim, correction=int(unbiased), keepdim=keepdim)


@operator("var_mean.correction")
def _var_mean(self, dim=None, *, correction=None, keepdim=False):
    return _var(self, dim, correction=correction, keepdim=keepdim), _mean(self, dim, keepdim)


@operator("std_mean.correction")
def _std_mean(self, dim=None, *, correction=None, keepdim=False):
    return _std(self, dim, correction=correction, keepdim=keepdim), _mean(self, dim, keepdim)


@operator("logsumexp")
def _logsumexp(self, dim, keepdim=False):
    x = floating(self)
    if x.dtype.kind == "c":
        raise NotImplementedError("of complex numbers it is not traced yet.")
    axis = axes(dim)
    if axis is None or not x.ndim:
        flat = nn.logsumexp(cnp.reshape(x, (-1,)), 0, False)
        return cnp.reshape(flat, (1,) * x.ndim) if keepdim else flat
    if isinstance(axis, int) or len(axis) == 1:
        return nn.logsumexp(x, axis if isinstance(axis, int) else axis[0], keepdim)
    top = nn.stop_gradient(cnp.max(x, axis=axis, keepdims=True))
    top = cnp.where(cnp.isfinite(top), top, cnp.zeros((), x.dtype))
    total = cnp.log(cnp.sum(cnp.exp(x - top), axis=axis, keepdims=True)) + top
    return total if keepdim else cnp.squeeze(total, axis)


@operator("softmax.int", "special_softmax", "_softmax", dtype=True)
def _softmax(self, dim, *_, dtype):
    x = cnp.astype(self, dtype)
    return nn.softmax(x, axis=dim) if x.ndim else cnp.ones((), dtype)


@operator("log_softmax.int", "special_log_softmax", "_log_softmax", dtype=True)
def _log_softmax(self, dim, *_, dtype):
    x = cnp.astype(self, dtype)
    return nn.log_softmax(x, dim) if x.ndim else cnp.zeros((), dtype)


@operator("softmin.int", dtype=True)
def _softmin(self, dim, *_, dtype):
    return nn.softmax(-cnp.astype(self, dtype), axis=dim)


@operator("cumsum")
def _cumsum(self, dim, *, dtype=None):
    x = _summable(self, dtype)
    return cnp.cumsum(x, axis=dim) if x.ndim else x


@operator("cumprod")
def _cumprod(self, dim, *, dtype=None):
    x = _summable(self, dtype)
    return cnp.cumprod(x, axis=dim) if x.ndim else x


def root(x: Any) -> Any:
    """The square root, of slope 0 at 0 as torch has it for norms."""
    is_zero = x == 0
    zero, one = cnp.zeros((), x.dtype), cnp.ones((), x.dtype)
    return cnp.where(is_zero, zero, cnp.sqrt(cnp.where(is_zero, one, x)))


@operator("linalg_vector_norm")
def _norm_as(self, ord=2, dim=None, keepdim=False, *, dtype=None):
    return vector_norm(self if dtype is None else cnp.astype(self, dtype), ord, dim, keepdim)


@in_float32
def vector_norm(self: Any, ord: Any = 2, dim: Any = None, keepdim: bool = False) -> Any:
    """The norm over axes, or of all elements."""
    axis, x = _flat(self, dim)
    size = cnp.abs(x)
    if ord == 2:
        return root(cnp.sum(size * size, axis=axis, keepdims=keepdim))
    if ord == 1:
        return cnp.sum(size, axis=axis, keepdims=keepdim)
    if ord == float("inf"):
        return cnp.max(size, axis=axis, keepdims=keepdim)
    if ord == float("-inf"):
        return cnp.min(size, axis=axis, keepdims=keepdim)
    if ord == 0:
        return cnp.sum(cnp.astype(x != 0, size.dtype), axis=axis, keepdims=keepdim)
    return power_root(size, ord, axis, keepdim)


def power_root(size: Any, p: float, axis: Any, keepdim: bool = False) -> Any:
    """The p-norm of absolute values; slopes at zeros are 0, as torch has them."""
    if p <= 0:
        return cnp.power(cnp.sum(cnp.power(size, p), axis=axis, keepdims=keepdim), 1 / p)
    zero, one = cnp.zeros((), size.dtype), cnp.ones((), size.dtype)
    if p < 1:
        is_zero = size == 0
        powers = cnp.where(is_zero, zero, cnp.power(cnp.where(is_zero, one, size), p))
    else:
        powers = cnp.power(size, p)
    total = cnp.sum(powers, axis=axis, keepdims=keepdim)
    is_zero = total == 0
    return cnp.where(is_zero, zero, cnp.power(cnp.where(is_zero, one, total), 1 / p))


@operator("norm.ScalarOpt_dim")
def _norm(self, p, dim, keepdim=False):
    return vector_norm(self, 2 if p is None else p, dim, keepdim)


@operator("norm.Scalar")
def _norm_all(self, p=2):
    return vector_norm(self, p)


@operator("count_nonzero", "count_nonzero.dim_IntList")
def _count_nonzero(self, dim=None):
    return cnp.sum(cnp.astype(self != 0, np.int64), axis=axes(dim))
