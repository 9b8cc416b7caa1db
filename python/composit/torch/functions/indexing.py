"""Reading and writing at places that tensors say."""

from __future__ import annotations

import functools
from typing import Any

import composit._core as _core
from composit import numpy as cnp
from composit._core import LazyTensor
from composit.flashlight.operators.promotion import cast
from composit.flashlight.operators.table import function_of
from composit.torch.calling import define, torch_function
from composit.torch.functions.arguments import axis_of

_aten = _core.aten


from_first = _aten.counted_from_first


def _along(name: str, operator: str | None = None, *, is_inplace: bool = False) -> None:
    """Defines NAME(input, dim, index, ...), whose indices are counted from the first."""
    function = function_of(operator or name)

    @functools.wraps(function)
    def checked(input: Any, dim: int, index: Any, *rest: Any, **options: Any) -> Any:
        if name in ("gather", "scatter_add"):
            _aten.check_index_rank(index, input, "input" if name == "gather" else "self")
        return function(input, dim, from_first(index, input, dim), *rest, **options)

    define(checked, name, is_inplace=is_inplace)


for _name in ("gather", "index_select"):
    _along(_name)
for _name in ("scatter_add", "index_add", "index_copy"):
    _along(_name, is_inplace=True)
_along("index_fill", "index_fill.int_Scalar", is_inplace=True)
for _name in ("take", "take_along_dim"):
    define(function_of(_name), _name)
define(function_of("slice_scatter"), "slice_scatter", order="first")
define(function_of("select_scatter"), "select_scatter")


@torch_function("scatter", is_inplace=True)
def _scatter(
    input: Any, dim: int, index: Any, src: Any = None, *, value: Any = None,
    reduce: str | None = None,
) -> Any:  # fmt: skip
    """src written where index says, along a dimension."""
    if src is not None and not isinstance(src, LazyTensor):
        src, value = None, src
    _aten.check_index_rank(index, input, "self")
    index = from_first(index, input, dim)
    return function_of("scatter.src")(input, dim, index, src, value=value, reduce=reduce)


# One of torch's indices as composit.numpy's: lists are index arrays, also in tuples.
places = _core.index_of_arrays


@torch_function("index", is_function=False, is_method=False)
def get_item(input: Any, index: Any) -> Any:
    """input[index]"""
    return input[places(index)]


@torch_function("index_put", is_inplace=True)
def index_put(input: Any, indices: Any, values: Any, accumulate: bool = False) -> Any:
    """values written, or added, where indices say."""
    copy = input.copied()
    if not accumulate:
        _core.check_filled(tuple(indices), values)
    values = cast(values, input.dtype)
    at = tuple(slice(None) if index is None else places(index) for index in indices)
    if accumulate:
        cnp.add.at(copy, at, values)
    else:
        copy[at] = values
    return copy


@torch_function("set_item", is_function=False, is_method=False)
def set_item(input: Any, index: Any, value: Any) -> Any:
    """input after input[index] = value."""
    copy = input.copied()
    _core.check_filled(index, value)
    copy[places(index)] = cast(value, input.dtype)
    return copy


@torch_function("masked_scatter", is_inplace=True)
def _masked_scatter(input: Any, mask: Any, source: Any) -> Any:
    """The elements of source, in order, where the mask is true."""
    return _aten.masked_scatter(input, mask, source)


@torch_function("put", is_inplace=True)
def _put(input: Any, index: Any, source: Any, accumulate: bool = False) -> Any:
    """source written at places of the flattened tensor."""
    return _aten.put(input, index, source, accumulate)


@torch_function("scatter_reduce", is_inplace=True)
def scatter_reduce_of(
    input: Any, dim: int, index: Any, src: Any, reduce: str, *, include_self: bool = True
) -> Any:
    """src combined ("sum", "prod", "mean", "amax", "amin") with what is where index says."""
    axis = axis_of(dim, input.ndim)
    index = from_first(index, input, axis)
    return _aten.scatter_reduce(input, axis, index, src, reduce, include_self)
