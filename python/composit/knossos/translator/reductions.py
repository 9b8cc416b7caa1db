"""Sums, products, extremes and means of elements, products of matrices."""

from __future__ import annotations

import builtins
import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np

from composit._core.procedure import Statement
from composit._core.scalar import Expr
from composit.knossos import functions
from composit.knossos.translator.arrays import Array, Index, Stored
from composit.knossos.translator.code import Code
from composit.knossos.translator.elements import Elements
from composit.knossos.translator.integers import Integers
from composit.knossos.translator.storage import Storage
from composit.knossos.values import Mismatch, Operators, is_number, kind_of, scalar

NO_ELEMENT = ("ValueError", "there is no element%s. At least one is required.")
REDUCTIONS = (np.sum, np.mean, np.max, np.min, np.prod)
TRUTHS = (np.any, np.all, np.count_nonzero)


@dataclasses.dataclass(eq=False)
class Reductions:
    """Elements combined in order: all, or along a literal axis."""

    code: Code
    operators: Operators
    integers: Integers
    storage: Storage
    elements: Elements

    def call(self, function: Any, arguments: list[Any], keepdims: Any = False) -> Any:
        """A reduction of NumPy's or Python's: of an array, and an axis if there is one."""
        if type(keepdims) is not bool:
            raise Mismatch("keepdims that is computed", "Write True or False.")
        made = (self.truths if function in TRUTHS else self.reduced)(function, arguments)
        return self._with_axes(made, arguments) if keepdims else made

    def fold(
        self, function: Any, kind: str, shape: list[Any], at: Any, plain: Stored | None = None
    ) -> Any:
        """The elements combined, in order. `plain`: the array whose elements are stored."""
        operators = self.operators
        if kind == "bool":
            raise Mismatch(f"{function.__name__} of bools", "Numbers are required.")
        if function is np.mean:
            total = self.fold(np.sum, kind, shape, at)
            return operators.binary("/", total, self.size_of(shape))
        if plain is not None and function in (builtins.max, builtins.min):
            return self._extreme(function, plain)
        is_total = function in (np.sum, np.prod, builtins.sum)
        wanted = {np.sum: "total", builtins.sum: "total", np.prod: "product"}
        name = self.code.hidden_variable(wanted.get(function, "extremum"), kind)
        number, here = self.code.numbers[name], self.code.leaf(name)
        if is_total:
            start: Any = 1 if function is np.prod else 0
        else:
            self.expect_some(shape)
            is_float_extremum = kind == "float" and function in (np.max, np.min)
            if is_float_extremum and all(extent != 0 for extent in shape if is_number(extent)):
                start = -np.inf if function is np.max else np.inf
            else:
                start = at([0] * len(shape))
        self.code.assign(number, operators.cast(start, kind))

        def step(indices: Index) -> None:
            value = at(indices)
            if is_total:
                made = operators.binary("*" if function is np.prod else "+", here, value)
            elif function in (np.max, np.min):
                ufunc = np.maximum if function is np.max else np.minimum
                made = functions.call(operators, ufunc, [here, value])
            else:
                made = functions.call(operators, function, [here, value])
            self.code.assign(number, operators.cast(made, kind))

        self.storage.nest(tuple(shape), step)
        return here

    def reduced(self, function: Any, arguments: list[Any]) -> Any:
        array, axis = arguments[0], arguments[1] if len(arguments) > 1 else None
        if not isinstance(array, Array) or len(arguments) > 2:
            raise Mismatch(f"{function.__name__} of several arguments", "Reduce the array alone.")
        if array.kind == "bool" and function in (np.max, np.min):
            self.expect_some(array.shape if axis is None else [array.shape[axis]])
            return self.truths(np.any if function is np.max else np.all, arguments)
        if array.kind == "bool":
            array = self.elements.elementwise(lambda x: self.operators.cast(x, "int"), [array])
        if axis is None:
            if function in (builtins.sum, builtins.max, builtins.min) and len(array.shape) != 1:
                raise Mismatch(
                    f"{function.__name__} of an array of {len(array.shape)} axes",
                    f"Write np.{function.__name__}.",
                )
            has_own_word = function in (builtins.max, builtins.min)  # which says all of it
            if not isinstance(array, Stored) or has_own_word:
                plain = array if isinstance(array, Stored) else None
                return self.fold(function, array.kind, list(array.shape), array.at, plain)
            with self.code.of_library(function.__name__):
                return self.fold(function, array.kind, list(array.shape), array.at, array)
        axis = self.literal_axis(axis, len(array.shape))
        rest = array.shape[:axis] + array.shape[axis + 1 :]
        extent = array.shape[axis]

        def at(indices: Index) -> Any:
            return self.fold(
                function, array.kind, [extent],
                lambda own: array.at([*indices[:axis], own[0], *indices[axis:]]),
            )  # fmt: skip

        kind = "float" if function is np.mean else array.kind
        if not rest:
            return at([])
        return Array(kind, rest, at, array.reads)

    def truths(self, function: Any, arguments: list[Any]) -> Any:
        """any, all and count_nonzero, by how many elements are true."""
        operators, (array, *axes) = self.operators, arguments
        if not isinstance(array, Array):
            raise Mismatch(f"{function.__name__} of a number", "Write bool(…).")
        true = self.elements.elementwise(
            lambda x: operators.cast(operators.truth(scalar(x)), "int"), [array]
        )
        count = self.reduced(np.sum, [true, *axes])
        if function is np.count_nonzero:
            return count
        symbol, wanted = ">", 0
        if function is np.all:
            reduced = [array.shape[axes[0]]] if axes else array.shape
            symbol, wanted = "==", self.size_of(reduced)
        if isinstance(count, Array):
            return self.elements.elementwise(
                lambda x: operators.compare(symbol, x, wanted), [count]
            )
        return operators.compare(symbol, count, wanted)

    def _with_axes(self, made: Any, arguments: list[Any]) -> Array:
        """What a reduction made, with an axis of one element for each that it has reduced."""
        array, *axes = arguments
        if not isinstance(made, Array):
            return Array(kind_of(made), (1,) * len(array.shape), lambda at: made)
        axis = axes[0] % len(array.shape)
        return Array(made.kind, (*made.shape[:axis], 1, *made.shape[axis:]),
                     lambda at: made.at([*at[:axis], *at[axis + 1 :]]), made.reads)  # fmt: skip

    def expect_some(self, shape: Any) -> None:
        for extent in shape:
            if not is_number(extent):
                self.code.expect(self.operators.compare(">", extent, 0), *NO_ELEMENT)

    def _extreme(self, function: Any, array: Stored) -> Any:
        """max or min of a stored array of one axis: the element at the place where it is, which is
        the first of several. Its gradient goes to that element."""
        symbol = ">" if function is builtins.max else "<"
        best = self.place_of_best(array, lambda new, old: self.operators.compare(symbol, new, old))
        return array.at([best])

    def place_of_best(self, array: Stored, is_better: Callable[[Any, Any], Any]) -> Expr:
        """Where in an array of one axis the first element stands that no later one is better
        than."""
        extent = array.shape[0]
        self.expect_some([extent])
        best = self.code.leaf(self.code.hidden_variable("at", "int"))
        self.integers.bounds[best.index] = (0, extent)
        self.code.assign(best.index, self.code.integer(0))

        def step(indices: Index) -> None:
            condition = is_better(array.at(indices), array.at([best]))
            line = self.code.line
            found = [Statement.assign(best.index, self.code.integer(indices[0]), line)]
            self.code.add(Statement.branch(condition, found, [], line))

        self.storage.nest((extent,), step)
        return best

    def product(self, a: Any, b: Any) -> Any:
        """a @ b: sums over a's last axis and the first of a vector or matrix b."""
        if not isinstance(a, Array) or not isinstance(b, Array):
            raise Mismatch("@ of a number", "Write *.")
        if len(b.shape) > 2:
            raise Mismatch(
                f"a product with an array of {len(b.shape)} axes on the right",
                "A vector or a matrix is required, or a loop.",
            )
        self.integers.require_same(a.shape[-1], b.shape[0])
        extent = a.shape[-1]
        kind = "float" if "float" in (a.kind, b.kind) else "int"
        shape = a.shape[:-1] + b.shape[1:]
        if len(b.shape) > 1 and kind == "float" and not _is_short(b.shape[1]):
            return self._sums_of_rows(a, b, shape)
        if len(b.shape) > 1:
            a = self.elements.read_often(a)
        if len(a.shape) > 1:
            b = self.elements.read_often(b)

        def at(indices: Index) -> Any:
            row, column = indices[: len(a.shape) - 1], indices[len(a.shape) - 1 :]
            return self.fold(
                np.sum,
                kind,
                [extent],
                lambda k: self.operators.binary("*", a.at([*row, k[0]]), b.at([k[0], *column])),
            )

        return Array(kind, shape, at, a.reads | b.reads) if shape else at([])

    def _sums_of_rows(self, a: Array, b: Array, shape: tuple[Any, ...]) -> Array:
        """a @ b of a matrix b, row by row: elements of a row are neighbours, those of a column are
        not. Each sum has the order, and so the bits, that it has down its column."""
        made = self.storage.fresh_array("sums", "float", shape, is_zeroed=True)

        def add_row(indices: Index) -> None:
            factor = self.code.held(scalar(a.at(indices)), "factor")

            def add(column: Index) -> None:
                value = self.operators.binary("*", factor, b.at([indices[-1], *column]))
                places = [self.code.integer(place) for place in [*indices[:-1], *column]]
                added = self.operators.cast(value, "float")
                self.code.add(Statement.add(made.number, places, added, self.code.line))

            self.storage.nest((b.shape[1],), add)

        self.storage.nest(a.shape, add_row)
        return made

    def literal_axis(self, axis: Any, rank: int) -> int:
        if type(axis) is not int or not -rank <= axis < rank:
            raise Mismatch(f"the axis {axis}", "A literal axis of the array is required.")
        return axis % rank

    def size_of(self, extents: Any) -> Any:
        """How many elements an array of the extents has."""
        count: Any = 1
        for extent in extents:
            is_one = is_number(count) and count == 1
            count = extent if is_one else self.operators.binary("*", count, extent)
        return count


def _is_short(extent: Any) -> bool:
    """Whether a row is known to have few elements: loops over columns are as fast then."""
    return is_number(extent) and extent < 8
