"""Arrays that kernels store: their elements are loaded and stored by loops over indices."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

from composit._core.procedure import Statement
from composit._core.scalar import Expr
from composit.knossos.translator.arrays import Array, Index, Stored
from composit.knossos.translator.code import Code
from composit.knossos.translator.found import Found
from composit.knossos.translator.integers import Integers
from composit.knossos.translator.sharing import Sharing
from composit.knossos.values import KINDS, Mismatch, Operators, is_number, kind_of, make


@dataclasses.dataclass(eq=False)
class Storage:
    """Makes arrays, fills them, and says what is loaded and stored."""

    code: Code
    operators: Operators
    integers: Integers
    sharing: Sharing
    found: Found

    def __post_init__(self) -> None:
        self._counters: set[str] = set()  # of the loops around

    def add_array(
        self, wanted: str, kind: str, shape: tuple[Any, ...], role: str = "local",
        is_list: int = 0,
    ) -> Stored:  # fmt: skip
        """`role` is local, input or output; `is_list`: of how many axes Python makes lists."""
        if not self.found.has_arrays and role != "input":  # which calls before this one depend on
            self.found.has_arrays = True
            self.found.begin_again()
        taken = self.taken_names()
        name, k = wanted, 1
        while name in taken:
            k += 1
            name = f"{wanted}_{k}"
        number = len(self.code.arrays)
        self.operators.has_arrays = True
        extents = [self.code.integer(extent) for extent in shape]
        self.code.arrays.append((name, self.operators.dtype_of(kind), extents, role))

        def at(indices: Index) -> Expr:
            self.sharing.check_current(number)
            own = self.code.hidden_variable(f"{name}_value", kind)
            places = [self.code.integer(index) for index in indices]
            variable = self.code.numbers[own]
            self.code.add(Statement.load(variable, number, places, self.code.line))
            self.code.homes[variable] = self.code.out
            self.code.loaded.add(variable)
            return self.code.leaf(own)

        self.sharing.overwritten(number)  # that of the iteration before
        return Stored(number, name, kind, shape, at, role == "input", is_list)

    def taken_names(self) -> set[str]:
        """Those of arrays and variables."""
        arrays = {name for name, _, _, _ in self.code.arrays}
        return arrays | {name for name, _ in self.code.variables}

    def fresh_array(
        self, wanted: str, kind: str, shape: tuple[Any, ...], is_zeroed: bool = False
    ) -> Stored:
        """An array that has no name in the text, allocated here, whose elements are stored next,
        or added to."""
        made = self.add_array(wanted, kind, shape)
        self.sharing.fresh.add(made.number)
        self.code.add(Statement.allocate(made.number, is_zeroed, self.code.line))
        return made

    def store(self, array: Stored, indices: Index, value: Any) -> None:
        own = kind_of(value)
        if own not in KINDS or KINDS.index(own) > KINDS.index(array.kind):
            raise Mismatch(
                f"an element of {array.name} is {own} here, and {array.kind} elsewhere",
                f"Write {array.kind}(…), or make {array.name} of {own}s.",
            )
        places = [self.code.integer(index) for index in indices]
        made = self.operators.cast(value, array.kind)
        self.code.add(Statement.store(array.number, places, made, self.code.line))

    def nest(self, shape: tuple[Any, ...], body: Callable[[Index], None]) -> None:
        """Loops over all indices."""
        self._nest(list(shape), [], body)

    def _nest(self, rest: list[Any], indices: Index, body: Callable[[Index], None]) -> None:
        if not rest:
            body(indices)
            return
        if is_number(rest[0]) and rest[0] == 1:
            self._nest(rest[1:], [*indices, 0], body)
            return
        free = [each for each in "ijklabpqrs" if each not in self.code.assigned | self._counters]
        wanted = free[0] if free else "index"
        name = self.code.hidden_variable(wanted, "int")
        number, here = self.code.numbers[name], self.code.leaf(name)
        self.integers.bounds[number] = (0, rest[0])
        self._counters.add(wanted)
        with self.code.emitting([]) as inner:
            self._nest(rest[1:], [*indices, here], body)
        self._counters.discard(wanted)
        first = [Statement.assign(number, self.code.integer(0), self.code.line)]
        moved = [
            Statement.assign(number, make("add", [here, self.code.integer(1)]), self.code.line)
        ]
        condition = make("less", [here, self.code.integer(rest[0])])
        self.code.add(Statement.loop(first, condition, inner, moved, self.code.line))

    def fill(self, target: Stored, value: Array, is_again: bool = False) -> None:
        """Allocates the array and stores the value in it. `is_again`: it may hold another one,
        whose elements derivatives in reverse note as they are overwritten."""
        if value.is_zero and not is_again:
            self.code.add(Statement.allocate(target.number, True, self.code.line))
            return
        self.code.add(Statement.allocate(target.number, False, self.code.line))
        self.nest(value.shape, lambda at: self.store(target, at, value.at(at)))

    def stored(self, value: Array, name: str) -> Stored:
        """The array, whose elements are stored."""
        return value if isinstance(value, Stored) else self._made(name, value)

    def copied(self, value: Array) -> Stored:
        """Another array of the same elements."""
        return self._made("new_value", value)

    def _made(self, name: str, value: Array) -> Stored:
        made = self.add_array(name, value.kind, value.shape)
        self.fill(made, value)
        self.sharing.copy_of_parts(made, value)
        self.sharing.fresh.add(made.number)
        return made
