"""numpy.pad: what the core pads with, and values that are computed from what is there."""

from __future__ import annotations

import functools
import math
from collections.abc import Hashable
from typing import Any

import numpy as np

import composit._core as _core
from composit import _mismatch, _opaque
from composit._core import LazyTensor, index_error, value_error
from composit.numpy.creation import asarray

__all__ = ["pad"]

_c = _core.numpy
# Modes, and the option that each of them has.
_OPTIONS = {
    "constant": "constant_values", "linear_ramp": "end_values", "maximum": "stat_length",
    "mean": "stat_length", "median": "stat_length", "minimum": "stat_length",
    "reflect": "reflect_type", "symmetric": "reflect_type", "edge": "", "wrap": "", "empty": "",
}  # fmt: skip
_Pair = tuple[Any, Any]


def _by_axis(pad_width: dict[Any, Any], rank: int) -> list[Any]:
    """A pair for each axis; none is added along those that are not named."""
    widths: list[Any] = [(0, 0)] * rank
    for axis, width in pad_width.items():
        at = _core.integer(axis)
        if not -rank <= at < rank:
            raise index_error(
                f"pad: axis {at} of pad_width is out of bounds for an array of {rank} "
                f"dimensions. Axes are {-rank} to {rank - 1}."
            )
        widths[at] = _pairs(width, 1, "iu", _WIDTHS)[0]
    return widths


def _pairs(value: Any, rank: int, kinds: str, required: str) -> list[Any]:
    """A number, or numbers, of these kinds as a pair for each axis."""
    try:
        given = np.asarray(value)
        pairs = np.broadcast_to(given, (rank, 2))
    except (TypeError, ValueError):
        raise ValueError(_mismatch.wrong(value, required)) from None
    if given.dtype.kind not in kinds:
        raise TypeError(_mismatch.wrong(value, required))
    return pairs.tolist()


_WIDTHS = "An integer, or a pair of them for all axes or for each,"
_NUMBERS = "A number, or a pair of them for all axes or for each,"


def pad(array: Any, pad_width: Any, mode: Any = "constant", **kwargs: Any) -> LazyTensor:
    """Elements added around: constant, edge, linear_ramp, maximum, mean, median, minimum, reflect,
    symmetric, wrap, or empty, which are zeros here; or by a function, which is called with NumPy's
    vectors when the result is evaluated."""
    array = asarray(array)
    rank, is_by_axis = array.ndim, isinstance(pad_width, dict)
    widths = _by_axis(pad_width, rank) if is_by_axis else _pairs(pad_width, rank, "iu", _WIDTHS)
    if callable(mode):
        return _by_function(array, widths, pad_width, mode, kwargs)
    if not isinstance(mode, str) or mode not in _OPTIONS:
        raise value_error(
            f"pad: mode {mode!r} is not supported. One of {', '.join(_OPTIONS)} is required."
        )
    odd = set(kwargs) - {_OPTIONS[mode]}
    if odd:
        raise value_error(f"pad: unsupported keyword arguments for mode {mode!r}: {sorted(odd)}")
    value = kwargs.get("constant_values", 0)
    is_one = not isinstance(value, (list, tuple)) and getattr(value, "ndim", 0) == 0
    if mode == "empty" or (mode == "constant" and is_one):
        return _c.pad(array, widths, mode, value)
    values: list[Any] = []
    lengths: list[Any] = []
    if _OPTIONS[mode].endswith("values"):
        values = _pairs(kwargs.get(_OPTIONS[mode], 0), rank, "biufc", _NUMBERS)
    elif kwargs.get("stat_length") is not None:
        lengths = _pairs(kwargs["stat_length"], rank, "iu", _NUMBERS)
    is_odd = kwargs.get("reflect_type", "even") == "odd"
    return _c.pad_by_side(array, widths, mode, values, lengths, is_odd)


def _by_function(
    array: LazyTensor, widths: list[_Pair], pad_width: Any, function: Any, options: dict[str, Any]
) -> LazyTensor:
    if any(low < 0 or high < 0 for low, high in widths):
        raise value_error("pad: index can't contain negative values")
    widths = [(low, high) for low, high in widths]
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
