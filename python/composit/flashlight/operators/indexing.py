"""torch's reading and writing at computed places."""

from __future__ import annotations

from typing import Any

import composit._core as _core
from composit import nn
from composit import numpy as cnp
from composit.flashlight.operators.promotion import cast
from composit.flashlight.operators.table import operator

_aten = _core.aten


@operator("embedding")
def _embedding(weight, indices, padding_idx=-1, scale_grad_by_freq=False, sparse=False):
    return nn.embedding(indices, weight)


def _places(indices: Any) -> tuple[Any, ...]:
    """torch's list of indices as NumPy's: None is a whole axis."""
    for index in indices:
        if index is not None and index.dtype.kind == "b":
            raise NotImplementedError(
                "a mask chooses elements, so values decide how many there are. torch.where is "
                "traced."
            )
    return tuple(slice(None) if index is None else index for index in indices)


@operator("index.Tensor", "_unsafe_index.Tensor")
def _index(self, indices):
    return self[_places(indices)]


@operator("index_put", "_unsafe_index_put")
def _index_put(self, indices, values, accumulate=False):
    values = cast(values, self.dtype)
    masks = [i for i in indices if i is not None]
    if len(masks) == 1 and masks[0].dtype.kind == "b" and indices[0] is masks[0]:
        return _put_by_mask(self, masks[0], values, accumulate)
    places = _places(indices)
    copy = self.copied()
    if accumulate:
        cnp.add.at(copy, places, values)
    else:
        copy[places] = values
    return copy


def _put_by_mask(self: Any, mask: Any, values: Any, accumulate: bool) -> Any:
    if values.size != 1:
        raise NotImplementedError("values are put where a mask says, so values decide their order.")
    wide = cnp.reshape(mask, mask.shape + (1,) * (self.ndim - mask.ndim))
    value = cnp.reshape(values, ())
    return cnp.where(wide, self + value if accumulate else value, self)


@operator("index_select")
def _index_select(self, dim, index):
    return _aten.index_select(self, dim, index)


@operator("take")
def _take(self, index):
    return cnp.take(cnp.reshape(self, (-1,)), index)


@operator("take_along_dim")
def _take_along_dim(self, indices, dim=None):
    return _aten.take_along_dim(self, indices, dim)


@operator("gather")
def _gather(self, dim, index, *, sparse_grad=False):
    return _aten.gather(self, dim, index)


@operator("scatter.src", "scatter.value", "scatter.reduce", "scatter.value_reduce")
def _scatter(self, dim, index, src=None, *, value=None, reduce=None):
    return _aten.scatter(self, dim, index, value if src is None else src, reduce or "")


@operator("scatter_add")
def _scatter_add(self, dim, index, src):
    return _aten.scatter(self, dim, index, src, "add")


@operator("index_add")
def _index_add(self, dim, index, source, *, alpha=1):
    return _aten.index_add(self, dim, index, source, None if alpha == 1 else alpha)


@operator("index_copy")
def _index_copy(self, dim, index, source):
    return _aten.index_copy(self, dim, index, source)


@operator("index_fill.int_Scalar", "index_fill.int_Tensor")
def _index_fill(self, dim, index, value):
    return _aten.index_copy(self, dim, index, cast(value, self.dtype))


@operator("slice_scatter")
def _slice_scatter(self, src, dim=0, start=None, end=None, step=1):
    copy = self.copied()
    copy[(slice(None),) * (dim % self.ndim) + (slice(start, end, step),)] = src
    return copy


@operator("select_scatter")
def _select_scatter(self, src, dim, index):
    copy = self.copied()
    copy[(slice(None),) * (dim % self.ndim) + (index,)] = src
    return copy


@operator("one_hot")
def _one_hot(self, num_classes=-1):
    if num_classes < 0:
        raise NotImplementedError("values decide how many classes there are. num_classes says it.")
    return nn.one_hot(self, num_classes, "int64")


@operator("bucketize.Tensor")
def _bucketize(self, boundaries, *, out_int32=False, right=False):
    return _aten.searchsorted(boundaries, self, right, None)


@operator("searchsorted.Tensor")
def _searchsorted(sorted_sequence, self, *, out_int32=False, right=False, side=None, sorter=None):
    if side not in (None, "left", "right"):
        raise RuntimeError(
            f"torch.searchsorted(): side can only be 'left' or 'right' but got {side}"
        )
    if side == "left" and right:
        raise RuntimeError(
            "torch.searchsorted(): side and right can't be set to opposites, got side of left "
            "while right was True"
        )
    return _aten.searchsorted(sorted_sequence, self, right or side == "right", sorter)
