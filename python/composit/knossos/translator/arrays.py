"""Arrays as values: a number for each index, of which kernels store what they have to."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from composit.knossos.annotations import Leaf, Parts
from composit.knossos.values import Listed, Record, kind_of

Index = list[Any]


class Line(NamedTuple):
    """Elements along one axis of an array, wherever on the others they are: of two such lines
    elements k stand beside each other, and no others do."""

    array: int
    axis: int
    begin: int
    step: int


class Array:
    """A value with axes: `at(indices)` is one of its numbers. Its extents are integers or
    expressions over parameters. `reads` are the numbers of the arrays that it is computed from."""

    def __init__(
        self, kind: str, shape: tuple[Any, ...], at: Callable[[Index], Any],
        reads: frozenset[int] = frozenset(), is_list: int = 0, is_zero: bool = False,
        parts_of: frozenset[int] = frozenset(), elsewhere: frozenset[int | Line] | None = None,
    ) -> None:  # fmt: skip
        self.kind, self.shape, self.at = kind, shape, at
        # Of the arrays that it reads those of which an element needs others than its own; lines
        # where these are elements of such.
        self.elsewhere = reads if elsewhere is None else elsewhere
        self.reads, self.is_list, self.is_zero = reads, is_list, is_zero
        # is_list: of how many axes Python makes lists, the first ones.
        self.parts_of = parts_of  # the arrays whose elements NumPy's array would share

    def __repr__(self) -> str:
        return f"an array of {len(self.shape)} axes"

    def needs_others(self, number: int, line: Line | None = None) -> bool:
        """Whether an element needs others of the array of that number than the one that is stored
        in its place, which is in a `line` of it; others beside that one do not matter."""
        if number not in self.reads:
            return False
        read = [each for each in self.elsewhere
                if each == number or (isinstance(each, Line) and each.array == number)]  # fmt: skip
        if line is None:
            return bool(read)
        return any(each != line for each in read) if read else (line.begin, line.step) != (0, 1)


class Stored(Array):
    """An argument or a local array."""

    def __init__(
        self, number: int, name: str, kind: str, shape: tuple[Any, ...], at: Callable[[Index], Any],
        is_argument: bool, is_list: int = 0,
    ) -> None:  # fmt: skip
        own = frozenset([number])
        super().__init__(kind, shape, at, own, is_list, parts_of=own, elsewhere=frozenset())
        self.number, self.name, self.is_argument = number, name, is_argument


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
