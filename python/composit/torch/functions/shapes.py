"""Functions that move elements. Those marked as views share memory with their operand."""

from __future__ import annotations

from typing import Any

import numpy as np

import composit._core as _core
from composit import numpy as cnp
from composit._core import LazyTensor, PyTorchValueError
from composit.evaluation import evaluate
from composit.flashlight.operators.table import function_of
from composit.torch.calling import define, torch_function
from composit.torch.functions.arguments import axis_of, integers

_aten = _core.aten


@torch_function("reshape", is_view=True)
def _reshape(input: Any, *shape: Any) -> Any:
    """The same elements under another shape; one length may be -1."""
    return _aten.reshape(input, integers(shape))


@torch_function("view", is_view=True, is_function=False)
def _view(input: Any, *shape: Any) -> Any:
    """As reshape, but never a copy; with a dtype, the elements' bits."""
    if len(shape) == 1 and isinstance(shape[0], np.dtype):
        return input.view(shape[0])
    return _not_copied(_reshape(input, *shape), input)


def _not_copied(made: Any, source: Any) -> Any:
    if not made.size or made.is_in_memory_of(source):
        return made
    raise ValueError(
        "view size is not compatible with input tensor's size and stride (at least one dimension "
        "spans across two contiguous subspaces). Use .reshape(...) instead."
    )


@torch_function("reshape_as", is_view=True, is_function=False)
def _reshape_as(input: Any, other: Any) -> Any:
    """Under the shape of another tensor."""
    return cnp.reshape(input, tuple(other.shape))


@torch_function("view_as", is_view=True, is_function=False)
def _view_as(input: Any, other: Any) -> Any:
    """Under the shape of another tensor, never a copy."""
    return _not_copied(cnp.reshape(input, tuple(other.shape)), input)


@torch_function("flatten", is_view=True)
def _flatten(input: Any, start_dim: int = 0, end_dim: int = -1) -> Any:
    """The dimensions from start_dim to end_dim as one."""
    return _aten.flatten(input, start_dim, end_dim)


@torch_function("unflatten", is_view=True)
def _unflatten(input: Any, dim: int, sizes: Any) -> Any:
    """One dimension as several."""
    return _aten.unflatten(input, dim, tuple(sizes))


@torch_function("ravel", is_view=True)
def _ravel(input: Any) -> Any:
    """One dimension."""
    return cnp.reshape(input, (-1,))


@torch_function("squeeze", is_view=True)
def _squeeze(input: Any, dim: Any = None) -> Any:
    """Without dimensions of length 1."""
    return _aten.squeeze(input, dim)


@torch_function("unsqueeze", is_view=True)
def _unsqueeze(input: Any, dim: int) -> Any:
    """With a dimension of length 1 before dim."""
    return _aten.unsqueeze(input, dim)


@torch_function("permute", is_view=True)
def _permute(input: Any, *dims: Any) -> Any:
    """The dimensions in another order."""
    return cnp.transpose(input, integers(dims))


@torch_function("transpose", "swapaxes", "swapdims", is_view=True)
def _transpose(input: Any, dim0: int, dim1: int) -> Any:
    """Two dimensions exchanged."""
    return _aten.transpose(input, dim0, dim1)


@torch_function("t", is_view=True)
def _t(input: Any) -> Any:
    """A matrix transposed."""
    if input.ndim > 2:
        raise ValueError(f"t() expects a tensor with <= 2 dimensions, but self is {input.ndim}D")
    return cnp.transpose(input)


@torch_function("adjoint", is_view=True)
def _adjoint(input: Any) -> Any:
    """Matrices transposed, and conjugated."""
    turned = cnp.swapaxes(input, -1, -2)
    return cnp.conj(turned) if input.dtype.kind == "c" else turned


@torch_function("movedim", "moveaxis", is_view=True)
def _movedim(input: Any, source: Any, destination: Any) -> Any:
    """Dimensions moved to other places."""
    return cnp.moveaxis(input, source, destination)


@torch_function("expand", is_view=True, is_function=False)
def _expand(input: Any, *sizes: Any, implicit: bool = False) -> Any:
    """Dimensions of length 1 repeated, without copies; -1 keeps one."""
    return _aten.expand(input, integers(sizes))


@torch_function("expand_as", is_view=True, is_function=False)
def _expand_as(input: Any, other: Any) -> Any:
    """Expanded to another's shape."""
    return cnp.broadcast_to(input, tuple(other.shape))


@torch_function("broadcast_to", is_view=True)
def _broadcast_to(input: Any, size: Any) -> Any:
    """Expanded to a shape."""
    return cnp.broadcast_to(input, tuple(size))


@torch_function("broadcast_tensors", is_method=False)
def _broadcast_tensors(*tensors: Any) -> Any:
    """Expanded to one shape."""
    found = tensors[0] if len(tensors) == 1 and isinstance(tensors[0], (list, tuple)) else tensors
    return tuple(cnp.broadcast_arrays(*found))


@torch_function("select", is_view=True)
def _select(input: Any, dim: int, index: int) -> Any:
    """One place of a dimension."""
    return _aten.select(input, dim, index)


@torch_function("narrow", is_view=True)
def _narrow(input: Any, dim: int, start: int, length: int) -> Any:
    """A part of a dimension."""
    return _aten.narrow(input, dim, start, length)


@torch_function("split", is_view=True)
def _split(input: Any, split_size_or_sections: Any, dim: int = 0) -> Any:
    """Parts of a dimension, of one length or of lengths that are given."""
    return _aten.split(input, split_size_or_sections, dim)


@torch_function("split_with_sizes", is_view=True)
def _split_with_sizes(input: Any, split_sizes: Any, dim: int = 0) -> Any:
    """Parts of lengths that are given."""
    return _aten.split(input, list(split_sizes), dim)


@torch_function("chunk", is_view=True)
def _chunk(input: Any, chunks: int, dim: int = 0) -> Any:
    """At most so many parts of one length."""
    return _aten.chunk(input, chunks, dim)


@torch_function("tensor_split", is_view=True)
def _tensor_split(input: Any, indices_or_sections: Any, dim: int = 0) -> Any:
    """As NumPy's array_split."""
    if isinstance(indices_or_sections, LazyTensor):
        indices_or_sections = evaluate(indices_or_sections).tolist()
    return _aten.tensor_split(input, indices_or_sections, dim)


for _name, _dim in {"hsplit": 1, "vsplit": 0, "dsplit": 2}.items():

    @torch_function(_name, is_view=True)
    def _(input: Any, indices_or_sections: Any, *more_indices: Any, _dim: int = _dim) -> Any:
        """Parts along the dimension that the name says."""
        dim = 0 if _dim == 1 and input.ndim == 1 else _dim
        given = (indices_or_sections, *more_indices) if more_indices else indices_or_sections
        return _tensor_split(input, given, dim)


@torch_function("unbind", is_view=True)
def _unbind(input: Any, dim: int = 0) -> Any:
    """Each place of a dimension."""
    return _aten.unbind(input, dim)


@torch_function("diagonal", is_view=True)
def _diagonal(input: Any, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Any:
    """A diagonal, along a new last dimension."""
    return _core.numpy.diagonal_of(input, offset, dim1, dim2, True)


@torch_function("unfold", is_view=True, is_function=False)
def _unfold(input: Any, dimension: int, size: int, step: int) -> Any:
    """Windows of a dimension, along a new last one."""
    if not input.ndim:
        return cnp.reshape(input, (1,))
    axis = axis_of(dimension, input.ndim)
    windows = _core.numpy.windows_of(input, [size], [axis], True)
    return _aten.select(windows, axis, slice(None, None, step))


@torch_function("diag")
def _diag(input: Any, diagonal: int = 0) -> Any:
    """The diagonal of a matrix, or a matrix of one."""
    return _core.numpy.diag(input, diagonal)


@torch_function("diagflat")
def _diagflat(input: Any, offset: int = 0) -> Any:
    return cnp.diagflat(input, offset)


define(function_of("diag_embed"), "diag_embed")


# ----- joined and repeated


@torch_function("cat", "concat", "concatenate", is_method=False)
def _cat(tensors: Any, dim: int = 0) -> Any:
    """Tensors one after the other along a dimension."""
    if not tensors:
        raise PyTorchValueError("torch.cat(): expected a non-empty list of Tensors")
    return function_of("cat")(tensors, dim)


@torch_function("stack", is_method=False)
def _stack(tensors: Any, dim: int = 0) -> Any:
    """Tensors along a new dimension."""
    return function_of("stack")(list(tensors), dim)


for _name in ("hstack", "vstack", "dstack", "column_stack"):
    define(getattr(cnp, _name), _name, is_method=False)
define(cnp.vstack, "row_stack", is_method=False)


@torch_function("block_diag", is_method=False)
def _block_diag(*tensors: Any) -> Any:
    """A matrix with the tensors on its diagonal."""
    return _aten.block_diag(tensors)


def _atleast(name: str) -> None:
    def function(*tensors: Any) -> Any:
        found = tensors[0] if isinstance(tensors[0], (list, tuple)) else tensors
        made = tuple(getattr(cnp, name)(x) for x in found)
        return made if len(found) > 1 or found is not tensors else made[0]

    define(function, name, is_method=False, doc="With as many dimensions as the name says.")


for _name in ("atleast_1d", "atleast_2d", "atleast_3d"):
    _atleast(_name)


@torch_function("repeat", is_function=False)
def _repeat(input: Any, *sizes: Any) -> Any:
    """The tensor, so often along each dimension."""
    given = integers(sizes)
    if len(given) < input.ndim:
        raise ValueError(
            "Number of dimensions of repeat dims can not be smaller than number of dimensions of "
            "tensor"
        )
    return cnp.tile(input, given)


@torch_function("tile")
def _tile(input: Any, *dims: Any) -> Any:
    """As NumPy's tile."""
    return cnp.tile(input, integers(dims))


@torch_function("repeat_interleave")
def _repeat_interleave(
    input: Any, repeats: Any, dim: int | None = None, *, output_size: int | None = None
) -> Any:
    """Each element, so often."""
    counts = repeats if isinstance(repeats, int) else repeats.evaluated()
    return cnp.repeat(input, counts, axis=dim)


@torch_function("flip")
def _flip(input: Any, *dims: Any) -> Any:
    """Dimensions reversed."""
    return cnp.flip(input, integers(dims)) if integers(dims) else input


define(cnp.fliplr, "fliplr")
define(cnp.flipud, "flipud")


@torch_function("rot90")
def _rot90(input: Any, k: int = 1, dims: Any = (0, 1)) -> Any:
    """A plane turned by quarters."""
    return cnp.rot90(input, k, tuple(dims))


@torch_function("roll")
def _roll(input: Any, shifts: Any, dims: Any = None) -> Any:
    """Elements moved around."""
    return _aten.roll(input, shifts, dims)


for _name in ("tril", "triu"):
    define(function_of(_name), _name, is_inplace=True, order="rows")


@torch_function("meshgrid", is_method=False)
def _meshgrid(*tensors: Any, indexing: str = "ij") -> Any:
    """Grids of the tensors' elements."""
    found = tensors[0] if isinstance(tensors[0], (list, tuple)) else tensors
    return tuple(_aten.meshgrid(list(found), indexing))


@torch_function("cartesian_prod", is_method=False)
def _cartesian_prod(*tensors: Any) -> Any:
    """All combinations of the tensors' elements."""
    return _aten.cartesian_prod(tensors)
