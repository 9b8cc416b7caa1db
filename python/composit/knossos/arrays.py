"""Arrays inside kernels: what is stored, what is computed element by element, shapes, indices."""

from __future__ import annotations

import ast
import contextlib
from collections.abc import Callable, Iterator
from typing import Any

from composit._core.procedure import Statement
from composit._core.scalar import Expr
from composit.knossos.source import shown
from composit.knossos.terms import function_in, linear, same
from composit.knossos.values import Mismatch, Operators, is_number, kind_of, make, scalar

Index = list[Any]


class Array:
    """A value with axes: `at(indices)` is one of its numbers. Its extents are integers or
    expressions over parameters. `reads` are the numbers of the arrays that it is computed from."""

    def __init__(
        self, kind: str, shape: tuple[Any, ...], at: Callable[[Index], Any],
        reads: frozenset[int] = frozenset(), is_list: int = 0, is_zero: bool = False,
        parts_of: frozenset[int] = frozenset(), elsewhere: frozenset[int] | None = None,
    ) -> None:  # fmt: skip
        self.kind, self.shape, self.at = kind, shape, at
        # Of the arrays that it reads those of which an element needs others than its own.
        self.elsewhere = reads if elsewhere is None else elsewhere
        self.reads, self.is_list, self.is_zero = reads, is_list, is_zero
        # is_list: of how many axes Python makes lists, the first ones.
        self.parts_of = parts_of  # the arrays whose elements NumPy's array would share

    def __repr__(self) -> str:
        return f"an array of {len(self.shape)} axes"


class Stored(Array):
    """An argument or a local array."""

    def __init__(
        self, number: int, name: str, kind: str, shape: tuple[Any, ...], at: Callable[[Index], Any],
        is_argument: bool, is_list: int = 0,
    ) -> None:  # fmt: skip
        own = frozenset([number])
        super().__init__(kind, shape, at, own, is_list, parts_of=own, elsewhere=frozenset())
        self.number, self.name, self.is_argument = number, name, is_argument


def _is_of_all(shape: tuple[Any, ...], common: tuple[Any, ...]) -> bool:
    """Whether an array has an element for each one of the common shape."""
    return len(shape) == len(common) and not any(
        is_number(a) and a == 1 and not (is_number(b) and b == 1) for a, b in zip(shape, common)
    )


class Arrays:
    """What the translator does with arrays: its statements go where `out` says."""

    operators: Operators
    numbers: dict[str, int]
    variables: list[tuple[str, Any]]
    source: Any
    assigned: set[str]

    def __init__(self) -> None:
        self.counters: set[str] = set()  # of the loops around
        self.aliases: dict[int, Any] = {}
        self.arrays: list[tuple[str, Any, list[Expr], str]] = []
        self.fresh: set[int] = set()  # arrays that have no name in the text
        self.out: list[Any] = []
        self.line = 0
        self.construct: ast.AST | None = None  # what is being translated
        # Of counters: from which integer on, and below which extent they run.
        self.ranges: dict[int, tuple[int, Any]] = {}
        self.blocks: list[list[Any]] = []  # around this place, from the outermost
        self.certain: list[list[Any]] = []  # of them, those that run wherever the one around does
        self.homes: dict[int, list[Any]] = {}  # the blocks that assign variables
        self.loaded: set[int] = set()  # variables that hold an element, and nothing else later
        # Of a variable and an extent: the index that it was settled as, and the block that did.
        self.settled_as: dict[int, Expr] = {}  # of variables for indices: what they are
        self.sizes: dict[int, Any] = {}  # of variables for extents: what they were made of
        self.places: dict[tuple[int, str], tuple[Any, list[Any]]] = {}

    def hidden_variable(self, wanted: str, kind: str) -> str:
        raise NotImplementedError

    def leaf(self, name: str) -> Expr:
        raise NotImplementedError

    def is_assigned_once(self, value: Expr) -> bool:
        raise NotImplementedError

    def check_current(self, number: int) -> None:
        raise NotImplementedError

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

    # ----- storage

    def integer(self, value: Any) -> Expr:
        return self.operators.cast(value, "int")

    def add_array(
        self, wanted: str, kind: str, shape: tuple[Any, ...], role: str = "local",
        is_list: int = 0,
    ) -> Stored:  # fmt: skip
        taken = {name for name, _, _, _ in self.arrays} | {name for name, _ in self.variables}
        name, k = wanted, 1
        while name in taken:
            k += 1
            name = f"{wanted}_{k}"
        number = len(self.arrays)
        self.operators.has_arrays = True
        extents = [self.integer(extent) for extent in shape]
        self.arrays.append((name, self.operators.dtype_of(kind), extents, role))

        def at(indices: Index) -> Expr:
            self.check_current(number)
            own = self.hidden_variable(f"{name}_value", kind)
            places = [self.integer(index) for index in indices]
            self.out.append(Statement.load(self.numbers[own], number, places, self.line))
            self.homes[self.numbers[own]] = self.out
            self.loaded.add(self.numbers[own])
            return self.leaf(own)

        return Stored(number, name, kind, shape, at, role == "input", is_list)

    def fresh_array(self, wanted: str, kind: str, shape: tuple[Any, ...]) -> Stored:
        """An array that has no name in the text, allocated here, whose elements are stored next."""
        made = self.add_array(wanted, kind, shape)
        self.fresh.add(made.number)
        self.out.append(Statement.allocate(made.number, False, self.line))
        return made

    def store(self, array: Stored, indices: Index, value: Any) -> None:
        own = kind_of(value)
        order = ("bool", "int", "float")
        if own not in order or order.index(own) > order.index(array.kind):
            raise Mismatch(
                f"an element of {array.name} is {own} here, and {array.kind} elsewhere",
                f"Write {array.kind}(…), or make {array.name} of {own}s.",
            )
        places = [self.integer(index) for index in indices]
        made = self.operators.cast(value, array.kind)
        self.out.append(Statement.store(array.number, places, made, self.line))

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
        free = [each for each in "ijklabpqrs" if each not in self.assigned | self.counters]
        wanted = free[0] if free else "index"
        name = self.hidden_variable(wanted, "int")
        number, here = self.numbers[name], self.leaf(name)
        self.ranges[number] = (0, rest[0])
        self.counters.add(wanted)
        with self.emitting([]) as inner:
            self._nest(rest[1:], [*indices, here], body)
        self.counters.discard(wanted)
        first = [Statement.assign(number, self.integer(0), self.line)]
        moved = [Statement.assign(number, make("add", [here, self.integer(1)]), self.line)]
        condition = make("less", [here, self.integer(rest[0])])
        self.out.append(Statement.loop(first, condition, inner, moved, self.line))

    def fill(self, target: Stored, value: Array, is_again: bool = False) -> None:
        """Allocates the array and stores the value in it. `is_again`: it may hold another one,
        whose elements derivatives in reverse note as they are overwritten."""
        if value.is_zero and not is_again:
            self.out.append(Statement.allocate(target.number, True, self.line))
            return
        self.out.append(Statement.allocate(target.number, False, self.line))
        self.nest(value.shape, lambda at: self.store(target, at, value.at(at)))

    def stored(self, value: Array, name: str) -> Stored:
        if isinstance(value, Stored):
            return value
        made = self.add_array(name, value.kind, value.shape)
        self.fill(made, value)
        return made

    # ----- shapes

    def require_same(self, a: Any, b: Any) -> None:
        """That two extents are the same: known, or asserted."""
        a, b = self.resolved(a), self.resolved(b)
        if same(a, b):
            return
        if is_number(a) and is_number(b):
            raise Mismatch(f"extents {a} and {b} do not fit", "Equal extents are required.")
        a, b = self.integer(a), self.integer(b)
        claim = "extents {} and {} do not fit%s. Equal extents are required."
        self._expect(make("equal", [a, b]), "ValueError", claim, [a, b])

    def broadcast(self, values: list[Any]) -> tuple[Any, ...]:
        """The common shape of arrays and numbers."""
        shapes = [value.shape for value in values if isinstance(value, Array)]
        rank = max(map(len, shapes))
        common: list[Any] = [1] * rank
        for shape in shapes:
            for axis, extent in enumerate(shape, rank - len(shape)):
                if is_number(extent) and extent == 1:
                    continue
                if is_number(common[axis]) and common[axis] == 1:
                    common[axis] = extent
                else:
                    self.require_same(common[axis], extent)
        return tuple(common)

    def elementwise(self, function: Callable[..., Any], values: list[Any]) -> Array:
        """The function of numbers over the elements, under NumPy's broadcasting."""
        for value in values:
            if isinstance(value, Array) and value.is_list:
                raise Mismatch(
                    "an operator of a list, which means something else in Python",
                    "Write np.array([…]) around the comprehension.",
                )
        shape = self.broadcast(values)
        values = [
            self.read_often(value)
            if isinstance(value, Array) and not _is_of_all(value.shape, shape)
            else self._computed_once(value)
            for value in values
        ]

        def element(value: Any, indices: Index) -> Any:
            if not isinstance(value, Array):
                return value
            own = indices[len(indices) - len(value.shape) :]
            return value.at([0 if is_number(extent) and extent == 1 else index
                             for index, extent in zip(own, value.shape)])  # fmt: skip

        def at(indices: Index) -> Any:
            return function(*(element(value, indices) for value in values))

        arrays = [value for value in values if isinstance(value, Array)]
        reads = frozenset().union(*(each.reads for each in arrays))
        kind = self.kind_by_trial(lambda: at(list(shape)))
        elsewhere = frozenset().union(*(each.elsewhere if _is_of_all(each.shape, shape)
                                        else each.reads for each in arrays))  # fmt: skip
        return Array(kind, shape, at, reads, elsewhere=elsewhere)

    def read_often(self, array: Array) -> Array:
        """An array of which each element is asked for several times: one whose elements loops or
        functions compute is stored."""
        if isinstance(array, Stored):
            return array
        with self.emitting([]) as statements:
            element = array.at([0] * len(array.shape))
        is_read = all(each.is_load or each.is_expect for each in statements)
        if is_read and (is_number(element) or not function_in(element)):
            return array
        return self.stored(array, "operand")

    def _computed_once(self, value: Any) -> Any:
        """A number for all elements: one that a function computes becomes a variable."""
        if isinstance(value, Array) or is_number(value) or not (name := function_in(value)):
            return value
        name = self.hidden_variable(name, kind_of(value))
        self.out.append(Statement.assign(self.numbers[name], value, self.line))
        return self.leaf(name)

    def kind_by_trial(self, compute: Callable[[], Any]) -> str:
        """The kind of what would be computed, of which nothing stays."""
        with self.emitting([]):
            return kind_of(scalar(compute()))

    # ----- indices

    def resolved(self, value: Any) -> Any:
        """What a variable stands for that is assigned once, a number known before the run."""
        while not is_number(value) and value.op == "argument" and value.index in self.aliases:
            value = self.aliases[value.index]
        return value

    def resolved_within(self, value: Any) -> Any:
        """A sum or product with what its variables stand for."""
        value = self.resolved(value)
        if is_number(value) or value.op not in ("add", "subtract", "multiply"):
            return value
        operands = [self.resolved_within(operand) for operand in value.operands]
        return make(value.op, [self.integer(operand) for operand in operands])

    def in_parameters(self, value: Any) -> Any:
        """An extent, in which parameters stand for the variables that are computed of them."""
        if is_number(value):
            return value
        if value.op == "argument":
            known = self.aliases.get(value.index, self.settled_as.get(value.index))
            return value if known is None else self.in_parameters(known)
        if not value.operands:
            return value
        return value.with_operands([self.in_parameters(operand) for operand in value.operands])

    def least(self, value: Any) -> int | None:
        """A number that an integer is known not to be below; None: none is known."""
        base, constant = linear(self.resolved(value))
        if base is None:
            return constant
        if base.op == "argument":
            if base.index in self.ranges:
                return self.ranges[base.index][0] + constant
            return constant if base.index in self.extents else None
        if base.op in ("add", "multiply"):
            bounds = [self.least(operand) for operand in base.operands]
            if all(bound is not None and bound >= 0 for bound in bounds):
                return constant
        return None

    def greatest(self, value: Any) -> int | None:
        """A number that an integer is known not to be above; None: none is known."""
        base, constant = linear(self.resolved(value))
        if base is None:
            return constant
        if base.op == "argument" and base.index in self.ranges:
            below, moved = linear(self.resolved(self.ranges[base.index][1]))
            return moved - 1 + constant if below is None else None
        if base.op not in ("add", "multiply"):
            return None
        bounds = [self.greatest(operand) for operand in base.operands]
        if None in bounds or not all(map(self.is_natural, base.operands)):
            return None
        a, b = bounds
        return (a + b if base.op == "add" else a * b) + constant  # type: ignore[operator]

    def is_natural(self, value: Any) -> bool:
        """Whether an integer is known not to be negative."""
        bound = self.least(value)
        return bound is not None and bound >= 0

    @property
    def extents(self) -> set[int]:
        """The variables that are extents of arguments."""
        return {
            extent.index for _, _, shape, role in self.arrays if role == "input"
            for extent in shape if extent.op == "argument"
        }  # fmt: skip

    def is_within(self, value: Any, extent: Any) -> bool:
        """Whether a natural number is known to be below an extent."""
        base, constant = linear(self.resolved(value))
        bound = self.greatest(value)
        least = self.least(extent)
        if bound is not None and least is not None and bound < least:
            return True
        top, limit = linear(self.resolved(extent))
        if base is not None and top is not None and same(base, top):
            return constant < limit
        if base is None or base.op != "argument" or base.index not in self.ranges:
            return False
        below, moved = linear(self.resolved(self.ranges[base.index][1]))
        if (below is None) != (top is None) or (below is not None and not same(below, top)):
            return False
        return moved + constant <= limit

    def place(self, value: Any, extent: Any) -> Any:
        """An index as Python means it: negative ones count from the end. Asserted, unless known,
        to lie within."""
        if kind_of(value) not in ("int", "bool"):
            raise Mismatch(f"the index is a {kind_of(value)}", "An integer is required.")
        if isinstance(value, bool) or kind_of(value) == "bool":
            raise Mismatch("the index is a bool", "An integer is required.")
        if is_number(value) and is_number(extent):
            if not -extent <= value < extent:
                raise Mismatch(
                    f"index {value} of an axis of {extent}", "One that it has is required."
                )
            return value % extent
        if is_number(value) and value < 0:
            made = make("subtract", [self.integer(extent), self.integer(-value)])
            holds = make("greater_equal", [made, self.integer(0)])
            self._expect_place(holds, self.integer(value), extent)
            return made
        key = self._place_key(value, extent)
        if key is None:
            return self._settled_place(value, extent)
        known = self.places.get(key)
        if known and any(block is known[1] for block in self.blocks):
            return known[0]
        with self.emitting_further_out(self.homes.get(value.index)):
            made = self._settled_place(value, extent)
            self.places[key] = (made, self.out)
        return made

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

    def _settled_place(self, value: Any, extent: Any) -> Any:
        given = self.integer(value)
        if not self.is_natural(value):
            given = value = self._settled(value)
            wrapped = make("add", [value, self.integer(extent)])
            below = make("less", [value, self.integer(0)])
            value = self._settled(make("select", [below, wrapped, value]))
            self._expect_place(make("greater_equal", [value, self.integer(0)]), given, extent)
        if not self.is_within(value, extent):
            holds = make("less", [self.integer(value), self.integer(extent)])
            self._expect_place(holds, given, extent)
        return value

    def _place_key(self, value: Any, extent: Any) -> tuple[int, str] | None:
        """What tells places apart, of a variable that keeps its value where it can be read."""
        if is_number(value) or value.op != "argument" or not self.is_assigned_once(value):
            return None
        return value.index, str(extent)

    def _expect(
        self, condition: Expr, error: str = "", claim: str = "", values: Any = ()
    ) -> None:  # fmt: skip
        """An assertion, of whose claim `{}` stand for values and `%s` for what is translated."""
        construct = shown(self.construct).splitlines()[0] if self.construct else ""
        place = f", in `{construct}`".replace("{}", "{ }") if construct else ""
        claim = claim.replace("%s", place)
        self.out.append(Statement.expect(condition, self.line, error, claim, list(values)))

    def _expect_place(self, condition: Expr, index: Expr, extent: Any) -> None:
        claim = "index {} lies outside of an axis of {}%s. An index that it has is required."
        self._expect(condition, "IndexError", claim, [index, self.integer(extent)])

    def _settled(self, value: Expr) -> Expr:
        if value.op == "argument":
            return value
        name = self.hidden_variable("index", "int")
        self.out.append(Statement.assign(self.numbers[name], value, self.line))
        self.settled_as[self.numbers[name]] = value
        return self.leaf(name)
