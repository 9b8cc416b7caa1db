"""NumPy's functions that go along an axis: cumsum, cumprod, diff, argmax, argmin, norm."""

from __future__ import annotations

from typing import Any

import numpy as np

import composit._core as _core
from composit._core.procedure import Statement
from composit.knossos.array_functions import NO_ELEMENT, ArrayFunctions
from composit.knossos.arrays import Array, Index
from composit.knossos.values import Mismatch, found_in, is_number, make

_KNOWN = {
    np.cumsum: "_accumulated", np.cumprod: "_accumulated", np.diff: "_diff",
    np.argmax: "_place", np.argmin: "_place", np.linalg.norm: "_norm",
}  # fmt: skip


class Accumulations(ArrayFunctions):
    """Calls of functions that go along an axis."""

    def array_call(self, function: Any, arguments: list[Any], named: dict[str, Any]) -> Any:
        method = found_in(_KNOWN, function)
        if method is None:
            return super().array_call(function, arguments, named)
        if method == "_norm" and arguments and isinstance(arguments[0], Array):
            return self._norm_of(*arguments, **named)
        if len(arguments) != 1 or named or not isinstance(arguments[0], Array):
            raise Mismatch(f"{function.__name__} of other arguments", "Give it one array.")
        return getattr(self, method)(function, arguments[0])

    def _check_axis(self, function: Any, array: Array) -> None:
        if len(array.shape) != 1:
            raise Mismatch(f"{function.__name__} of an array of {len(array.shape)} axes",
                           "One axis is required: write a loop over rows.")  # fmt: skip

    def _accumulated(self, function: Any, array: Array) -> Array:
        """Sums, or products, of the elements up to each."""
        self._check_axis(function, array)
        is_sum, kind = function is np.cumsum, "float" if array.kind == "float" else "int"
        made = self.fresh_array("sums" if is_sum else "products", kind, array.shape)
        name = self.hidden_variable("total" if is_sum else "product", kind)
        number, here = self.numbers[name], self.leaf(name)
        # The first sum is the first element: of -0.0 it is -0.0.
        none = (-0.0 if kind == "float" else 0) if is_sum else 1
        self.out.append(Statement.assign(number, self.operators.cast(none, kind), self.line))

        def step(indices: Index) -> None:
            total = self.operators.binary("+" if is_sum else "*", here, array.at(indices))
            self.out.append(Statement.assign(number, total, self.line))
            self.store(made, indices, here)

        self.nest(array.shape, step)
        return made

    def _diff(self, function: Any, array: Array) -> Array:
        if array.kind == "bool":
            raise Mismatch("diff of bools", "Numbers are required.")
        before = [None] * (len(array.shape) - 1)
        return self.elementwise(
            lambda a, b: self.operators.binary("-", a, b),
            [self.indexed(array, [*before, slice(1, None)]),
             self.indexed(array, [*before, slice(None, -1)])],
        )  # fmt: skip

    def _place(self, function: Any, array: Array) -> Any:
        """Where the largest or smallest element is: the first of several, or the first NaN."""
        self._check_axis(function, array)
        array, extent = self.stored(array, "values"), array.shape[0]
        if not is_number(extent):
            self._expect(self.operators.compare(">", extent, 0), *NO_ELEMENT)
        elif extent == 0:
            raise Mismatch(f"{function.__name__} of no elements", "One is required.")
        name = self.hidden_variable("at", "int")
        number, best = self.numbers[name], self.leaf(name)
        self.ranges[number] = (0, extent)
        self.out.append(Statement.assign(number, self.integer(0), self.line))
        symbol = "<=" if function is np.argmax else ">="

        def step(indices: Index) -> None:
            new, old = array.at(indices), array.at([best])
            if array.kind == "bool":
                new, old = self.operators.cast(new, "int"), self.operators.cast(old, "int")
            is_better = make("bit_not", [self.operators.compare(symbol, new, old)])
            if array.kind == "float":
                is_number_yet = make("bit_not", [_core.scalar.call("isnan", old)])
                is_better = make("bit_and", [is_better, is_number_yet])
            found = [Statement.assign(number, self.integer(indices[0]), self.line)]
            self.out.append(Statement.branch(is_better, found, [], self.line))

        self.nest((extent,), step)
        return best

    def _norm_of(self, x: Array, ord: Any = None, axis: Any = None, *others: Any) -> Any:
        """np.linalg.norm of all elements, or along a literal axis."""
        if others or not (ord is None or (is_number(ord) and ord in (1, 2, np.inf))):
            raise Mismatch("a norm of other arguments", "An array, the order 1, 2 or np.inf, and "
                           "a literal axis are known.")  # fmt: skip
        if axis is None and ord is not None and len(x.shape) != 1:
            raise Mismatch("a norm of a matrix of this order", "Leave the order out, or name an "
                           "axis.")  # fmt: skip
        if ord in (1, np.inf):
            sizes = self.array_call(np.absolute, [x], {})
            reduce = np.sum if ord == 1 else np.max
            return self.array_call(reduce, [sizes], {} if axis is None else {"axis": axis})
        if axis is None or len(x.shape) == 1:
            return self._norm(list(x.shape), x.at)
        place = self._literal_axis(axis, len(x.shape))
        rest = x.shape[:place] + x.shape[place + 1 :]
        return Array("float", rest, lambda at: self._norm(
            [x.shape[place]], lambda own: x.at([*at[:place], own[0], *at[place:]])
        ), x.reads)  # fmt: skip

    def _norm(self, shape: list[Any], at: Any) -> Any:
        """sqrt(dot(x, x)) of elements, as NumPy computes it where no order is said."""
        operators = self.operators

        def square(indices: Index) -> Any:
            element = operators.cast(at(indices), "float")
            return operators.binary("*", element, element)

        total = operators.cast(self._all(np.sum, "float", shape, square), "float")
        # At 0 the norm has the slope 0: its square has, and the root is not taken.
        is_positive = operators.compare(">", total, 0.0)
        return operators.select(is_positive, make("square_root", [total]), total)
