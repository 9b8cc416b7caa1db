"""Arguments of torch's functions as numbers."""

from __future__ import annotations

from typing import Any

import composit._core as _core
from composit._core import runtime_error


def integers(given: Any) -> tuple[int, ...]:
    """Lengths given one by one, or as one tuple or list."""
    if len(given) == 1 and isinstance(given[0], (tuple, list)):
        given = given[0]
    return tuple(int(n) for n in given)


def lengths_of(given: Any) -> tuple[int, ...]:
    """The lengths of a tensor to be made. RuntimeError: one is negative."""
    made = integers(given)
    if made and min(made) < 0:
        raise runtime_error(
            f"Trying to create tensor with negative dimension {min(made)}: {list(made)}"
        )
    return made


axis_of = _core.aten.dimension_of  # the dimension, counted from the first
