"""Choosing, inserting and deleting elements; functions applied along axes."""

from __future__ import annotations

from typing import Any

import composit._core as _core
from composit import _mismatch
from composit._core import LazyTensor, type_error, value_error
from composit.numpy import _arguments, _by_numpy, _other_objects
from composit.numpy._outputs import write_out
from composit.numpy.creation import asarray
from composit.numpy.manipulation import nonzero

_c = _core.numpy


def _function(value: Any) -> Any:
    if not callable(value):
        raise TypeError(_mismatch.wrong(value, "A function"))
    return value


def _listed(value: Any) -> list[Any]:
    try:
        return list(value)
    except TypeError:
        raise TypeError(_mismatch.wrong(value, "A sequence")) from None


def select(condlist: Any, choicelist: Any, default: Any = 0) -> LazyTensor:
    """Elements of the first choice whose condition holds, else the default."""
    return _core.array_of(_c.select(condlist, choicelist, default))


def piecewise(x: Any, condlist: Any, funclist: Any, *args: Any, **kw: Any) -> LazyTensor:
    """Functions, or values, of the elements of x for which conditions hold: evaluates those now.
    One function more than conditions is for the elements of none."""
    x = asarray(x)
    return _core.array_of(_c.piecewise(x, condlist, _listed(funclist), args, kw))


def choose(a: Any, choices: Any, out: Any = None, mode: str = "raise") -> LazyTensor:
    """The element of choices[a[i]] at each position i."""
    result = _c.choose(a, choices, mode)
    if hasattr(out, "shape") and out.shape != result.shape:
        message = f"choose: invalid shape for output array: {out.shape}."
        raise type_error(f"{message} {result.shape} is required.")
    return write_out("choose", result, out, casting="unsafe")


def extract(condition: Any, arr: Any) -> LazyTensor:
    """The elements of the flattened arr where the condition holds: evaluates the condition now."""
    return _c.extract(condition, arr)


def compress(condition: Any, a: Any, axis: int | None = None, out: Any = None) -> LazyTensor:
    """The slices of `a` at which the condition holds: evaluates the condition now."""
    result = _c.compress(condition, a, axis)
    _c.check_buffer(result, out)
    return write_out("compress", result, out, casting="unsafe")


def trim_zeros(filt: Any, trim: str = "fb", axis: Any = None) -> Any:
    """Without the zeros at the front and back: evaluates filt now. Of a list or tuple a part."""
    kept = _c.trim_zeros(filt, trim, axis)
    if not isinstance(filt, (list, tuple)) or kept.ndim != 1:
        return kept
    places = _c.flatnonzero(filt).evaluated()
    first = int(places[0]) if places.size and "f" in trim.lower() else 0
    return filt[first : first + kept.size]


def insert(arr: Any, obj: Any, values: Any, axis: int | None = None) -> LazyTensor:
    """Values before the positions obj: an integer, a slice, a mask or several integers."""
    return _c.insert(arr, obj, _elements(values, arr), axis)


def _elements(values: Any, arr: Any) -> Any:
    """Python's numbers as elements of the array: a NaN is no integer."""
    kind = getattr(getattr(arr, "dtype", None), "kind", "f")
    if not isinstance(values, float) or kind not in "iu":
        return values
    return _other_objects.stored(values, arr.dtype, "insert")


def delete(arr: Any, obj: Any, axis: int | None = None) -> LazyTensor:
    """Without the slices at obj: an integer, a slice, a mask or several integers."""
    return _c.delete(arr, obj, axis)


def apply_along_axis(func1d: Any, axis: int, arr: Any, *args: Any, **kwargs: Any) -> LazyTensor:
    """The function of every 1-d slice along an axis."""
    function = _function(func1d)
    return _c.apply_along_axis(lambda row: function(row, *args, **kwargs), axis, arr)


def apply_over_axes(func: Any, a: Any, axes: Any) -> LazyTensor:
    """func(a, axis) for one axis after another."""
    _arguments.check_array(a)
    return _c.apply_over_axes(_function(func), a, axes)


def where(condition: Any, x: Any = None, y: Any = None, /) -> Any:
    """x where the condition holds, y elsewhere; with one argument, nonzero(condition)."""
    if x is None and y is None:
        return nonzero(condition)
    if x is None or y is None:
        raise value_error("where: one of x and y is given. Both are required, or neither.")
    try:
        return _core.array_of(_core.numpy.apply("where", condition, x, y))
    except TypeError as refusal:
        return _by_numpy.created("where", refusal, condition, x, y)
