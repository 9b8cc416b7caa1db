"""Arguments of torch's functions as numbers."""

from __future__ import annotations

import operator
from typing import Any

from composit._core import runtime_error, type_error


def integers(given: Any) -> tuple[int, ...]:
    """Lengths given one by one, or as one tuple or list."""
    if len(given) == 1 and isinstance(given[0], (tuple, list)):
        given = given[0]
    return tuple(map(_integer, given))


def _integer(given: Any) -> int:
    """One length. TypeError: it is no integer, as 2.0 is none."""
    try:
        return operator.index(given)
    except TypeError:
        found = type(given).__name__
        raise type_error(f"lengths must be integers, but found one of type {found}") from None


def lengths_of(given: Any) -> tuple[int, ...]:
    """The lengths of a tensor to be made. RuntimeError: one is negative."""
    made = integers(given)
    if made and min(made) < 0:
        raise runtime_error(
            f"Trying to create tensor with negative dimension {min(made)}: {list(made)}"
        )
    return made


def check_threes(name: str, input: Any, other: Any, dim: int) -> None:
    """RuntimeError unless both have three elements along the dimension."""
    counts = [each.shape[axis_of(dim, each.ndim)] for each in (input, other)]
    if counts != [3, 3]:
        raise runtime_error(
            f"{name}: inputs dimension {dim} must have length 3. Got {counts[0]} and {counts[1]}"
        )


def axis_of(dim: int, ndim: int) -> int:
    """The dimension, counted from the first."""
    count = max(ndim, 1)
    if not -count <= dim < count:
        raise IndexError(
            f"Dimension out of range (expected to be in range of [{-count}, {count - 1}], but got "
            f"{dim})"
        )
    return dim % count
