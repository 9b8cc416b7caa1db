"""What several functions ask of their arguments before they compute: that an array is one, which
axis an argument names."""

from __future__ import annotations

from typing import Any

import composit._core as _core
from composit import _mismatch
from composit._core import type_error, value_error

_c = _core.numpy


def check_array(value: Any, *values: Any) -> None:
    """AttributeError, as NumPy's, where one of the values is a number or a list: for functions that
    ask their argument for its shape."""
    for each in (value, *values):
        if not hasattr(each, "ndim"):
            raise AttributeError(_mismatch.wrong(each, "A tensor or ndarray"))


def check_like(function: str, like: Any) -> None:
    """TypeError where like= is no array: tensors are made of whatever it is."""
    if like is not None and not hasattr(like, "__array_function__"):
        message = f"{function}: like={like!r} implements no __array_function__. Give an array."
        raise type_error(message)


def places_of(function: str, axes: Any, ndim: int) -> list[int]:
    """Which axes these are, counted from the front: AxisError beyond them, ValueError for one that
    is named twice."""
    given = axes if isinstance(axes, (tuple, list)) else (axes,)
    places = [_c.normalize_axis(function, _core.integer(axis), ndim) for axis in given]
    if len(set(places)) < len(places):
        raise value_error(f"{function}: repeated axis in {axes}. Each is named once.")
    return places


def moved_axis(function: str, axis: Any, ndim: int) -> int:
    """The axis of a function that NumPy makes of moveaxis, so that a tuple of one is taken, too."""
    places = places_of(function, axis, ndim)
    if len(places) != 1:
        raise value_error(f"{function}: axis is {axis}. One axis is required, not {len(places)}.")
    return places[0]


def check_known(dtype: Any) -> None:
    """TypeError for what is no dtype of NumPy's at all; others are refused later."""
    import numpy as np

    try:
        np.dtype(dtype)
    except TypeError:
        _core.dtype_of(dtype)


def number_read(function: str, text: Any, dtype: Any) -> Any:
    """The number that a text says, for a dtype; ValueError where it says none."""
    kinds: dict[str, Any] = {"b": bool, "f": float, "c": complex}
    try:
        return kinds.get(dtype.kind, int)(text)
    except ValueError:
        message = f"{function}: {text!r} says no number. One of {dtype} is required."
        raise value_error(message) from None
