"""Sorting and searching: orders along an axis, and what follows from them."""

from __future__ import annotations

from typing import Any

import composit._core as _core
from composit import _mismatch
from composit._core import LazyTensor, type_error, value_error
from composit.numpy import _by_numpy
from composit.numpy._outputs import refuse, write_out

_c = _core.numpy


def _check_kind(function: str, kind: Any, order: Any, stable: Any) -> None:
    """Every order is stable here, whatever is asked for; a kind is known by its first letter."""
    refuse(function, order=order)
    if kind is not None and stable is not None:
        message = f"{function}: `kind` and `stable` parameters can't be provided at the same time."
        raise value_error(f"{message} Use only one of them.")
    if kind is not None and str(kind)[:1].lower() not in tuple("qhms"):
        raise value_error(
            f"{function}: sort kind must be one of 'quick', 'heap', or 'stable' (got {kind!r})"
        )


@_by_numpy.also_of_others
def argsort(
    a: Any, axis: int | None = -1, kind: Any = None, order: Any = None, *, stable: Any = None
) -> LazyTensor:
    """Positions along an axis in the order of the values; NaN last, equals in their order."""
    _check_kind("argsort", kind, order, stable)
    return _c.argsort(a, axis)


@_by_numpy.also_of_others
def sort(
    a: Any, axis: int | None = -1, kind: Any = None, order: Any = None, *, stable: Any = None
) -> LazyTensor:
    """The values in ascending order along an axis; NaN last."""
    _check_kind("sort", kind, order, stable)
    return _c.sort(a, axis)


def sort_complex(a: Any) -> LazyTensor:
    """The values as complex numbers, by real, then by imaginary parts."""
    return _c.sort_complex(a)


def _positions(function: str, kth: Any) -> list[int]:
    import numpy as np

    required = f"{function}: kth is {kth!r}. An integer, or a list of some, is required."
    try:
        found = np.atleast_1d(kth)
    except ValueError:
        raise value_error(required) from None
    if found.ndim > 1:
        raise value_error(required)
    if found.dtype.kind not in "iu":
        raise type_error(required)
    return found.tolist()


def argpartition(
    a: Any, kth: Any, axis: int | None = -1, kind: str = "introselect", order: Any = None
) -> LazyTensor:
    """Positions that put what is smaller than the kth before it; in order altogether."""
    refuse("argpartition", order=order)
    _check_selection("argpartition", kind)
    return _c.argpartition(a, _positions("argpartition", kth), axis)


def _check_selection(function: str, kind: Any) -> None:
    if not isinstance(kind, str):
        raise TypeError(_mismatch.wrong(kind, "The text 'introselect'"))
    if kind != "introselect":
        raise value_error(f"{function}: kind is {kind!r}. 'introselect' is required.")


def partition(
    a: Any, kth: Any, axis: int | None = -1, kind: str = "introselect", order: Any = None
) -> LazyTensor:
    """The values, those smaller than the kth before it; in order altogether."""
    refuse("partition", order=order)
    _check_selection("partition", kind)
    return _c.partition(a, _positions("partition", kth), axis)


def lexsort(keys: Any, axis: int = -1) -> LazyTensor:
    """Positions in the order of the last key, ties by the one before, and so on."""
    return _c.lexsort(keys, axis)


@_by_numpy.also_of_others
def searchsorted(a: Any, v: Any, side: str = "left", sorter: Any = None) -> LazyTensor:
    """Where values belong in an ascending a: before their equals (left) or behind (right)."""
    if side not in ("left", "right"):
        raise value_error(f"searchsorted: side must be 'left' or 'right' (got {side!r})")
    return _c.searchsorted(a, v, side == "right", sorter)


def median(
    a: Any, axis: Any = None, out: Any = None, overwrite_input: bool = False, keepdims: bool = False
) -> LazyTensor:
    """The middle value over axes, or the mean of both middle ones; NaN where there is one."""
    return write_out("median", _c.median(a, axis, keepdims), out, "unsafe")
