"""Lists that grow by `append`: an array of as many elements as loops can append, and a counter.

How many those are, and of which kind, is known when the places have been met that append: the next
run makes the array with it."""

from __future__ import annotations

import ast
import dataclasses
from typing import Any

from composit._core.knossos import (
    Array,
    Block,
    Code,
    Integers,
    Makers,
    Operators,
    Storage,
    Stored,
    same,
)
from composit._core.procedure import Statement
from composit._core.scalar import Expr
from composit.knossos.annotations import Leaf
from composit.knossos.source import shown
from composit.knossos.translator.call_stack import CallStack
from composit.knossos.translator.expressions import Expressions
from composit.knossos.translator.found import Found, GrowingList
from composit.knossos.translator.mentions import appended_in
from composit.knossos.translator.scope import Loop, Scope
from composit.knossos.values import KINDS, Listed, is_number, kind_of, make

Counts = tuple[dict[int, Any], dict[int, Any]]


class ListOf(Leaf):
    """The structure of a variable that is a list that grows."""

    def __init__(
        self, key: Any, stored: Stored, count: Expr, least: int, loops: list[Loop],
        block: Block,
    ) -> None:  # fmt: skip
        super().__init__(stored.kind)
        self.least = least  # how many elements it has at the beginning
        self.key, self.stored, self.count = key, stored, count
        self.loops, self.depth, self.block = loops, len(loops), block  # where it is made

    def build(self, leaf: Any, name: str) -> Any:
        return self

    def leaves(self, name: str) -> list[tuple[str, str]]:
        return []

    def outline(self) -> str:
        return f"a list of {self.kind}s"


@dataclasses.dataclass(eq=False)
class Lists:
    """`lengths` of lists are known until a branch or loop leaves open how often it appends."""

    code: Code
    operators: Operators
    scope: Scope
    found: Found
    stack: CallStack
    integers: Integers
    storage: Storage
    makers: Makers
    expressions: Expressions

    def __post_init__(self) -> None:
        self.lengths: dict[int, Any] = {}  # by arrays
        # How many elements the iteration so far, of the loop around, has appended.
        self.appended: dict[int, Any] = {}
        # Variables that hold how many elements there are, where nothing has been appended since.
        self._sizes: dict[int, tuple[Any, Any]] = {}
        self._met: dict[Any, int] = {}  # how often places were translated: loops over tuples

    def grows(self, name: str, value: Any) -> bool:
        """Whether a value that a name is assigned is a list to which the text appends."""
        return isinstance(value, Listed) and name in self.scope.appended

    def begin(self, target: ast.expr, name: str, value: Listed) -> None:
        """name = [value, …]"""
        number = self.stack.frames[-1].number if self.stack.frames else 0
        key = (number, target.lineno, target.col_offset)
        before = self.scope.structures.get(name)
        if before is not None and name in (self.scope.defined or ()) and not (
            isinstance(before, ListOf) and before.block is self.code.out
        ):  # fmt: skip
            self.scope.refuse(
                target, f"{name} is another list here than before",
                "A variable keeps its structure: use another name.", TypeError,
            )  # fmt: skip
        known = self.found.lists.setdefault(key, GrowingList())
        elements = [self._element(each) for each in value]
        for each in elements:
            self._check(known, target, name, each)
        size: Any = len(value)
        for more in known.appends.values():
            size = self._sum(size, more)
        size = self.integers.extent(self.integers.in_parameters(size))
        stored = self.storage.add_array(
            name, known.kind, (size, *known.shape), is_list=1 + len(known.shape)
        )
        count = self.code.leaf(self.code.hidden_variable(f"{name}_count", "int"))
        self.code.add(Statement.allocate(stored.number, True, self.code.line))
        for k, each in enumerate(elements):
            self._store(stored, k, each)
        self.code.assign(count.index, self.code.integer(len(value)))
        below = make("add", [self.code.integer(size), self.code.integer(1)])
        self.integers.bound(count.index, len(value), below)
        self.lengths[stored.number] = len(value)
        self.scope.structures[name] = ListOf(
            key, stored, count, len(value), self.scope.loops, self.code.out
        )
        self.scope.defined.add(name)  # type: ignore[union-attr]

    def list_of(self, node: ast.expr) -> ListOf | None:
        """The list that `v.append(x)` appends to; None for other calls."""
        function = node.func if isinstance(node, ast.Call) else None
        if not isinstance(function, ast.Attribute) or function.attr != "append":
            return None
        name = function.value.id if isinstance(function.value, ast.Name) else ""
        is_bound = any(name in names for names in self.scope.bound)
        found = None if is_bound else self.scope.structures.get(name)
        return found if isinstance(found, ListOf) and len(node.args) == 1 else None  # type: ignore

    def append(self, node: ast.Call, to: ListOf) -> None:
        """v.append(x)"""
        name = shown(node.func.value)  # type: ignore[attr-defined]
        self.scope.read(node, name)
        value = self._element(self.expressions.value(node.args[0]))
        known = self.found.lists[to.key]
        self._check(known, node, name, value)
        place: tuple[int, ...] = (node.lineno, node.col_offset)
        turn = self._met[to.key, place] = self._met.get((to.key, place), 0) + 1
        place, often = (*place, turn), self._how_often(node, name, to)
        before = known.appends.get(place)
        if before is None or not same(before, often):
            known.appends[place] = often
            self.found.begin_again()
        self._store(to.stored, to.count, value)
        self.code.assign(to.count.index, make("add", [to.count, self.code.integer(1)]))
        for counts in (self.lengths, self.appended):
            if to.stored.number in counts:
                counts[to.stored.number] = self._sum(counts[to.stored.number], 1)
        self._sizes.pop(to.stored.number, None)
        self.stack.has_changed(to.stored)

    def _how_often(self, node: ast.Call, name: str, to: ListOf) -> Any:
        """How often an append runs at most, of parameters."""
        often: Any = 1
        loops = self.scope.loops[to.depth :] if to.loops is self.scope.loops else [None]
        for loop in loops:
            trips = None if loop is None else loop.trips
            trips = None if trips is None else self.integers.in_parameters(trips)
            if trips is None or not self.integers.is_of_parameters(trips):
                self.scope.refuse(
                    node, f"how often `{shown(node)}` runs is not known before the kernel runs",
                    f"Write {name} = np.zeros(n) before the loop, and {name}[i] = … in it.",
                )  # fmt: skip
            often = self._times(often, trips)
        return often

    def _check(self, known: GrowingList, node: ast.AST, name: str, value: Any) -> None:
        """Begins again where elements have another kind or shape than those before."""
        is_array = isinstance(value, Array)
        kind = value.kind if isinstance(value, Array) else kind_of(value)
        shape = tuple(map(self.integers.in_parameters, value.shape)) if is_array else ()
        if kind not in KINDS or not all(map(self.integers.is_of_parameters, shape)):
            self.scope.refuse(
                node, f"{name} has elements that are {kind}, or have extents that are computed",
                f"Numbers, or arrays whose extents are those of arguments, are required: write "
                f"{name} = np.zeros(n) before the loop, and {name}[i] = … in it.",
            )  # fmt: skip
        if known.is_empty:
            known.is_empty, known.kind, known.shape = False, kind, shape
            self.found.begin_again()
        if len(shape) != len(known.shape):
            self.scope.refuse(
                node, f"{name} has arrays of {len(known.shape)} axes and of {len(shape)}",
                "Equal numbers of axes are required.", TypeError,
            )  # fmt: skip
        if KINDS.index(kind) > KINDS.index(known.kind):
            known.kind = kind
            self.found.begin_again()

    def _element(self, value: Any) -> Any:
        """A number or an array; of a tuple an array of its numbers."""
        return self.makers.array(value) if isinstance(value, tuple) else value

    def _store(self, stored: Stored, place: Any, value: Any) -> None:
        if not isinstance(value, Array):
            self.storage.store(stored, [place], value)
            return
        self.integers.require_shape(stored.shape[1:], value.shape)

        def put(at: list[Any]) -> None:
            self.storage.store(stored, [place, *at], value.at(at))

        self.storage.nest(value.shape, put)

    def value(self, of: ListOf) -> Array:
        """The list as it is here."""
        stored = of.stored
        length = self.lengths.get(stored.number)
        if length is None:
            length, block = self._sizes.get(stored.number, (None, None))
            if block is None or not self.code.is_within(block):
                length = self.integers.extent(of.count)
                self.integers.bound(length.index, of.least, stored.shape[0])
                self._sizes[stored.number] = length, self.code.out
        if same(self.integers.resolved(length), self.integers.resolved(stored.shape[0])):
            return stored
        shape = (length, *stored.shape[1:])
        return Array(
            stored.kind, shape, stored.at, stored.reads, stored.is_list, parts_of=stored.parts_of
        )

    # ----- ways through the function

    def snapshot(self) -> Counts:
        return dict(self.lengths), dict(self.appended)

    def begin_again_with(self, counts: Counts) -> None:
        self.lengths, self.appended = map(dict, counts)
        self._sizes.clear()

    def join(self, counts: Counts) -> None:
        """Keeps what is known on another way, too."""
        self.lengths, self.appended = (
            {number: count for number, count in own.items()
             if number in other and same(count, other[number])}
            for own, other in zip((self.lengths, self.appended), counts)
        )  # fmt: skip
        self._sizes.clear()

    def begin_loop(self, body: list[ast.stmt]) -> tuple[list[int], Counts]:
        """The lists that an iteration appends to, and what is known before the loop."""
        names = self.scope.appended and appended_in(body)
        found = [self.scope.structures.get(name) for name in names]
        numbers = [each.stored.number for each in found if isinstance(each, ListOf)]
        before = self.snapshot()
        for number in numbers:
            self.lengths.pop(number, None)
            self._sizes.pop(number, None)
            self.appended[number] = 0
        return numbers, before

    def end_loop(self, begin: tuple[list[int], Counts], trips: Any, is_whole: bool) -> None:
        """`is_whole`: each iteration runs to its end."""
        numbers, before = begin
        for number in numbers:
            each = self.appended.get(number)
            is_known = each is not None and is_whole and trips is not None
            for own, known in zip((self.lengths, self.appended), before):
                own.pop(number, None)
                if is_known and number in known:
                    own[number] = self._sum(known[number], self._times(trips, each))
            self._sizes.pop(number, None)

    def _times(self, a: Any, b: Any) -> Any:
        for one, other in ((a, b), (b, a)):
            if is_number(one) and one in (0, 1):
                return other if one else 0
        return self.operators.binary("*", a, b)

    def _sum(self, a: Any, b: Any) -> Any:
        if is_number(a) and a == 0:
            return b
        return a if is_number(b) and b == 0 else self.operators.binary("+", a, b)
