"""What NumPy makes by indexing: grids of coordinates (mgrid, ogrid), rows and columns (r_, c_)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

import composit._core as _core
from composit._core import LazyTensor, type_error, value_error, with_location
from composit.numpy.creation import arange, array, asarray, linspace, zeros
from composit.numpy.manipulation import broadcast_to, concatenate, reshape, stack

__all__ = ["c_", "mgrid", "ogrid", "r_"]

_c = _core.numpy


def _is_count(step: Any) -> bool:
    """Whether a slice's step is j times a number of points."""
    return isinstance(step, (complex, np.complexfloating))


def _bounds(name: str, part: Any) -> tuple[Any, Any, Any]:
    """start, stop and step of a slice, which are numbers."""
    if not isinstance(part, slice):
        message = f"{name}: {part!r} is no slice. Slices such as 0:5 or 0:1:5j are required."
        raise AttributeError(with_location(message))  # NumPy's class
    start = 0 if part.start is None else part.start
    step = 1 if part.step is None else part.step
    numbers = (start, part.stop, step)
    return tuple(n.item() if isinstance(n, LazyTensor) else n for n in numbers)  # type: ignore


def _line(name: str, part: Any) -> tuple[int, Any, Any, Any]:
    """How many points a slice has, the first, the distance between them, and the numbers whose
    dtypes promote to the grid's."""
    start, stop, step = _bounds(name, part)
    if _is_count(step):
        count = int(abs(step))
        step = (stop - start) / float(count - 1) if count != 1 else 1
        return count, start, step, (start, stop, 0.0)
    return math.ceil((stop - start) / step), start, step, (start, stop, step)


class _Grid:
    """Coordinates of the points of a grid, by slices: `mgrid[0:2, 0:1:5j]`. A step of j times a
    count is that many points, both ends among them."""

    def __init__(self, name: str, is_open: bool):
        self._name = name
        self._is_open = is_open

    def __repr__(self) -> str:
        return f"composit.numpy.{self._name}"

    def __getitem__(self, key: Any) -> Any:
        if not isinstance(key, tuple):
            return self._one(key)
        lines = [_line(self._name, part) for part in key]
        numbers = [number for *_, some in lines for number in some]
        dtype = np.result_type(0, *numbers)
        counts = [count for count, *_ in lines]
        if not self._is_open and min(counts, default=0) < 0:
            raise value_error(f"{self._name}: negative dimensions are not allowed: {counts}.")
        axes = []
        for axis, (count, (_, start, step, _)) in enumerate(zip(counts, lines)):
            points = arange(max(0, count)).astype(dtype)
            points = reshape(points, [-1 if axis == d else 1 for d in range(len(key))])
            axes.append((points * step + start).astype(dtype))
        if self._is_open:
            return tuple(axes)
        if not axes:
            return zeros((0,), dtype)
        return stack([broadcast_to(axis, counts) for axis in axes])

    def _one(self, part: Any) -> LazyTensor:
        start, stop, step = _bounds(self._name, part)
        if stop is None:
            start, stop = 0, start
        if not _is_count(step):
            return arange(start, stop, step)
        count, start, step, _ = _line(self._name, part)
        points = arange(count).astype(np.result_type(start, stop, 1.0))
        return points * step + start


class _Joined:
    """Arrays, numbers and slices, joined: `r_[1, 2:5, x]`. A text that comes first says along
    which axis, of how many at least, and where the axes of arrays with fewer of them go."""

    def __init__(self, name: str, axis: int, rank: int, place: int):
        self._name = name
        self._defaults = (axis, rank, place)

    def __repr__(self) -> str:
        return f"composit.numpy.{self._name}"

    def __len__(self) -> int:
        return 0

    def __getitem__(self, key: Any) -> LazyTensor:
        if isinstance(key, str):
            self._directive("r")  # the whole is a matrix in words
        parts = list(key) if isinstance(key, tuple) else [key]
        axis, rank, place = self._defaults
        if parts and isinstance(parts[0], str):
            axis, rank, place = self._directive(parts.pop(0))
        if any(isinstance(part, str) for part in parts):
            raise value_error(f"{self._name}: special directives must be the first entry.")
        made = [part if _is_number(part) else self._array(part, rank, place) for part in parts]
        dtypes = [x if _is_number(x) else x.dtype for x in made]
        if not made:
            raise value_error(f"{self._name}: need at least one array to concatenate")
        dtype = np.result_type(*dtypes)
        return concatenate([array(x, dtype=dtype, ndmin=rank) for x in made], axis=axis)

    def _directive(self, text: str) -> tuple[int, int, int]:
        """axis, rank and place of a text such as "0,2" or "1"."""
        if text in ("r", "c"):
            message = f"{self._name}: {text!r} makes a matrix, which composit has not. Use '1,2'."
            raise type_error(message)
        given: Sequence[str] = text.split(",")
        try:
            numbers = [int(word) for word in given[:3]]
        except ValueError:
            raise value_error(f"{self._name}: unknown special directive {text!r}") from None
        return (*numbers, *self._defaults[len(numbers) :])  # type: ignore[return-value]

    def _array(self, part: Any, rank: int, place: int) -> LazyTensor:
        if isinstance(part, slice):
            start, stop, step = _bounds(self._name, part)
            if _is_count(step):
                line = linspace(start, stop, num=int(abs(step)))
            else:
                line = arange(start, stop, step)
            line = array(line, ndmin=rank)
            return line if rank < 2 or place == -1 else _c.swapaxes(line, -1, place)
        given = asarray(part)
        missing = rank - given.ndim
        widened = array(given, ndmin=rank)
        if missing <= 0 or place == -1:
            return widened
        # New axes come first; those that the array has go where `place` says.
        at = place + missing + 1 if place < 0 else place
        axes = list(range(rank))
        return widened.transpose(axes[:at] + axes[missing:] + axes[at:missing])


def _is_number(part: Any) -> bool:
    return isinstance(part, (bool, int, float, complex, np.generic))


mgrid = _Grid("mgrid", is_open=False)
ogrid = _Grid("ogrid", is_open=True)
r_ = _Joined("r_", 0, 1, -1)
c_ = _Joined("c_", -1, 2, 0)
