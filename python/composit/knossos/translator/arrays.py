"""Structures of variables that are arrays, or have some among their parts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from composit._core.knossos import Array, NewAxis, Stored
from composit.knossos.annotations import Leaf, Parts
from composit.knossos.values import Listed, Record, kind_of

NEW_AXIS = NewAxis()  # np.newaxis between the brackets: an axis of one element


class ArrayOf(Leaf):
    """The structure of a variable that is an array."""

    def __init__(self, stored: Stored, block: Any = None) -> None:
        super().__init__(stored.kind)
        self.stored, self.block = stored, block  # the block that the array was made in

    def build(self, leaf: Any, name: str) -> Any:
        return self.stored

    def leaves(self, name: str) -> list[tuple[str, str]]:
        return []

    def outline(self) -> str:
        return f"an array of {len(self.stored.shape)} axes"


def structure_with(value: Any, name: str, of_array: Callable[[str, Array], Leaf]) -> Leaf:
    """The structure of a variable that has a value; `of_array(name, array)` is that of an array
    among its parts."""
    if isinstance(value, Array):
        return of_array(name, value)
    if isinstance(value, Record):
        made_by, parts = value.made_by, dict[Any, Any](value.fields)
    elif isinstance(value, tuple):
        made_by = Listed if isinstance(value, Listed) else tuple
        parts = dict(enumerate(value))
    else:
        return Leaf(kind_of(value))
    return Parts(
        made_by,
        {key: structure_with(part, f"{name}.{key}", of_array) for key, part in parts.items()},
    )
