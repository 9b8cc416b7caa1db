"""NumPy's functions that make arrays of what is no array."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from composit.knossos.translator.arrays import Array, Index, Stored
from composit.knossos.translator.code import Code
from composit.knossos.translator.elements import Elements
from composit.knossos.translator.integers import Integers
from composit.knossos.translator.sharing import Sharing
from composit.knossos.translator.storage import Storage
from composit.knossos.values import (
    KINDS,
    Mismatch,
    Operators,
    found_in,
    is_number,
    kind_of,
    make,
    scalar,
    unnamed,
    with_article,
)

_FILLED = {np.zeros: 0.0, np.ones: 1.0, np.empty: 0.0}


class Range:
    """Python's range, whose bounds may be computed."""

    def __init__(self, begin: Any, end: Any, step: int) -> None:
        self.begin, self.end, self.step = begin, end, step

    @property
    def known(self) -> range | None:
        is_known = is_number(self.begin) and is_number(self.end)
        return range(int(self.begin), int(self.end), self.step) if is_known else None


@dataclasses.dataclass(eq=False)
class Makers:
    """zeros, full, eye, arange, linspace, array and their like."""

    code: Code
    operators: Operators
    integers: Integers
    sharing: Sharing
    storage: Storage
    elements: Elements

    def __post_init__(self) -> None:
        self._others = {
            np.full: self._full, np.eye: self._identity, np.identity: self._identity,
            np.arange: self._arange, np.array: self._array, np.asarray: self._array,
            np.linspace: self._linspace,
        }  # fmt: skip

    def has(self, function: Any) -> bool:
        """Whether `call` knows a function."""
        return any(found_in(table, function) is not None for table in (_FILLED, self._others))

    def call(self, function: Any, arguments: list[Any], named: dict[str, Any]) -> Any:
        """What the function makes, in the kind of numbers that `dtype` says."""
        kind = named.pop("dtype", None)
        if function not in self._others:
            self._check_count(function, arguments, named, 1, "a shape")
            return self.constant(self._shape(arguments[0]), kind or "float", _FILLED[function])
        made = self._others[function](function, arguments, named)
        if kind is None or kind == made.kind:
            return made
        if KINDS.index(kind) < KINDS.index(made.kind):
            raise Mismatch(
                f"{function.__name__} of {made.kind}s with the dtype {kind}",
                f"Numbers that are {kind}s are required.",
            )
        return self.elements.elementwise(lambda x: self.operators.cast(x, kind), [made])

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
        return tuple(self.integers.extent(extent) for extent in shape)

    def constant(self, shape: tuple[Any, ...], kind: str, value: float) -> Array:
        number = {"float": float, "int": int, "bool": bool}[kind](value)
        return Array(kind, shape, lambda at: number, is_zero=value == 0)

    def _full(self, function: Any, arguments: list[Any], named: dict[str, Any]) -> Array:
        self._check_count(function, arguments, named, 2, "a shape and a number")
        zeros = self.constant(self._shape(arguments[0]), "float", 0.0)
        return self.elements.elementwise(lambda _, number: number, [zeros, scalar(arguments[1])])

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
        start, stop = (self.code.held(operators.cast(scalar(each), "float"), "bound")
                       for each in arguments[:2])  # fmt: skip
        count = self.integers.extent(arguments[2])
        parts = operators.binary("-", count, 1)
        is_several = operators.compare(">", parts, 0)
        parts = operators.select(is_several, parts, 1)
        delta = self.code.held(operators.binary("-", stop, start), "delta")
        step = self.code.held(operators.binary("/", delta, parts), "step")

        def at(indices: Index) -> Any:
            index = operators.cast(indices[0], "float")
            early = operators.binary("*", operators.binary("/", index, parts), delta)
            moved = operators.binary("*", index, step)
            moved = operators.select(operators.compare("==", step, 0.0), early, moved)
            is_last = operators.compare("==", indices[0], parts)
            return operators.select(is_last, stop, operators.binary("+", moved, start))

        return Array("float", (count,), at)

    def _array(self, function: Any, arguments: list[Any], named: dict[str, Any]) -> Array:
        self._check_count(function, arguments, named, 1, "numbers in [ and ], or an array")
        given = arguments[0]
        if isinstance(given, Array):
            if isinstance(given, Stored) and given.is_list and given.number in self.sharing.fresh:
                return Stored(given.number, given.name, given.kind, given.shape, given.at, False)
            is_same = function is np.asarray and not given.is_list
            parts_of = given.parts_of if is_same else frozenset[int]()
            return Array(given.kind, given.shape, given.at, given.reads, parts_of=parts_of)
        if not isinstance(unnamed(given), tuple):
            raise Mismatch("an array without axes", "Use the number, or write [ and ] around it.")
        kinds: set[str] = set()
        shape = self._shape_of(given, kinds)
        stored = self.storage.fresh_array("array", max(kinds, key=KINDS.index), shape)
        self._store_parts(stored, given, [])
        return stored

    def _shape_of(self, value: Any, kinds: set[str]) -> tuple[Any, ...]:
        """The shape of parts in parts, all of which are alike; collects the kinds of numbers."""
        value = unnamed(value)
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
            self.integers.require_shape(shapes[0], shape)
        return (len(value), *shapes[0])

    def _store_parts(self, stored: Stored, value: Any, place: Index) -> None:
        value = unnamed(value)
        if isinstance(value, tuple):
            for k, part in enumerate(value):
                self._store_parts(stored, part, [*place, k])
        elif isinstance(value, Array):
            self.storage.nest(
                value.shape, lambda at: self.storage.store(stored, [*place, *at], value.at(at))
            )
        else:
            self.storage.store(stored, place, value)

    # ----- the integers of ranges

    def counted(self, of: Range) -> Array:
        """The integers of a range."""
        begin, step = self.integers.kept(of.begin, "start"), of.step
        if of.known is not None:
            count: Any = len(of.known)
        elif is_number(begin) and begin == 0 and step == 1:
            count = self.integers.extent(of.end)
        else:
            low, high = (begin, of.end) if step > 0 else (of.end, begin)
            count = self.operators.binary("-", high, low)
            positive = self.operators.compare(">", count, 0)
            if abs(step) != 1:
                count = self.operators.binary("+", count, abs(step) - 1)
                count = make("divide", [self.code.integer(count), self.code.integer(abs(step))])
            count = self.integers.extent(self.operators.select(positive, count, 0))
        return Array("int", (count,), lambda at: self.integers.along(at[0], begin, step))

    def stepping(self, begin: Any, end: Any, step: Any) -> Array:
        """The integers of a range whose step is computed, and asserted not to be 0."""
        operators = self.operators
        begin, step = self.integers.kept(begin, "start"), self.integers.kept(step, "step")
        claim = "the step of a range is 0%s. Another one is required."
        self.code.expect(operators.compare("!=", step, 0), "ValueError", claim)
        distance = operators.binary("-", end, begin)
        forwards = operators.compare(">", step, 0)
        size = operators.select(forwards, step, operators.unary("-", step))
        distance = operators.select(forwards, distance, operators.unary("-", distance))
        # A quotient that is rounded down: -1 and less for a range of nothing.
        steps = operators.binary("//", operators.binary("-", distance, 1), size)
        count = operators.select(operators.compare(">", distance, 0),
                                 operators.binary("+", steps, 1), 0)  # fmt: skip
        count = self.integers.extent(count)

        def at(indices: list[Any]) -> Any:
            return operators.binary("+", begin, operators.binary("*", indices[0], step))

        return Array("int", (count,), at)
