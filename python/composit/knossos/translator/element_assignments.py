"""Assignments to elements and parts of arrays, and operations in place."""

from __future__ import annotations

import ast
import dataclasses
from typing import Any

from composit._core.knossos import (
    Array,
    ArrayFunctions,
    Code,
    Elements,
    Integers,
    Line,
    Operators,
    Sharing,
    Slices,
    Storage,
    Stored,
)
from composit._core.procedure import Statement
from composit.knossos.source import shown
from composit.knossos.translator.arrays import NEW_AXIS
from composit.knossos.translator.call_stack import CallStack
from composit.knossos.translator.expressions import Expressions
from composit.knossos.translator.subscripts import Subscripts
from composit.knossos.values import KINDS, Mismatch, kind_of, scalar


@dataclasses.dataclass(eq=False)
class ElementAssignments:
    """Changes elements of arrays that nobody else has."""

    code: Code
    operators: Operators
    stack: CallStack
    integers: Integers
    sharing: Sharing
    storage: Storage
    elements: Elements
    slices: Slices
    expressions: Expressions
    arrays: ArrayFunctions
    subscripts: Subscripts

    def assign_element(self, target: ast.Subscript, value: Any) -> None:
        """array[index] = value"""
        stored, given = self._target(target)
        self._assign_elements(stored, given, value)
        self.stack.has_changed(stored)

    def _assign_elements(self, stored: Stored, given: list[Any], value: Any) -> None:
        element = self.slices.indexed(stored, given) if _is_partial(stored, given) else None
        if element is None:
            self.storage.store(stored, self._element(stored, given), scalar(value))
            return
        if isinstance(value, tuple):
            self._assign_each(stored, given, element, value)
            return
        if isinstance(value, Array):
            lines = [each for each in element.elsewhere if isinstance(each, Line)]
            reads = stored.number in value.reads
            if value.needs_others(stored.number, lines[0]) if lines else reads:
                value = self.storage.copied(value)
            values = self.elements.elementwise(lambda x: x, [value])
            self.integers.require_shape(element.shape, values.shape)
            if len(values.shape) != len(element.shape):
                raise Mismatch("an array of other axes", "As many axes are required.")
        else:
            number = scalar(value)
            values = Array(kind_of(number), element.shape, lambda at: number)
        places_of = self._places(stored, given)
        store = self.storage.store
        self.storage.nest(element.shape, lambda at: store(stored, places_of(at), values.at(at)))

    def _element(self, stored: Stored, given: list[Any]) -> list[Any]:
        return [self.integers.place(index, extent) for index, extent in zip(given, stored.shape)]

    def _assign_each(
        self, stored: Stored, given: list[Any], element: Array, value: tuple[Any, ...]
    ) -> None:
        """array[…] = (a, b): the numbers of a tuple, as elements of the one axis that is left."""
        if len(element.shape) != 1:
            raise Mismatch(f"a tuple for {len(element.shape)} axes", "One axis is required.")
        self.integers.require_same(element.shape[0], len(value))
        places_of = self._places(stored, given)
        for k, each in enumerate(value):
            self.storage.store(stored, places_of([k]), scalar(each))

    def _places(self, stored: Stored, given: list[Any]) -> Any:
        """The indices of the array's elements from those of what is left of its axes."""
        caught: list[Any] = []
        probe = Array(stored.kind, stored.shape, lambda at: caught.append(at))
        view = self.slices.indexed(probe, given)

        def places(indices: list[Any]) -> list[Any]:
            caught.clear()
            view.at(indices)
            return caught[0]

        return places

    def _target(self, target: ast.Subscript) -> tuple[Stored, list[Any]]:
        holder, first = self._element_holder(target.value)
        if not isinstance(holder, Stored):
            if isinstance(holder, Array) and isinstance(target.value, ast.Subscript):
                raise Mismatch("an element of a part of an array", "Write a[i, j].")
            raise Mismatch(
                f"`{shown(target)}` is part of a value, which does not change",
                "Make a new tuple or record with the part replaced.",
            )
        self._check_changes(holder, f"an element of the argument {holder.name} is assigned")
        return holder, [*first, *self.subscripts.indices(target.slice)]

    def _element_holder(self, node: ast.expr) -> tuple[Any, list[Any]]:
        """The array that `a[i]` of `a[i][j] = …` is a row of, and i; another value and nothing."""
        if isinstance(node, ast.Subscript) and not isinstance(node.slice, (ast.Slice, ast.Tuple)):
            holder, first = self._element_holder(node.value)
            if isinstance(holder, Stored) and len(first) + 1 < len(holder.shape):
                return holder, [*first, *self.subscripts.indices(node.slice)]
        return self.expressions.value(node), []

    def change_in_place(self, stored: Stored, value: Array, node: ast.AugAssign) -> None:
        """array += …: its elements change, whatever names it has."""
        self._check_changes(stored, f"`{shown(node)}` changes the argument {stored.name}")
        if len(value.shape) != len(stored.shape):
            raise Mismatch(f"an array of {len(value.shape)} axes for {len(stored.shape)}",
                           "As many axes are required.")  # fmt: skip
        self.integers.require_shape(stored.shape, value.shape)
        if value.needs_others(stored.number):
            value = self.storage.copied(value)
        self.storage.store_all(stored, value)
        self.stack.has_changed(stored)

    def _check_changes(self, stored: Stored, wrong: str) -> None:
        """Refuses to change elements that others have, too: a caller, or another name."""
        if stored.is_argument:
            name = stored.name
            raise Mismatch(
                f"{wrong}, and NumPy would change the caller's array",
                f"Write {name} = {name}.copy() before, and return {name}."
                if name.isidentifier()
                else "Assign to elements of a copy, and return it.",
            )
        self.sharing.check_own(stored)

    def augment_element(self, node: ast.AugAssign, symbol: str, value: Any) -> None:
        """array[index] += value"""
        assert isinstance(node.target, ast.Subscript)
        stored, given = self._target(node.target)
        if _is_partial(stored, given):
            part = self.slices.indexed(stored, given)
            made = self.arrays.binary(symbol, part, value)
            self.check_holds(stored.kind, made.kind, node)
            self._assign_elements(stored, given, made)
        else:
            self._augment(stored, given, symbol, value)
        self.stack.has_changed(stored)

    def check_holds(self, kind: str, made: str, node: ast.AugAssign) -> None:
        """Refuses an operation in place whose results are of a larger kind than the array's
        elements: NumPy's arrays keep their dtype."""
        if KINDS.index(made) <= KINDS.index(kind):
            return
        instead = f"An array of {made} is required."
        if isinstance(node.target, ast.Name):
            written_out = ast.BinOp(node.target, node.op, node.value)
            instead = f"Write {node.target.id} = {shown(written_out)}."
        raise Mismatch(f"`{shown(node)}` puts {made}s into an array of {kind}", instead)

    def _augment(self, stored: Stored, given: list[Any], symbol: str, value: Any) -> None:
        places = self._element(stored, given)
        if symbol in ("+", "-") and stored.kind == "float":
            number = scalar(value)
            if symbol == "-":
                number = self.operators.unary("-", number)
            added = self.operators.cast(number, "float")
            indices = [self.code.integer(place) for place in places]
            self.code.add(Statement.add(stored.number, indices, added, self.code.line))
            return
        old = stored.at(places)
        self.storage.store(stored, places, self.operators.binary(symbol, old, scalar(value)))


def _is_partial(stored: Stored, given: list[Any]) -> bool:
    return len(given) < len(stored.shape) or any(
        index is None or index is NEW_AXIS or isinstance(index, slice) for index in given
    )
