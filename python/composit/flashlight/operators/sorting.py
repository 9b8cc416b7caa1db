"""torch's sorting; among equal elements the first comes first."""

from __future__ import annotations

from typing import Any

import composit._core as _core
from composit import numpy as cnp
from composit.flashlight.operators.table import operator


def _order(x: Any, dim: int, descending: bool) -> Any:
    if not descending:
        return cnp.argsort(x, axis=dim, kind="stable")
    length = x.shape[dim]
    backwards = cnp.argsort(cnp.flip(x, dim), axis=dim, kind="stable")
    return cnp.flip(length - 1 - backwards, dim)


@operator("sort", "sort.stable")
def _sort(self, dim=-1, descending=False, *, stable=False):
    if not self.ndim:
        return self, cnp.zeros((), "int64")
    order = _order(self, dim, descending)
    return cnp.take_along_axis(self, order, axis=dim), order


@operator("argsort", "argsort.stable")
def _argsort(self, dim=-1, descending=False, *, stable=False):
    return _order(self, dim, descending) if self.ndim else cnp.zeros((), "int64")


@operator("topk")
def _topk(self, k, dim=-1, largest=True, sorted=True):
    if not self.ndim:
        return self, cnp.zeros((), "int64")
    order = _order(self, dim, largest)
    order = order[(slice(None),) * (dim % self.ndim) + (slice(0, k),)]
    return cnp.take_along_axis(self, order, axis=dim), order


@operator("kthvalue")
def _kthvalue(self, k, dim=-1, keepdim=False):
    if not self.ndim:
        return self, cnp.zeros((), "int64")
    order = _order(self, dim, False)
    order = order[(slice(None),) * (dim % self.ndim) + (slice(k - 1, k),)]
    values = cnp.take_along_axis(self, order, axis=dim)
    return (values, order) if keepdim else (cnp.squeeze(values, dim), cnp.squeeze(order, dim))


def _median(x: Any, dim: int, keepdim: bool) -> tuple[Any, Any]:
    """The lower of the two in the middle, NaN where there is one, and where it stands."""
    if x.dtype.kind == "f":
        return _kthvalue_or_nan(x, (x.shape[dim] + 1) // 2, dim, keepdim)
    return _kthvalue(x, (x.shape[dim] + 1) // 2, dim, keepdim)


def _kthvalue_or_nan(x: Any, k: int, dim: int, keepdim: bool) -> tuple[Any, Any]:
    is_nan = cnp.isnan(x)
    order = _order(x, dim, False)
    place = order[(slice(None),) * (dim % x.ndim) + (slice(k - 1, k),)]
    first = cnp.expand_dims(cnp.argmax(is_nan, axis=dim), dim)
    place = cnp.where(cnp.any(is_nan, axis=dim, keepdims=True), first, place)
    values = cnp.take_along_axis(x, place, axis=dim)
    return (values, place) if keepdim else (cnp.squeeze(values, dim), cnp.squeeze(place, dim))


@operator("median.dim")
def _median_dim(self, dim, keepdim=False):
    return _median(self, dim, keepdim) if self.ndim else (self, cnp.zeros((), "int64"))


@operator("median")
def _median_all(self):
    return _median(cnp.reshape(self, (-1,)), 0, False)[0]


operator("cummax")(_core.aten.running_maximum)
operator("cummin")(_core.aten.running_minimum)
