"""The procedure that a translation writes: its variables, its arrays, blocks of statements."""

from __future__ import annotations

import ast
import contextlib
import dataclasses
from collections.abc import Callable, Iterator
from typing import Any

import composit._core as _core
from composit._core.procedure import Statement
from composit._core.scalar import Expr
from composit.knossos.source import shown
from composit.knossos.values import Operators, kind_of, scalar


def whole_of(name: str) -> str:
    """What the text calls a variable, or the tuple or record that it is a part of."""
    return name.partition(".")[0]


@dataclasses.dataclass(eq=False)
class Code:
    """Statements go to `out`, the innermost of the `blocks` that are being written."""

    operators: Operators
    assigned: set[str]  # the names that the text assigns, which hidden variables do not take
    # In how many places the text assigns each name.
    count_of_assignments: dict[str, int]

    def __post_init__(self) -> None:
        self.out: list[Any] = []
        self.blocks: list[list[Any]] = []  # around this place, from the outermost
        self.certain: list[list[Any]] = []  # of them, those that run wherever the one around does
        self.line = 0
        self.construct: ast.AST | None = None  # what is being translated
        self.variables: list[tuple[str, Any]] = []
        self.parameter_count = 0
        self.numbers: dict[str, int] = {}  # of variables, by name
        self.kinds: dict[str, str] = {}
        self.shown: dict[int, str] = {}  # the names of hidden variables, which scopes tell apart
        self.homes: dict[int, list[Any]] = {}  # the blocks that assign variables
        self.loaded: set[int] = set()  # variables that hold an element, and nothing else later
        self.arrays: list[tuple[str, Any, list[Expr], str]] = []
        self.head: list[int] = []  # parameters in order: variables, and arrays as -1 - number
        self._hidden = 0

    # ----- statements

    @contextlib.contextmanager
    def emitting(self, out: list[Any]) -> Iterator[list[Any]]:
        """Statements go to `out`, within."""
        before, self.out = self.out, out
        self.blocks.append(out)
        try:
            yield out
        finally:
            self.blocks.pop()
            self.out = before

    @contextlib.contextmanager
    def emitting_further_out(self, home: list[Any] | None) -> Iterator[None]:
        """Statements go before the loops around that run at least once, within `home`."""
        before, place = self.out, len(self.blocks) - 1
        while place > 0 and self.blocks[place] is not home and any(
            block is self.blocks[place] for block in self.certain
        ):  # fmt: skip
            place -= 1
        is_inside = any(block is home for block in self.blocks[: place + 1])
        self.out = self.blocks[place] if is_inside else before
        try:
            yield
        finally:
            self.out = before

    @contextlib.contextmanager
    def of_library(self, name: str) -> Iterator[None]:
        """Statements are those of one call of a function of the library, within."""
        with self.emitting([]) as out:
            self.certain.append(out)
            yield
        _core.procedure.join_call(out, name, True)
        self.add(*out)

    def add(self, *statements: Any) -> None:
        self.out.extend(statements)

    def assign(self, number: int, value: Expr, line: int | None = None) -> None:
        """Adds an assignment to a variable."""
        self.out.append(Statement.assign(number, value, self.line if line is None else line))

    def expect(
        self, condition: Expr, error: str = "", claim: str = "", values: Any = ()
    ) -> None:  # fmt: skip
        """An assertion, of whose claim `{}` stand for values and `%s` for what is translated."""
        construct = shown(self.construct).splitlines()[0] if self.construct else ""
        place = f", in `{construct}`".replace("{}", "{ }") if construct else ""
        claim = claim.replace("%s", place)
        self.add(Statement.expect(condition, self.line, error, claim, list(values)))

    def kind_by_trial(self, compute: Callable[[], Any]) -> str:
        """The kind of what would be computed, of which nothing stays."""
        with self.emitting([]):
            return kind_of(scalar(compute()))

    # ----- variables

    def add_variable(self, name: str, kind: str) -> int:
        self.numbers[name] = len(self.variables)
        self.kinds[name] = kind
        self.variables.append((name, self.operators.dtype_of(kind)))
        return self.numbers[name]

    def hidden_variable(self, wanted: str, kind: str) -> str:
        """A variable that the text has not; its name."""
        name = wanted
        arrays = {array for array, _, _, _ in self.arrays}
        while name in self.numbers or name in self.assigned or name in arrays:
            self._hidden += 1
            name = f"{wanted}_{self._hidden}"
        self.shown[self.add_variable(name, kind)] = wanted
        return name

    def held(self, value: Any, wanted: str) -> Expr:
        """A number as it is now: a hidden variable that has got it."""
        here = self.leaf(self.hidden_variable(wanted, kind_of(value)))
        self.assign(here.index, value)
        return here

    def leaf(self, name: str) -> Expr:
        number = self.numbers[name]
        return Expr.argument(number, self.variables[number][1], name)

    def integer(self, value: Any) -> Expr:
        return self.operators.cast(value, "int")

    def whole(self, number: int) -> str:
        """What the text calls the variable, or the tuple or record that it is a part of."""
        return whole_of(self.variables[number][0])

    def is_assigned_once(self, value: Expr) -> bool:
        """Whether a variable is assigned in one place, or a parameter nowhere."""
        if value.index in self.loaded:
            return True
        times = self.count_of_assignments.get(self.whole(value.index), 0)
        return times == (0 if value.index < self.parameter_count else 1)
