"""numpy.pad: what the core pads with, and values that are computed from what is there."""

from __future__ import annotations

import functools
import math
from collections.abc import Hashable
from typing import Any

import numpy as np

import composit._core as _core
from composit import _mismatch, _opaque
from composit._core import LazyTensor, with_location
from composit.numpy import reductions, sorting
from composit.numpy.creation import asarray, linspace
from composit.operations import wrap_as_operation

__all__ = ["pad"]

_c = _core.numpy
# Modes, and the option that each of them has.
_OPTIONS = {
    "constant": "constant_values", "linear_ramp": "end_values", "maximum": "stat_length",
    "mean": "stat_length", "median": "stat_length", "minimum": "stat_length",
    "reflect": "reflect_type", "symmetric": "reflect_type", "edge": "", "wrap": "", "empty": "",
}  # fmt: skip
_STATISTICS: dict[str, Any] = {
    "maximum": reductions.max, "minimum": reductions.min, "mean": reductions.mean,
    "median": sorting.median,
}  # fmt: skip
_Pair = tuple[Any, Any]


def _widths(pad_width: Any, rank: int) -> list[tuple[int, int]]:
    if isinstance(pad_width, dict):
        by_axis = [(0, 0)] * rank
        for axis, width in pad_width.items():
            at = _core.integer(axis)
            if not -rank <= at < rank:
                raise IndexError(
                    with_location(
                        f"pad: axis {at} of pad_width is out of bounds for an array of {rank} "
                        f"dimensions. Axes are {-rank} to {rank - 1}."
                    )
                )
            by_axis[at] = _widths(width, 1)[0]
        return by_axis
    required = "An integer, or a pair of them for all axes or for each,"
    try:
        given = np.asarray(pad_width)
        widths = np.broadcast_to(given, (rank, 2))
    except ValueError:
        raise ValueError(_mismatch.wrong(pad_width, required)) from None
    if given.dtype.kind not in "iu":
        raise TypeError(_mismatch.wrong(pad_width, required))
    return [(int(low), int(high)) for low, high in widths]


def _pairs(name: str, value: Any, rank: int, whole: bool = False) -> list[_Pair]:
    """A number, or numbers, as a pair for each axis."""
    import numpy as np

    required = "A number, or a pair of them for all axes or for each,"
    try:
        given = np.asarray(value)
        pairs = np.broadcast_to(given, (rank, 2))
    except (TypeError, ValueError):
        raise ValueError(_mismatch.wrong(value, required)) from None
    if given.dtype.kind not in ("iu" if whole else "biufc"):
        raise TypeError(_mismatch.wrong(value, required))
    if whole and given.size and given.min() < 0:
        raise ValueError(with_location(f"pad: {name} can't contain negative values"))
    return [(low.item(), high.item()) for low, high in pairs]


def pad(array: Any, pad_width: Any, mode: Any = "constant", **kwargs: Any) -> LazyTensor:
    """Elements added around: constant, edge, linear_ramp, maximum, mean, median, minimum, reflect,
    symmetric, wrap, or empty, which are zeros here; or by a function, which is called with NumPy's
    vectors when the result is evaluated."""
    array = asarray(array)
    widths = _widths(pad_width, array.ndim)
    if callable(mode):
        return _by_function(array, widths, pad_width, mode, kwargs)
    if not isinstance(mode, str) or mode not in _OPTIONS:
        raise ValueError(
            with_location(
                f"pad: mode {mode!r} is not supported. One of {', '.join(_OPTIONS)} is required."
            )
        )
    odd = set(kwargs) - {_OPTIONS[mode]}
    if odd:
        raise ValueError(
            with_location(f"pad: unsupported keyword arguments for mode {mode!r}: {sorted(odd)}")
        )
    is_odd = kwargs.get("reflect_type", "even") == "odd"
    value = kwargs.get("constant_values", 0)
    is_one = not isinstance(value, (list, tuple)) and getattr(value, "ndim", 0) == 0
    is_cores = mode in ("edge", "reflect", "symmetric", "wrap", "empty") and not is_odd
    if is_cores or (mode == "constant" and is_one):
        return _c.pad(array, widths, mode, value)
    if any(low < 0 or high < 0 for low, high in widths):
        raise ValueError(with_location("pad: index can't contain negative values"))
    return _one_node(array, widths, mode, kwargs)


def _by_function(
    array: LazyTensor, widths: list[_Pair], pad_width: Any, function: Any, options: dict[str, Any]
) -> LazyTensor:
    if any(low < 0 or high < 0 for low, high in widths):
        raise ValueError(with_location("pad: index can't contain negative values"))
    # NumPy calls the function with a tuple where one pair holds for all axes, else with a list.
    shape = np.shape(widths if isinstance(pad_width, dict) else pad_width)
    is_pair = math.prod(shape) <= 2 and shape != (2, 1) and len(set(widths)) == 1
    around = widths[0] if is_pair else tuple(widths)
    make = _calling_of_before if isinstance(function, Hashable) else _calling
    return make(function, around, array.shape)(array, **options)


def _calling(function: Any, widths: Any, shape: tuple[int, ...]) -> Any:
    """numpy.pad with this function as an operation, of which nothing but its type is known."""

    def pad(array: Any, **options: Any) -> Any:
        return np.pad(array, widths, function, **options)

    pairs = np.broadcast_to(np.asarray(widths), (len(shape), 2)).tolist()
    padded = tuple(low + n + high for n, (low, high) in zip(shape, pairs))
    return _opaque.operation(pad, lambda array: (padded, array.dtype))


# Calls of one function share their plans.
_calling_of_before = functools.lru_cache(maxsize=128)(_calling)


def _one_node(
    array: LazyTensor, widths: list[tuple[int, int]], mode: str, options: dict[str, Any]
) -> LazyTensor:
    rank = array.ndim
    if mode == "constant":
        values = _pairs("constant_values", options["constant_values"], rank)
    elif mode == "linear_ramp":
        values = _pairs("end_values", options.get("end_values", 0), rank)
    elif options.get("stat_length") is None:  # nor of odd reflections
        values = [(None, None)] * rank
    else:
        values = _pairs("stat_length", options["stat_length"], rank, whole=True)
    for axis, (width, length) in enumerate(zip(widths, array.shape)):
        if mode != "constant" and length == 0 and any(width):
            raise ValueError(
                with_location(
                    f"pad: can't extend empty axis {axis} using modes other than 'constant' or "
                    "'empty'"
                )
            )
    if mode in ("maximum", "minimum") and any(0 in pair for pair in values):
        raise ValueError(with_location("pad: stat_length of 0 yields no value for padding"))

    def padded(array: LazyTensor) -> LazyTensor:
        # Corners come from what was added along the axes before.
        for axis, (width, pair) in enumerate(zip(widths, values)):
            if mode in ("reflect", "symmetric"):
                array = _turned(array, axis, width, mode == "symmetric")
                continue
            if mode == "constant":
                sides = [_constant(array, axis, n, v) for n, v in zip(width, pair)]
            elif mode == "linear_ramp":
                sides = [_ramp(array, axis, width[side], pair[side], side) for side in (0, 1)]
            else:
                sides = [
                    _statistic(array, axis, width[side], pair[side], side, mode) for side in (0, 1)
                ]
            array = _c.concatenate([sides[0], array, sides[1]], axis, None)
        return array

    padded.__name__ = "pad"
    return wrap_as_operation()(padded)(array)


def _part(array: LazyTensor, axis: int, part: slice) -> LazyTensor:
    return array[(slice(None),) * axis + (part,)]


def _turned(array: LazyTensor, axis: int, width: tuple[int, int], with_edge: bool) -> LazyTensor:
    """Mirrored at both edges and turned upside down there, again where that is too short."""
    low, high = width
    length = array.shape[axis]
    if length == 1:
        sides = [_c.repeat(array, n, axis) for n in width]
        return _c.concatenate([sides[0], array, sides[1]], axis, None)
    first = 0 if with_edge else 1  # of those that are mirrored
    while low or high:
        # Whole periods of what there was at first.
        reach = (array.shape[axis] - first) // (length - first) * (length - first)
        if low:
            count = min(reach, low)
            mirrored = _c.flip(_part(array, axis, slice(first, first + count)), axis)
            added = (2 * _part(array, axis, slice(0, 1)) - mirrored).astype(array.dtype)
            array = _c.concatenate([added, array], axis, None)
            low -= count
        if high:
            count, end = min(reach, high), array.shape[axis] - first
            mirrored = _c.flip(_part(array, axis, slice(end - count, end)), axis)
            added = (2 * _part(array, axis, slice(-1, None)) - mirrored).astype(array.dtype)
            array = _c.concatenate([array, added], axis, None)
            high -= count
    return array


def _constant(array: LazyTensor, axis: int, width: int, value: Any) -> LazyTensor:
    shape = (*array.shape[:axis], width, *array.shape[axis + 1 :])
    return _c.broadcast_to(_c.astype(value, array.dtype), shape)


def _ramp(array: LazyTensor, axis: int, width: int, end: Any, side: int) -> LazyTensor:
    """From the end to the edge, which is not reached."""
    edge = _part(array, axis, slice(-1, None) if side else slice(0, 1))
    line = linspace(
        end, _c.squeeze(edge, axis), width, endpoint=False, dtype=array.dtype, axis=axis
    )
    return _c.flip(line, axis) if side else line


def _statistic(
    array: LazyTensor, axis: int, width: int, length: int | None, side: int, mode: str
) -> LazyTensor:
    """Of so many elements at an edge: one value for all that is added beside them."""
    count = array.shape[axis]
    length = count if length is None else min(length, count)
    part = _part(array, axis, slice(count - length, count) if side else slice(0, length))
    value = _STATISTICS[mode](part, axis=axis, keepdims=True)
    if array.dtype.kind in "iu":
        value = _c.round(value, 0)
    shape = (*array.shape[:axis], width, *array.shape[axis + 1 :])
    return _c.broadcast_to(_c.astype(value, array.dtype), shape)
