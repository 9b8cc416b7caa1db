"""torch's reductions, and running ones."""

from __future__ import annotations

from typing import Any

import numpy as np

import composit._core as _core
from composit import nn
from composit import numpy as cnp
from composit.flashlight.operators.table import operator

_aten = _core.aten


def axes(dim: Any) -> Any:
    """torch's dim as NumPy's axis: no dimensions are all."""
    if dim is None or (isinstance(dim, (list, tuple)) and len(dim) == 0):
        return None
    return tuple(dim) if isinstance(dim, list) else dim


_summable = _aten.summable


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
    made = cnp.prod(_summable(self, dtype))
    return made if dtype is None else cnp.astype(made, dtype)


@operator("prod.dim_int")
def _prod_dim(self, dim, keepdim=False, *, dtype=None):
    axis, x = _flat(_summable(self, dtype), dim)
    made = cnp.prod(x, axis=axis, keepdims=keepdim)
    return made if dtype is None else cnp.astype(made, dtype)


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


@operator("max.dim")
def _max_dim(self, dim, keepdim=False):
    return _aten.picked(self, _argmax(self, dim, keepdim), dim, keepdim)


@operator("min.dim")
def _min_dim(self, dim, keepdim=False):
    return _aten.picked(self, _argmin(self, dim, keepdim), dim, keepdim)


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


@operator("var.correction")
def _var(self, dim=None, *, correction=None, keepdim=False):
    axis, x = _flat(self, dim)
    return cnp.var(x, axis=axis, ddof=1 if correction is None else correction, keepdims=keepdim)


@operator("std.correction")
def _std(self, dim=None, *, correction=None, keepdim=False):
    axis, x = _flat(self, dim)
    return root(
        cnp.var(x, axis=axis, ddof=1 if correction is None else correction, keepdims=keepdim)
    )


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
    return _aten.logsumexp(self, dim, keepdim)


@operator("softmax.int", "special_softmax", "_softmax", dtype=True)
def _softmax(self, dim, *_, dtype):
    x = cnp.astype(self, dtype)
    return nn.softmax(x, axis=dim) if x.ndim and x.size else cnp.ones(x.shape, dtype)


@operator("log_softmax.int", "special_log_softmax", "_log_softmax", dtype=True)
def _log_softmax(self, dim, *_, dtype):
    x = cnp.astype(self, dtype)
    return nn.log_softmax(x, dim) if x.ndim and x.size else cnp.zeros(x.shape, dtype)


@operator("softmin.int", dtype=True)
def _softmin(self, dim, *_, dtype):
    return _softmax(-self, dim, dtype=dtype)


@operator("cumsum")
def _cumsum(self, dim, *, dtype=None):
    x = _summable(self, dtype)
    return cnp.cumsum(x, axis=dim) if x.ndim else x


@operator("cumprod")
def _cumprod(self, dim, *, dtype=None):
    x = _summable(self, dtype)
    return cnp.cumprod(x, axis=dim) if x.ndim else x


root, vector_norm = _aten.root, _aten.vector_norm


@operator("linalg_vector_norm")
def _norm_as(self, ord=2, dim=None, keepdim=False, *, dtype=None):
    return vector_norm(self if dtype is None else cnp.astype(self, dtype), ord, dim, keepdim)


@operator("norm.ScalarOpt_dim")
def _norm(self, p, dim, keepdim=False):
    return vector_norm(self, 2 if p is None else p, dim, keepdim)


@operator("norm.Scalar")
def _norm_all(self, p=2):
    return vector_norm(self, p)


@operator("count_nonzero", "count_nonzero.dim_IntList")
def _count_nonzero(self, dim=None):
    return cnp.sum(cnp.astype(self != 0, np.int64), axis=axes(dim))
