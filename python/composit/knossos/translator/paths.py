"""One value that several paths give: that of a conditional expression, that of a call whose
function returns in several places.

Each path stores its value in the same variables and arrays. Only one of them runs."""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Iterator
from typing import Any

from composit._core.knossos import (
    Array,
    Block,
    Code,
    Integers,
    Operators,
    Sharing,
    Storage,
    Stored,
    variables_of,
)
from composit._core.procedure import Statement
from composit._core.scalar import Expr
from composit.knossos.annotations import Leaf
from composit.knossos.translator.scope import Scope
from composit.knossos.values import KINDS, Record, kind_of, leaves_with_names, with_article

Leaves = list[Any]  # numbers and arrays


def leaves_of_value(value: Any) -> Leaves:
    return [leaf for _, leaf in leaves_with_names(value, has_arrays=True)]


def has_arrays(value: Any) -> bool:
    """Whether the value is an array, or has one among its parts."""
    if isinstance(value, (tuple, Record)):
        parts = value if isinstance(value, tuple) else value.fields.values()
        return any(map(has_arrays, parts))
    return isinstance(value, Array)


def rebuilt(value: Any, leaves: Iterator[Any]) -> Any:
    """The value with other numbers and arrays."""
    if isinstance(value, tuple):
        return type(value)(rebuilt(part, leaves) for part in value)
    if isinstance(value, Record):
        return Record(value.made_by, {k: rebuilt(part, leaves) for k, part in value.fields.items()})
    return next(leaves)


@dataclasses.dataclass(eq=False)
class Paths:
    """Makes the places of values that several paths give."""

    code: Code
    operators: Operators
    scope: Scope
    integers: Integers
    sharing: Sharing
    storage: Storage

    def join(
        self, node: ast.AST, like: Any, kinds: list[str], wanted: str, block: Block, known: int
    ) -> Joined:  # fmt: skip
        """The places of a value. `like` is that of one path, `kinds` are those of its leaves.
        Arrays are allocated in `block`, before what its end is going to be; their extents are
        known there, as they are made of variables below `known`."""
        return Joined(self, node, like, kinds, wanted, block, known)

    def larger_kinds(self, node: ast.AST, a: Any, b: Any) -> list[str]:
        """The kinds of numbers that hold the leaves of both values."""
        kinds = []
        for one, other in zip(leaves_of_value(a), leaves_of_value(b)):
            both = [
                leaf.kind if isinstance(leaf, Array) else kind_of(leaf) for leaf in (one, other)
            ]
            largest = max(both, key=KINDS.index)
            if isinstance(one, Array) and both[0] != both[1]:
                self.scope.refuse(
                    node,
                    f"an array of {both[0]}s on one path is {with_article(both[1])} array on the "
                    "other",
                    "Equal kinds of numbers are required: write .astype(float).",
                    TypeError,
                )
            kinds.append(largest)
        return kinds


class Joined:
    """The places of a value: a variable for each number, an array for each array."""

    def __init__(
        self, paths: Paths, node: ast.AST, like: Any, kinds: list[str], wanted: str,
        block: Block, known: int,
    ) -> None:  # fmt: skip
        self.paths, self.like, self.kinds = paths, like, kinds
        self.block, self.known = block, known
        self.places = [self._place(node, leaf, kind, wanted)
                       for leaf, kind in zip(leaves_of_value(like), kinds)]  # fmt: skip

    def _place(self, node: ast.AST, leaf: Any, kind: str, wanted: str) -> Any:
        paths = self.paths
        if not isinstance(leaf, Array):
            return paths.code.leaf(paths.code.hidden_variable(wanted, kind))
        shape = tuple(self._extent(node, extent) for extent in leaf.shape)
        made = paths.storage.add_array(wanted, kind, shape, is_list=leaf.is_list)
        paths.sharing.make_fresh(made.number)
        self.block.append(Statement.allocate(made.number, False, paths.code.line))
        return made

    def _extent(self, node: ast.AST, extent: Any) -> Any:
        paths = self.paths
        extent = paths.integers.resolved(extent)
        is_variable = isinstance(extent, Expr) and extent.op == "argument"
        size = paths.integers.size_of(extent.index) if is_variable else None
        if size is not None and not (size.op == "argument" and paths.code.is_assigned_once(size)):
            size = None
        for value in (extent, paths.integers.in_parameters(extent), size):
            if value is not None and (not isinstance(value, Expr) or all(
                number < self.known or paths.code.is_at_home(number, self.block)
                for number in variables_of(value)
            )):  # fmt: skip
                return value
        paths.scope.refuse(
            node, "the extent of an array is computed on one of several paths, and the array "
            "is one of them all", "Compute the extent before the if, or the loop.",
        )  # fmt: skip

    def check(self, node: ast.AST, value: Any) -> None:
        """Refuses a value of another structure than the first one."""
        own, first = Leaf.of(value).outline(), Leaf.of(self.like).outline()
        if own != first:
            self.paths.scope.refuse(
                node, f"it is {own} on one path and {first} on another",
                "The same on all paths is required.", TypeError,
            )  # fmt: skip

    def put(self, node: ast.AST, value: Any) -> list[Any]:
        """Stores the arrays of a path's value, where the translation stands. Its numbers, which
        the variables are to have."""
        self.check(node, value)
        numbers = []
        for leaf, place in zip(leaves_of_value(value), self.places):
            if isinstance(place, Stored):
                self._store(leaf, place)
            else:
                numbers.append(leaf)
        return numbers

    def _store(self, value: Array, place: Stored) -> None:
        paths = self.paths
        paths.integers.require_shape(place.shape, value.shape)
        paths.storage.store_all(place, value)
        paths.sharing.copy_of_parts(place, value)

    def assign(self, node: ast.AST, value: Any) -> None:
        """Stores a path's value, where the translation stands."""
        paths = self.paths
        for number, variable in zip(self.put(node, value), self.variables):
            paths.code.assign(variable.index, paths.operators.cast(number, kind_of(variable)))

    @property
    def variables(self) -> list[Expr]:
        return [place for place in self.places if not isinstance(place, Stored)]

    @property
    def value(self) -> Any:
        return rebuilt(self.like, iter(self.places))
