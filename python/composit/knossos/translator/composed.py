"""NumPy's functions that are made of others: std and var, concatenate and stack, flip, roll,
inner, diagonals and triangles."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from composit.knossos import functions
from composit.knossos.translator.arrays import Array, Index
from composit.knossos.translator.code import Code
from composit.knossos.translator.elements import Elements
from composit.knossos.translator.integers import Integers
from composit.knossos.translator.reductions import Reductions
from composit.knossos.translator.slices import Slices
from composit.knossos.translator.storage import Storage
from composit.knossos.translator.terms import same
from composit.knossos.values import KINDS, Mismatch, Operators, is_number, kind_of


@dataclasses.dataclass(eq=False)
class Composed:
    """Calls of functions whose parts are functions of kernels, too."""

    code: Code
    operators: Operators
    integers: Integers
    storage: Storage
    elements: Elements
    slices: Slices
    reductions: Reductions

    def __post_init__(self) -> None:
        self.joins: dict[Any, Callable[..., Any]] = {
            np.concatenate: self._concatenated, np.stack: self._stacked,
            np.hstack: self._hstacked, np.vstack: self._vstacked,
        }  # fmt: skip
        self.functions: dict[Any, Callable[..., Any]] = {
            **self.joins, np.var: self._variance, np.std: self._deviation,
            np.flip: self._flipped, np.roll: self._rolled,
            np.inner: self._inner, np.vdot: self._inner,
            np.diag: self._diagonal_or_matrix, np.diagonal: self._diagonal,
            np.tril: self._lower, np.triu: self._upper,
        }  # fmt: skip

    def call(self, function: Any, arguments: list[Any], named: dict[str, Any]) -> Any:
        """A function of `functions`."""
        method, is_join = self.functions[function], function in self.joins
        try:
            inspect.signature(method).bind(*arguments, **named)
            if not arguments or not isinstance(arguments[0], tuple if is_join else Array):
                raise TypeError
        except TypeError:
            raise Mismatch(
                f"{function.__name__} of other arguments",
                "Several arrays in [ and ] are required, and a literal axis at most."
                if is_join
                else "An array is required, and what else NumPy's function takes, if literal.",
            ) from None
        return method(*arguments, **named)

    def _variance(
        self, x: Any, axis: Any = None, *, ddof: Any = 0, keepdims: Any = False
    ) -> Any:  # fmt: skip
        """The mean of squared distances from the mean, as NumPy computes it."""
        if type(ddof) is not int:
            raise Mismatch("a ddof that is computed", "A literal integer is required.")
        axes = [] if axis is None else [self.reductions.literal_axis(axis, len(x.shape))]
        operators = self.operators
        x = self.elements.read_often(x)
        mean = self.reductions.call(np.mean, [x, *axes], keepdims=bool(axes))
        squares = self.elements.elementwise(
            lambda a, m: functions.call(operators, np.square, [operators.binary("-", a, m)]),
            [x, mean],
        )
        total = self.reductions.call(np.sum, [squares, *axes], keepdims=keepdims)
        count = x.shape[axes[0]] if axes else self.reductions.size_of(x.shape)
        if ddof:
            left = operators.binary("-", count, ddof)
            count = functions.call(operators, max, [left, 0])
        if not isinstance(total, Array):
            return operators.binary("/", total, count)
        return self.elements.elementwise(lambda each: operators.binary("/", each, count), [total])

    def _deviation(self, x: Any, axis: Any = None, **options: Any) -> Any:
        made = self._variance(x, axis, **options)
        if isinstance(made, Array):
            return self.elements.of_function(np.sqrt, [made])
        return functions.call(self.operators, np.sqrt, [made])

    def _parts(self, given: Any) -> list[Array]:
        if not given or not all(isinstance(part, Array) for part in given):
            raise Mismatch("what is joined is no list of arrays", "Write [a, b], of arrays.")
        if any(len(part.shape) != len(given[0].shape) for part in given):
            raise Mismatch("arrays of several numbers of axes are joined",
                           "Equal numbers of axes are required.")  # fmt: skip
        return list(given)

    def _joined(self, parts: list[Array], axis: Any, is_new: bool) -> Array:
        """The parts one after the other along an axis, which `is_new`, or along one of theirs."""
        first = parts[0].shape
        axis = self.reductions.literal_axis(axis, len(first) + is_new)
        for part in parts[1:]:
            for k, (a, b) in enumerate(zip(first, part.shape)):
                if is_new or k != axis:
                    self.integers.require_same(a, b)
        starts: list[Any] = [0]
        for part in parts:
            starts.append(self._sum(starts[-1], 1 if is_new else part.shape[axis]))
        shape = (*first[:axis], self.integers.extent(starts[-1]), *first[axis + (not is_new) :])
        kind = max((part.kind for part in parts), key=KINDS.index)
        made = self.storage.fresh_array("joined", kind, shape)
        for part, start in zip(parts, starts):

            def put(at: Index, part: Array = part, start: Any = start) -> None:
                here = start if is_new else self.integers.along(at[axis], start, 1)
                self.storage.store(
                    made, [*at[:axis], here, *at[axis + (not is_new) :]], part.at(at)
                )

            self.storage.nest(part.shape, put)
        return made

    def _sum(self, a: Any, b: Any) -> Any:
        """Two extents together, with one constant."""
        if is_number(a):
            a, b = b, a
        if not is_number(b):
            return self.integers.plus(a, b)
        return a + b if is_number(a) else self.integers.moved(a, b)

    def _concatenated(self, arrays: Any, axis: Any = 0) -> Array:
        return self._joined(self._parts(arrays), axis, False)

    def _stacked(self, arrays: Any, axis: Any = 0) -> Array:
        return self._joined(self._parts(arrays), axis, True)

    def _hstacked(self, tup: Any) -> Array:
        parts = self._parts(tup)
        return self._joined(parts, min(len(parts[0].shape) - 1, 1), False)

    def _vstacked(self, tup: Any) -> Array:
        parts = self._parts(tup)
        return self._joined(parts, 0, len(parts[0].shape) == 1)

    def _flipped(self, m: Any, axis: Any = None) -> Any:
        rank = len(m.shape)
        turned = range(rank) if axis is None else [self.reductions.literal_axis(axis, rank)]
        backwards = slice(None, None, -1)
        return self.slices.indexed(m, [backwards if k in turned else None for k in range(rank)])

    def _rolled(self, x: Any, shift: Any, axis: Any = None) -> Array:
        rank = len(x.shape)
        if axis is None and rank != 1:
            raise Mismatch("roll of several axes at once", "A literal axis is required.")
        axis = self.reductions.literal_axis(0 if axis is None else axis, rank)
        if isinstance(shift, (tuple, Array)) or kind_of(shift) != "int":
            raise Mismatch("roll by what is no integer", "One integer is required.")
        operators, extent, by = (
            self.operators,
            x.shape[axis],
            self.integers.kept(shift, "shift"),
        )

        def at(indices: Index) -> Any:
            source = operators.binary("%", operators.binary("-", indices[axis], by), extent)
            source = source if is_number(source) else self.integers.settled(source)
            return x.at([*indices[:axis], source, *indices[axis + 1 :]])

        return Array(x.kind, x.shape, at, x.reads)

    def _inner(self, a: Any, b: Any) -> Any:
        for each in (a, b):
            if not isinstance(each, Array) or len(each.shape) != 1:
                raise Mismatch("an inner product of others than vectors", "Write a @ b, or a loop.")
        return self.reductions.product(a, b)

    def _diagonal(self, a: Any, offset: Any = 0) -> Array:
        """That of a matrix, or one beside it."""
        self._check_matrix(a, offset)
        rows, columns = a.shape
        down, right = max(-offset, 0), max(offset, 0)
        rows, columns = (self.integers.extent(self.integers.moved(extent, -by))
                         for extent, by in ((rows, down), (columns, right)))  # fmt: skip
        is_square = same(rows, columns)
        extent = rows if is_square else functions.call(self.operators, min, [rows, columns])

        def at(indices: Index) -> Any:
            return a.at([self.integers.along(indices[0], by, 1) for by in (down, right)])

        return Array(a.kind, (self.integers.extent(extent),), at, a.reads, parts_of=a.parts_of)

    def _diagonal_or_matrix(self, v: Any, k: Any = 0) -> Array:
        """np.diag: of a vector, the matrix that has it on its diagonal."""
        if len(v.shape) != 1:
            return self._diagonal(v, k)
        matrix = Array(v.kind, (*v.shape, *v.shape), lambda at: v.at(at[:1]), v.reads)
        if type(k) is not int or k != 0:
            raise Mismatch("a matrix with a vector beside its diagonal", "Write a loop.")
        return self._where("==", matrix, 0)

    def _lower(self, m: Any, k: Any = 0) -> Array:
        self._check_matrix(m, k)
        return self._where("<=", m, k)

    def _upper(self, m: Any, k: Any = 0) -> Array:
        self._check_matrix(m, k)
        return self._where(">=", m, k)

    def _check_matrix(self, matrix: Array, offset: Any) -> None:
        if len(matrix.shape) != 2 or type(offset) is not int:
            raise Mismatch("a diagonal of something else", "A matrix and a literal integer are "
                           "required.")  # fmt: skip

    def _where(self, symbol: str, matrix: Array, offset: int) -> Array:
        """A matrix whose elements are 0 but where the column compares so with the row and an
        offset."""
        operators, none = self.operators, {"float": 0.0, "int": 0, "bool": False}[matrix.kind]

        def at(indices: Index) -> Any:
            row, column = indices
            holds = operators.compare(symbol, column, self.integers.along(row, offset, 1))
            if isinstance(holds, bool):
                return matrix.at(indices) if holds else none
            return operators.select(holds, matrix.at(indices), none)

        return Array(matrix.kind, matrix.shape, at, matrix.reads)
