"""torch's sorting; among equal elements the first comes first."""

from __future__ import annotations

from typing import Any

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
    order = _order(self, dim, False)
    order = order[(slice(None),) * (dim % self.ndim) + (slice(k - 1, k),)]
    values = cnp.take_along_axis(self, order, axis=dim)
    return (values, order) if keepdim else (cnp.squeeze(values, dim), cnp.squeeze(order, dim))
