"""NumPy's functions that make arrays of numbers, inside kernels."""

from __future__ import annotations

from typing import Any

import numpy as np

from composit._core.procedure import Statement
from composit.knossos.arrays import Array, Index, Stored
from composit.knossos.ranges import Range, Ranges
from composit.knossos.values import (
    KINDS,
    Mismatch,
    Record,
    found_in,
    is_number,
    kind_of,
    scalar,
    with_article,
)

_FILLED = {np.zeros: 0.0, np.ones: 1.0, np.empty: 0.0}
_OTHERS = {
    np.full: "_full", np.eye: "_identity", np.identity: "_identity", np.arange: "_arange",
    np.array: "_array", np.asarray: "_array", np.linspace: "_linspace",
}  # fmt: skip


class ArrayMakers(Ranges):
    """Calls that make arrays of what is no array."""

    def makes_arrays(self, function: Any) -> bool:
        return any(found_in(table, function) is not None for table in (_FILLED, _OTHERS))

    def maker_call(self, function: Any, arguments: list[Any], named: dict[str, Any]) -> Any:
        """What the function makes, in the kind of numbers that `dtype` says."""
        kind = named.pop("dtype", None)
        if function not in _OTHERS:
            self._check_count(function, arguments, named, 1, "a shape")
            return self.constant(self._shape(arguments[0]), kind or "float", _FILLED[function])
        made = getattr(self, _OTHERS[function])(function, arguments, named)
        if kind is None or kind == made.kind:
            return made
        if KINDS.index(kind) < KINDS.index(made.kind):
            raise Mismatch(
                f"{function.__name__} of {made.kind}s with the dtype {kind}",
                f"Numbers that are {kind}s are required.",
            )
        return self.elementwise(lambda x: self.operators.cast(x, kind), [made])

    def _check_count(
        self, function: Any, arguments: list[Any], named: dict[str, Any], count: int, wanted: str
    ) -> None:
        if len(arguments) != count or named:
            raise Mismatch(f"{function.__name__} of other arguments", f"Give it {wanted}.")

    def _shape(self, given: Any) -> tuple[Any, ...]:
        shape = given if isinstance(given, tuple) else (given,)
        for extent in shape:
            if kind_of(scalar(extent)) != "int":
                raise Mismatch("an extent that is no integer", "Integers are required.")
        return tuple(self.extent(extent) for extent in shape)

    def constant(self, shape: tuple[Any, ...], kind: str, value: float) -> Array:
        number = {"float": float, "int": int, "bool": bool}[kind](value)
        return Array(kind, shape, lambda at: number, is_zero=value == 0)

    def _full(self, function: Any, arguments: list[Any], named: dict[str, Any]) -> Array:
        self._check_count(function, arguments, named, 2, "a shape and a number")
        zeros = self.constant(self._shape(arguments[0]), "float", 0.0)
        return self.elementwise(lambda _, number: number, [zeros, scalar(arguments[1])])

    def _identity(self, function: Any, arguments: list[Any], named: dict[str, Any]) -> Array:
        self._check_count(function, arguments, named, 1, "one extent")
        operators = self.operators

        def at(indices: Index) -> Any:
            is_diagonal = operators.compare("==", *indices)
            if isinstance(is_diagonal, bool):
                return float(is_diagonal)
            return operators.select(is_diagonal, 1.0, 0.0)

        return Array("float", self._shape((arguments[0], arguments[0])), at)

    def _arange(self, function: Any, arguments: list[Any], named: dict[str, Any]) -> Array:
        if not 1 <= len(arguments) <= 3 or named:
            raise Mismatch("arange of other arguments", "Give it one to three integers.")
        for each in arguments:
            if kind_of(scalar(each)) != "int":
                raise Mismatch(
                    f"arange of {with_article(kind_of(each))}",
                    "Integers are required: write start + step * np.arange(n), or np.linspace.",
                )
        begin, end = (0, arguments[0]) if len(arguments) == 1 else arguments[:2]
        step = arguments[2] if len(arguments) == 3 else 1
        if is_number(step) and step == 0:
            raise Mismatch("arange with the step 0", "Another integer is required.")
        if not is_number(step):
            return self.stepping(begin, end, step)
        return self.counted(Range(begin, end, step))

    def _linspace(self, function: Any, arguments: list[Any], named: dict[str, Any]) -> Array:
        """As NumPy computes it: index * step + start, the last one is the stop itself. A step that
        has become zero is not divided before the product."""
        if "num" in named and len(arguments) == 2:
            arguments, named = [*arguments, named["num"]], {}
        if len(arguments) == 2:
            arguments = [*arguments, 50]
        self._check_count(function, arguments, named, 3, "a start, a stop and how many")
        operators = self.operators
        if kind_of(scalar(arguments[2])) != "int":
            raise Mismatch("linspace of a number of elements that is no integer",
                           "An integer is required.")  # fmt: skip
        start, stop = (self._once(operators.cast(scalar(each), "float"), "bound")
                       for each in arguments[:2])  # fmt: skip
        count = self.extent(arguments[2])
        parts = operators.binary("-", count, 1)
        is_several = operators.compare(">", parts, 0)
        parts = operators.select(is_several, parts, 1)
        delta = self._once(operators.binary("-", stop, start), "delta")
        step = self._once(operators.binary("/", delta, parts), "step")

        def at(indices: Index) -> Any:
            index = operators.cast(indices[0], "float")
            early = operators.binary("*", operators.binary("/", index, parts), delta)
            moved = operators.binary("*", index, step)
            moved = operators.select(operators.compare("==", step, 0.0), early, moved)
            is_last = operators.compare("==", indices[0], parts)
            return operators.select(is_last, stop, operators.binary("+", moved, start))

        return Array("float", (count,), at)

    def _once(self, value: Any, wanted: str) -> Any:
        """A number in a variable."""
        name = self.hidden_variable(wanted, kind_of(value))
        self.out.append(Statement.assign(self.numbers[name], value, self.line))
        return self.leaf(name)

    # ----- numbers and arrays side by side

    def _array(self, function: Any, arguments: list[Any], named: dict[str, Any]) -> Array:
        self._check_count(function, arguments, named, 1, "numbers in [ and ], or an array")
        given = arguments[0]
        if isinstance(given, Array):
            if isinstance(given, Stored) and given.is_list and given.number in self.fresh:
                return Stored(given.number, given.name, given.kind, given.shape, given.at, False)
            is_same = function is np.asarray and not given.is_list
            parts_of = given.parts_of if is_same else frozenset[int]()
            return Array(given.kind, given.shape, given.at, given.reads, parts_of=parts_of)
        if not isinstance(_items(given), tuple):
            raise Mismatch("an array without axes", "Use the number, or write [ and ] around it.")
        kinds: set[str] = set()
        shape = self._shape_of(given, kinds)
        stored = self.fresh_array("array", max(kinds, key=KINDS.index), shape)
        self._store_parts(stored, given, [])
        return stored

    def _shape_of(self, value: Any, kinds: set[str]) -> tuple[Any, ...]:
        """The shape of parts in parts, all of which are alike; collects the kinds of numbers."""
        value = _items(value)
        if isinstance(value, Array):
            kinds.add(value.kind)
            return value.shape
        if not isinstance(value, tuple):
            kinds.add(kind_of(scalar(value)))
            return ()
        if not value:
            raise Mismatch("an array of nothing", "Write np.zeros(0).")
        shapes = [self._shape_of(part, kinds) for part in value]
        for shape in shapes[1:]:
            if len(shape) != len(shapes[0]):
                raise Mismatch("an array of parts of other shapes", "Equal shapes are required.")
            for a, b in zip(shapes[0], shape):
                self.require_same(a, b)
        return (len(value), *shapes[0])

    def _store_parts(self, stored: Stored, value: Any, place: Index) -> None:
        value = _items(value)
        if isinstance(value, tuple):
            for k, part in enumerate(value):
                self._store_parts(stored, part, [*place, k])
        elif isinstance(value, Array):
            self.nest(value.shape, lambda at: self.store(stored, [*place, *at], value.at(at)))
        else:
            self.store(stored, place, value)


def _items(value: Any) -> Any:
    is_tuple = isinstance(value, Record) and issubclass(value.made_by, tuple)
    return tuple(value.fields.values()) if is_tuple else value
