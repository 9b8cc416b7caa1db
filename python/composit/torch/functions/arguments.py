"""Arguments of torch's functions as numbers."""

from __future__ import annotations

import operator
from typing import Any

import composit._core as _core
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


axis_of = _core.aten.dimension_of  # the dimension, counted from the first
