"""torch.cuda.nvtx: names of parts of a program for NVIDIA's profilers, which are accepted."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

__all__ = ["mark", "range", "range_end", "range_pop", "range_push", "range_start"]

_depth = [0]


def range_push(msg: str) -> int:
    """Begins a part; how many stand around it."""
    _depth[0] += 1
    return _depth[0] - 1


def range_pop() -> int:
    """Ends the last part; how many stood around it."""
    _depth[0] = max(_depth[0] - 1, 0)
    return _depth[0]


def range_start(msg: str) -> int:
    """Begins a part that may end in any order: its number."""
    return 0


def range_end(range_id: int) -> None:
    """Ends the part of that number."""


def mark(msg: str) -> None:
    """Names a moment."""


@contextlib.contextmanager
def range(msg: str, *args: Any, **kwargs: Any) -> Iterator[None]:
    """A with block that is a part."""
    range_push(msg.format(*args, **kwargs))
    try:
        yield
    finally:
        range_pop()
