"""torch's sorting; among equal elements the first comes first."""

from __future__ import annotations

import composit._core as _core
from composit.flashlight.operators.table import operator

_aten = _core.aten


@operator("sort", "sort.stable")
def _sort(self, dim=-1, descending=False, *, stable=False):
    return _aten.sort(self, dim, descending)


@operator("argsort", "argsort.stable")
def _argsort(self, dim=-1, descending=False, *, stable=False):
    return _aten.argsort(self, dim, descending)


@operator("topk")
def _topk(self, k, dim=-1, largest=True, sorted=True):
    return _aten.topk(self, k, dim, largest)


@operator("kthvalue")
def _kthvalue(self, k, dim=-1, keepdim=False):
    return _aten.kthvalue(self, k, dim, keepdim)


@operator("median.dim")
def _median_dim(self, dim, keepdim=False):
    return _aten.median(self, dim, keepdim)


@operator("median")
def _median_all(self):
    return _aten.median(self, None, False)[0]


operator("cummax")(_aten.running_maximum)
operator("cummin")(_aten.running_minimum)
