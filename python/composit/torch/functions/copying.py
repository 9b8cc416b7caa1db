"""Functions that are another one's result in memory of its own, or another one's under a name."""

from __future__ import annotations

from typing import Any

import composit._core as _core
from composit import numpy as cnp
from composit.torch import calling, dtypes
from composit.torch.calling import torch_function
from composit.torch.functions import creation, pointwise, shapes

assert creation and pointwise and shapes  # they fill the tables that are read here

# What the copying forms are called, and the views they copy.
_VIEWS = {
    "alias": None, "detach": "detach", "diagonal": "diagonal", "expand": "expand",
    "narrow": "narrow", "permute": "permute", "select": "select", "slice": None, "split": "split",
    "split_with_sizes": "split_with_sizes", "squeeze": "squeeze", "t": "t",
    "transpose": "transpose", "unbind": "unbind", "unfold": "unfold", "unsqueeze": "unsqueeze",
    "view": "view", "view_as_complex": "view_as_complex", "view_as_real": "view_as_real",
}  # fmt: skip


def _sliced(
    input: Any, dim: int = 0, start: int | None = None, end: int | None = None, step: int = 1
) -> Any:
    """A part of a dimension: a view."""
    return input[(slice(None),) * (dim % input.ndim) + (slice(start, end, step),)]


def _viewed(input: Any, *shape: Any, size: Any = None, dtype: Any = None) -> Any:
    """A view under another shape or dtype; a copy where no strides describe the shape."""
    shape = (*shape, *(given for given in (size, dtype) if given is not None))
    is_of_dtype = len(shape) == 1 and isinstance(shape[0], dtypes.dtype)
    return calling.methods["view" if is_of_dtype else "reshape"](input, *shape)


def _in_rows(x: Any) -> Any:
    """A copy in row-major order."""
    return x.clone(memory_format=dtypes.contiguous_format)


def _copy_of(name: str, view: Any) -> None:
    def function(input: Any, *args: Any, **kwargs: Any) -> Any:
        made = view(input, *args, **kwargs)
        copies = [_in_rows(x) for x in (made if isinstance(made, tuple) else (made,))]
        return tuple(copies) if isinstance(made, tuple) else copies[0]

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"{name.removesuffix('_copy')}, in memory of its own."
    calling.functions[name] = function


for _name, _view in _VIEWS.items():
    _function = _sliced if _name == "slice" else calling.functions["clone"]
    if _name == "view":
        _function = _viewed
    elif _view is not None:
        _function = calling.functions.get(_view) or calling.methods[_view]
    _copy_of(f"{_name}_copy", _function)
calling.methods["narrow_copy"] = calling.functions["narrow_copy"]
for _name in ("chunk", "split", "split_with_sizes"):
    calling.functions[f"unsafe_{_name}"] = calling.functions[_name]
    calling.methods[f"unsafe_{_name}"] = calling.functions[_name]

for _name in ("resolve_conj", "resolve_neg"):

    @torch_function(_name)
    def _(input: Any) -> Any:
        """The tensor: nothing is conjugated or negated later."""
        return input


def _never(name: str, doc: str) -> None:
    def function(input: Any) -> bool:
        return False

    function.__name__ = function.__qualname__ = name
    function.__doc__ = doc
    calling.functions[name] = calling.methods[name] = function


_never("is_conj", "False: nothing is conjugated later.")
_never("is_neg", "False: nothing is negated later.")
_never("is_inference", "False: tensors are the same in inference_mode.")


def is_same_size(input: Any, other: Any) -> bool:
    """Whether shapes are equal."""
    return tuple(input.shape) == tuple(other.shape)


def is_signed(input: Any) -> bool:
    """Whether its dtype has negative numbers."""
    return input.dtype.numpy.kind in "ifcV"


for _function in (is_same_size, is_signed):
    calling.functions[_function.__name__] = calling.methods[_function.__name__] = _function


def can_cast(from_: Any, to: Any) -> bool:
    """Whether torch casts the dtype to the other in place: not to a lower kind."""
    return _core.aten.can_cast(from_.numpy, to.numpy)


calling.functions["can_cast"] = can_cast


@torch_function("fill", is_method=False, order="first")
def _fill(input: Any, value: Any) -> Any:
    """A tensor of one value, of another one's shape and dtype."""
    return cnp.astype(cnp.broadcast_to(cnp.asarray(value), tuple(input.shape)), input.dtype)


@torch_function("as_strided", is_view=True)
def _as_strided(input: Any, size: Any, stride: Any, storage_offset: Any = None) -> Any:
    """Elements of the tensor's memory by strides: a view."""
    begin = input.offset if storage_offset is None else int(storage_offset)
    _core.aten.check_strided(tuple(size), tuple(stride), begin, input.memory_size)
    return _core.numpy.as_strided_of(input, list(size), list(stride), begin)


_copy_of("as_strided_copy", calling.functions["as_strided"])


@torch_function("as_strided_scatter")
def _as_strided_scatter(
    input: Any, src: Any, size: Any, stride: Any, storage_offset: Any = None
) -> Any:
    """The tensor with src at the places that strides say."""
    made = input.copied_in_order()
    _as_strided(made, size, stride, storage_offset)[...] = src
    return made


@torch_function("diagonal_scatter")
def _diagonal_scatter(input: Any, src: Any, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Any:
    """The tensor with src on a diagonal."""
    made = input.copied_in_order()
    _core.numpy.diagonal_of(made, offset, dim1, dim2, True)[...] = src
    return made
