"""What NumPy makes by indexing: grids of coordinates (mgrid, ogrid), rows and columns (r_, c_)."""

from __future__ import annotations

from typing import Any

import composit._core as _core
from composit._core import LazyTensor

__all__ = ["c_", "mgrid", "ogrid", "r_"]

_c = _core.numpy


class _Grid:
    """Coordinates of the points of a grid, by slices: `mgrid[0:2, 0:1:5j]`. A step of j times a
    count is that many points, both ends among them."""

    def __init__(self, name: str, is_open: bool):
        self._name = name
        self._is_open = is_open

    def __repr__(self) -> str:
        return f"composit.numpy.{self._name}"

    def __getitem__(self, key: Any) -> Any:
        return _c.grid(self._name, key, self._is_open)


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
        return _c.joined(self._name, key, *self._defaults)


mgrid = _Grid("mgrid", is_open=False)
ogrid = _Grid("ogrid", is_open=True)
r_ = _Joined("r_", 0, 1, -1)
c_ = _Joined("c_", -1, 2, 0)
