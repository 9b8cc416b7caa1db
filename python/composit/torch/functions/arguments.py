"""Arguments of torch's functions as numbers."""

from __future__ import annotations

from typing import Any


def integers(given: Any) -> tuple[int, ...]:
    """Lengths given one by one, or as one tuple or list."""
    if len(given) == 1 and isinstance(given[0], (tuple, list)):
        given = given[0]
    return tuple(int(n) for n in given)


def axis_of(dim: int, ndim: int) -> int:
    """The dimension, counted from the first."""
    count = max(ndim, 1)
    if not -count <= dim < count:
        raise IndexError(
            f"Dimension out of range (expected to be in range of [{-count}, {count - 1}], but got "
            f"{dim})"
        )
    return dim % count
