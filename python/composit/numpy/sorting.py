"""Sorting and searching: orders along an axis, and what follows from them."""

from __future__ import annotations

from typing import Any

import composit._core as _core
from composit._core import LazyTensor, value_error
from composit.numpy import _by_numpy
from composit.numpy._outputs import write_out

_c = _core.numpy


@_by_numpy.also_of_others
def argsort(
    a: Any, axis: int | None = -1, kind: Any = None, order: Any = None, *, stable: Any = None
) -> LazyTensor:
    """Positions along an axis in the order of the values; NaN last, equals in their order."""
    _c.check_sort("argsort", kind, order, stable)
    return _c.argsort(a, axis)


@_by_numpy.also_of_others
def sort(
    a: Any, axis: int | None = -1, kind: Any = None, order: Any = None, *, stable: Any = None
) -> LazyTensor:
    """The values in ascending order along an axis; NaN last."""
    _c.check_sort("sort", kind, order, stable)
    return _c.sort(a, axis)


def sort_complex(a: Any) -> LazyTensor:
    """The values as complex numbers, by real, then by imaginary parts."""
    return _c.sort_complex(a)


def argpartition(
    a: Any, kth: Any, axis: int | None = -1, kind: str = "introselect", order: Any = None
) -> LazyTensor:
    """Positions that put what is smaller than the kth before it; in order altogether."""
    return _c.argpartition(a, kth, axis, kind, order)


def partition(
    a: Any, kth: Any, axis: int | None = -1, kind: str = "introselect", order: Any = None
) -> LazyTensor:
    """The values, those smaller than the kth before it; in order altogether."""
    return _c.partition(a, kth, axis, kind, order)


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
