"""Rearranging elements: shapes, joining, splitting, repeating, padding, taking."""

from __future__ import annotations

import math
import operator
import warnings
from typing import Any

import composit._core as _core
from composit import devices
from composit._core import LazyScalar, LazyTensor, type_error, value_error, with_location
from composit.numpy import _arguments, _by_numpy
from composit.numpy._outputs import write_out
from composit.numpy.creation import asarray

_c = _core.numpy


def reshape(a: Any, /, shape: Any, order: str = "C", *, copy: bool | None = None) -> LazyTensor:
    """The same elements under another shape, of which one length may be -1.

    Both are read in row-major order, or with order "F" in column-major order; "A" is "F" for what
    lies in memory so. A view where strides can describe the result.
    """
    return _c.reshape_in(a, shape, order, copy)


def ravel(a: Any, order: str = "C") -> LazyTensor:
    """One dimension: a view of what lies in memory in that order ("F": the first index changes
    fastest; "A" and "K": "F" for what lies so), else a copy."""
    return _c.ravel_in(a, order)


def transpose(a: Any, axes: Any = None) -> LazyTensor:
    """Axes reversed, or in the order given."""
    return _c.transpose(a, axes)


def permute_dims(a: Any, axes: Any = None) -> LazyTensor:
    """Axes reversed, or in the order given."""
    return _c.transpose(a, axes)


def matrix_transpose(x: Any, /) -> LazyTensor:
    """The last two axes exchanged."""
    return _c.matrix_transpose(x)


def swapaxes(a: Any, axis1: int, axis2: int) -> LazyTensor:
    """Two axes exchanged."""
    return _c.swapaxes(a, axis1, axis2)


def moveaxis(a: Any, source: Any, destination: Any) -> LazyTensor:
    """Axes moved to new positions, the others in their order."""
    return _c.moveaxis(a, _listed_axes(source), _listed_axes(destination))


def _listed_axes(axes: Any) -> Any:
    """Any iterable as a list."""
    return list(axes) if hasattr(axes, "__iter__") else axes


def rollaxis(a: Any, axis: int, start: int = 0) -> LazyTensor:
    """An axis moved before another."""
    _arguments.check_array(a)
    return _c.rollaxis(a, axis, start)


def expand_dims(a: Any, axis: Any) -> LazyTensor:
    """New axes of length 1."""
    return _c.expand_dims(a, axis)


def squeeze(a: Any, axis: Any = None) -> LazyTensor:
    """Axes of length 1 removed."""
    if ndim(a) == 0 and isinstance(axis, int) and axis in (0, -1):
        axis = ()
    return _c.squeeze(a, axis)


def _each(function: Any, arys: tuple[Any, ...]) -> Any:
    results = tuple(function(a) for a in arys)
    return results[0] if len(results) == 1 else results


def atleast_1d(*arys: Any) -> Any:
    """At least one dimension."""
    return _each(_c.atleast_1d, arys)


def atleast_2d(*arys: Any) -> Any:
    """At least two dimensions."""
    return _each(_c.atleast_2d, arys)


def atleast_3d(*arys: Any) -> Any:
    """At least three dimensions."""
    return _each(_c.atleast_3d, arys)


def broadcast_to(array: Any, shape: Any, subok: bool = False) -> LazyTensor:
    """Repeated along new axes and axes of length 1; a read-only view."""
    result = _c.broadcast_to(array, shape)
    if isinstance(result, LazyTensor) and not isinstance(result, LazyScalar):
        result.is_writeable = False
    return result


def broadcast_arrays(*args: Any, subok: bool = False) -> tuple[LazyTensor, ...]:
    """All arguments, broadcast against each other."""
    bool(subok)
    return tuple(_c.broadcast_arrays(args))


def broadcast_shapes(*args: Any) -> tuple[int, ...]:
    """The shape that these shapes broadcast to."""
    return _c.broadcast_shapes(*args)


def astype(x: Any, dtype: Any, /, *, copy: bool = True, device: Any = None) -> LazyTensor:
    """Elements converted, as casting="unsafe"; on a device, where it is given."""
    if device is not None:
        return devices.moved(astype(x, dtype, copy=copy), device)
    if not hasattr(x, "dtype"):
        kind = AttributeError if isinstance(x, (bool, int, float, complex)) else TypeError
        raise kind(with_location(f"astype: Input should be a NumPy array or a tensor, not {x!r}."))
    try:
        _warn_of_lost_parts(x.dtype, dtype)
        if not copy and isinstance(x, LazyTensor) and _core.dtype_of(dtype) == x.dtype:
            return x
        return _c.astype(x, dtype)
    except TypeError as refusal:
        return _by_numpy.created("astype", refusal, x, dtype=dtype)


def _warn_of_lost_parts(source: Any, target: Any) -> None:
    import numpy as np

    if source.kind == "c" and _core.dtype_of(target).kind in "iuf":
        warnings.warn(
            "Casting complex values to real discards the imaginary part",
            np.exceptions.ComplexWarning,
            stacklevel=3,
        )


def concatenate(
    arrays: Any, /, axis: Any = 0, out: Any = None, *, dtype: Any = None, casting: str = "same_kind"
) -> LazyTensor:
    """Joined along an axis; axis None joins the flattened parts."""
    try:
        parts = _c.joinable("concatenate", arrays, dtype, casting)
        return write_out("concatenate", _c.concatenate(parts, axis, dtype), out)
    except TypeError as refusal:
        return _by_numpy.created("concatenate", refusal, arrays, axis, dtype=dtype)


concat = concatenate


def stack(
    arrays: Any, axis: int = 0, out: Any = None, *, dtype: Any = None, casting: str = "same_kind"
) -> LazyTensor:
    """Joined along a new axis."""
    return write_out(
        "stack", _c.stack(_c.joinable("stack", arrays, dtype, casting), axis, dtype), out
    )


_core.provide("stack", stack)


def _sequence(function: str, tup: Any) -> Any:
    """What is stacked, which is no iterator."""
    if not hasattr(tup, "__getitem__"):
        message = 'arrays to stack must be passed as a "sequence" type such as list or tuple'
        raise type_error(f"{function}: {message}, not {type(tup).__name__}.")
    return tup


def hstack(tup: Any, *, dtype: Any = None, casting: str = "same_kind") -> LazyTensor:
    """Joined along the second axis (the only one of 1-d parts)."""
    return _c.hstack(_c.joinable("hstack", _sequence("hstack", tup), dtype, casting))


def vstack(tup: Any, *, dtype: Any = None, casting: str = "same_kind") -> LazyTensor:
    """Joined as rows."""
    return _c.vstack(_c.joinable("vstack", _sequence("vstack", tup), dtype, casting))


def dstack(tup: Any) -> LazyTensor:
    """Joined along the third axis."""
    return _c.dstack(_sequence("dstack", tup))


def append(arr: Any, values: Any, axis: int | None = None) -> LazyTensor:
    """Values after arr; both are flattened without an axis."""
    return _c.append(arr, _c.strong(values) if axis is None else values, axis)


def _sections(value: Any) -> int | None:
    try:
        return operator.index(value)
    except TypeError:
        if isinstance(value, float) and value.is_integer():
            return int(value)  # lengths are often divided with /
        return None


def split(ary: Any, indices_or_sections: Any, axis: int = 0) -> list[LazyTensor]:
    """Equal parts, or parts before each of some positions: one node with several outputs."""
    sections = _sections(indices_or_sections)
    if sections is not None:
        _arguments.check_array(ary)
        return _c.split(ary, sections, axis)
    return _c.split_at(ary, indices_or_sections, axis)


def array_split(ary: Any, indices_or_sections: Any, axis: int = 0) -> list[LazyTensor]:
    """Parts whose lengths differ by one at most."""
    sections = _sections(indices_or_sections)
    if sections is not None:
        return _c.array_split(ary, sections, axis)
    return _c.split_at(ary, indices_or_sections, axis)


def flip(m: Any, axis: Any = None) -> LazyTensor:
    """Reversed along axes; a view."""
    if axis is not None:
        _c.places_of("flip", axis, ndim(m))
    return _c.flip(m, axis)


def _check_dimensions(function: str, m: Any, least: int) -> None:
    if ndim(m) < least:
        raise value_error(f"{function}: shape {shape(m)} is given. {least} axes are required.")


def fliplr(m: Any) -> LazyTensor:
    """Reversed along the second axis."""
    _check_dimensions("fliplr", m, 2)
    return _c.flip(m, 1)


def flipud(m: Any) -> LazyTensor:
    """Reversed along the first axis."""
    return _c.flip(m, 0)


def roll(a: Any, shift: Any, axis: Any = None) -> LazyTensor:
    """Elements moved along axes, those that leave come in on the other side; of shifts that are no
    integers by their whole part."""
    return _c.roll(a, shift, axis)


def rot90(m: Any, k: int = 1, axes: Any = (0, 1)) -> LazyTensor:
    """Rotated by 90 degrees k times."""
    return _c.rot90(m, k, axes)


def repeat(a: Any, repeats: Any, axis: int | None = None) -> LazyTensor:
    """Each element several times; for a number that is no integer its whole part."""
    return _c.repeat(a, repeats, axis)


def tile(A: Any, reps: Any) -> LazyTensor:
    """The whole several times along each axis."""
    return _c.tile(A, reps)


def resize(a: Any, new_shape: Any) -> LazyTensor:
    """The elements again and again in another shape; zeros if there are none."""
    return _c.resize(a, new_shape)


def _check_bitorder(function: str, bitorder: Any) -> None:
    if isinstance(bitorder, str) and bitorder[:1] not in ("b", "l"):
        raise value_error(f"{function}: bitorder is {bitorder!r}. 'big' or 'little' is required.")


def packbits(a: Any, /, axis: int | None = None, bitorder: str = "big") -> LazyTensor:
    """Whether eight elements are not zero, as the bits of a uint8."""
    _check_bitorder("packbits", bitorder)
    return _c.packbits(a, axis, bitorder)


def unpackbits(
    a: Any, /, axis: int | None = None, count: int | None = None, bitorder: str = "big"
) -> LazyTensor:
    """The bits of uint8: `count`, with zeros behind all, or all but the last -count."""
    _check_bitorder("unpackbits", bitorder)
    return _c.unpackbits(a, axis, count, bitorder)


def take(
    a: Any, indices: Any, axis: int | None = None, out: Any = None, mode: str = "raise"
) -> LazyTensor:
    """Elements at integer indices along an axis."""
    return _c.take(a, indices, axis, out, mode)


def take_along_axis(arr: Any, indices: Any, axis: int | None = -1) -> LazyTensor:
    """Elements whose positions along an axis are given one by one."""
    _arguments.check_array(indices, arr)
    return _c.take_along_axis(arr, indices, axis)


def diff(a: Any, n: int = 1, axis: int = -1, prepend: Any = None, append: Any = None) -> LazyTensor:
    """The n-th difference along an axis."""
    if ndim(a) == 0 and (n != 0 or isinstance(n, bool)):
        return _c.diff(a, 1, -1, None, None)  # NumPy's error, before those of the axis
    return _c.diff(a, n, axis, prepend, append)


def sliding_window_view(
    x: Any, window_shape: Any, axis: Any = None, *, subok: bool = False, writeable: bool = False
) -> LazyTensor:
    """All windows; their axes come last. A view, which can be written if it is `writeable`."""
    if isinstance(x, LazyTensor):
        return _c.windows_of(x, window_shape, axis, bool(writeable))
    return _c.sliding_window_view(x, window_shape, axis)


def meshgrid(*xi: Any, copy: bool = True, sparse: bool = False, indexing: str = "xy") -> Any:
    """Coordinate grids of one-dimensional tensors."""
    bool(copy)  # no tensor shares memory, but what has no truth is refused
    return tuple(_c.meshgrid(xi, indexing, bool(sparse)))


def nonzero(a: Any) -> tuple[LazyTensor, ...]:
    """Indices of the elements that are not zero, one tensor per axis: evaluates `a` now."""
    return tuple(_c.nonzero(a))


def shape(a: Any) -> tuple[int, ...]:
    """a.shape"""
    return asarray(a).shape


def ndim(a: Any) -> int:
    """a.ndim"""
    return len(shape(a))


def size(a: Any, axis: Any = None) -> int:
    """The number of elements, or the length of an axis, or the product of several."""
    lengths = shape(a)
    return math.prod(lengths[place] for place in _c.axes_of("size", axis, len(lengths)))


def get_item(array: Any, indices: Any) -> LazyTensor:
    """array[indices]"""
    return _c.get_item(array, indices)


def set_item(array: Any, indices: Any, values: Any) -> LazyTensor:
    """A new tensor: `array` after array[indices] = values."""
    return _c.set_item(array, indices, values)
