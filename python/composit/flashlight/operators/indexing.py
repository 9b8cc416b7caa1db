"""torch's reading and writing at computed places."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from composit import nn
from composit import numpy as cnp
from composit.flashlight.operators.promotion import cast
from composit.flashlight.operators.table import operator


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
    return cnp.take(self, cnp.reshape(index, (-1,)), axis=dim) if self.ndim else self


@operator("take")
def _take(self, index):
    return cnp.take(cnp.reshape(self, (-1,)), index)


@operator("take_along_dim")
def _take_along_dim(self, indices, dim=None):
    if dim is None:
        return cnp.take(cnp.reshape(self, (-1,)), cnp.reshape(indices, (-1,)))
    return cnp.take_along_axis(self, indices, axis=dim)


def _trimmed(x: Any, shape: Any, dim: int) -> Any:
    """x as far as the shape goes, but for dim."""
    dim = dim % x.ndim
    return x[tuple(slice(None) if i == dim else slice(0, n) for i, n in enumerate(shape))]


@operator("gather")
def _gather(self, dim, index, *, sparse_grad=False):
    if not self.ndim:
        return cnp.broadcast_to(self, index.shape)
    if not index.ndim:
        return cnp.reshape(cnp.take(self, index, axis=dim), ())
    return cnp.take_along_axis(_trimmed(self, index.shape, dim), index, axis=dim)


def _rows_of(function: Any) -> Any:
    """The function for tensors without dimensions, too: those are rows of one."""

    @functools.wraps(function)
    def row(self: Any, dim: int, index: Any, *values: Any, **options: Any) -> Any:
        if self.ndim:
            if not index.ndim and function.__name__ in _BY_GRID:
                index = cnp.reshape(index, (1,))
                values = tuple(_row(v) for v in values)
            return function(self, dim, index, *values, **options)
        values = tuple(_row(v) for v in values)
        options = {name: _row(v) for name, v in options.items()}
        return cnp.reshape(function(_row(self), 0, _row(index), *values, **options), ())

    return row


_BY_GRID = ("_scatter", "_scatter_add")


def _row(value: Any) -> Any:
    return cnp.reshape(value, (1,)) if getattr(value, "ndim", 1) == 0 else value


def _grid(index: Any, dim: int) -> tuple[Any, ...]:
    """For each axis where the elements of `index` lie, along dim as it says."""
    dim = dim % index.ndim
    along = [
        np.arange(n).reshape([-1 if i == axis else 1 for i in range(index.ndim)])
        for axis, n in enumerate(index.shape)
    ]
    return tuple(index if axis == dim else places for axis, places in enumerate(along))


@operator("scatter.src", "scatter.value", "scatter.reduce", "scatter.value_reduce")
@_rows_of
def _scatter(self, dim, index, src=None, *, value=None, reduce=None):
    source = value if src is None else src
    if not hasattr(source, "shape"):
        source = cnp.full(index.shape, source, self.dtype)
    else:
        source = source[tuple(slice(0, n) for n in index.shape)]
    copy = self.copied()
    if reduce is None:
        copy[_grid(index, dim)] = source
    elif reduce == "add":
        cnp.add.at(copy, _grid(index, dim), source)
    else:
        cnp.multiply.at(copy, _grid(index, dim), source)
    return copy


@operator("scatter_add")
@_rows_of
def _scatter_add(self, dim, index, src):
    copy = self.copied()
    cnp.add.at(copy, _grid(index, dim), src[tuple(slice(0, n) for n in index.shape)])
    return copy


@operator("index_add")
@_rows_of
def _index_add(self, dim, index, source, *, alpha=1):
    copy = self.copied()
    place = (slice(None),) * (dim % self.ndim) + (index,)
    cnp.add.at(copy, place, source if alpha == 1 else source * alpha)
    return copy


@operator("index_copy")
@_rows_of
def _index_copy(self, dim, index, source):
    copy = self.copied()
    copy[(slice(None),) * (dim % self.ndim) + (index,)] = source
    return copy


@operator("index_fill.int_Scalar", "index_fill.int_Tensor")
@_rows_of
def _index_fill(self, dim, index, value):
    copy = self.copied()
    copy[(slice(None),) * (dim % self.ndim) + (index,)] = cast(value, self.dtype)
    return copy


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
    return cnp.searchsorted(boundaries, self, side="right" if right else "left")


@operator("searchsorted.Tensor")
def _searchsorted(sorted_sequence, self, *, out_int32=False, right=False, side=None, sorter=None):
    if sorted_sequence.ndim != 1 or sorter is not None:
        raise NotImplementedError("rows of sorted numbers are not traced yet.")
    return cnp.searchsorted(sorted_sequence, self, side=side or ("right" if right else "left"))
