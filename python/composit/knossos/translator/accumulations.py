"""NumPy's functions that go along an axis: cumsum, cumprod, diff, argmax, argmin, norm."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np

import composit._core as _core
from composit.knossos.translator.arrays import Array, Index, Stored
from composit.knossos.translator.code import Code
from composit.knossos.translator.elements import Elements
from composit.knossos.translator.reductions import Reductions
from composit.knossos.translator.slices import Slices
from composit.knossos.translator.storage import Storage
from composit.knossos.values import Mismatch, Operators, is_number, make


@dataclasses.dataclass(eq=False)
class Accumulations:
    """Calls of functions that go along an axis."""

    code: Code
    operators: Operators
    storage: Storage
    elements: Elements
    slices: Slices
    reductions: Reductions

    def __post_init__(self) -> None:
        self.functions: dict[Any, Callable[..., Any]] = {
            np.cumsum: self._accumulated, np.cumprod: self._accumulated, np.diff: self._diff,
            np.argmax: self._place, np.argmin: self._place, np.linalg.norm: self._norm_of,
        }  # fmt: skip

    def call(self, function: Any, arguments: list[Any], named: dict[str, Any]) -> Any:
        """A function of `functions`."""
        if function is np.linalg.norm and arguments and isinstance(arguments[0], Array):
            return self._norm_of(*arguments, **named)
        if len(arguments) != 1 or named or not isinstance(arguments[0], Array):
            raise Mismatch(f"{function.__name__} of other arguments", "Give it one array.")
        return self.functions[function](function, arguments[0])

    def _check_axis(self, function: Any, array: Array) -> None:
        if len(array.shape) != 1:
            raise Mismatch(f"{function.__name__} of an array of {len(array.shape)} axes",
                           "One axis is required: write a loop over rows.")  # fmt: skip

    def _accumulated(self, function: Any, array: Array) -> Array:
        """Sums, or products, of the elements up to each."""
        self._check_axis(function, array)
        is_sum, kind = function is np.cumsum, "float" if array.kind == "float" else "int"
        made = self.storage.fresh_array("sums" if is_sum else "products", kind, array.shape)
        name = self.code.hidden_variable("total" if is_sum else "product", kind)
        number, here = self.code.numbers[name], self.code.leaf(name)
        # The first sum is the first element: of -0.0 it is -0.0.
        none = (-0.0 if kind == "float" else 0) if is_sum else 1
        self.code.assign(number, self.operators.cast(none, kind))

        def step(indices: Index) -> None:
            total = self.operators.binary("+" if is_sum else "*", here, array.at(indices))
            self.code.assign(number, total)
            self.storage.store(made, indices, here)

        self.storage.nest(array.shape, step)
        return made

    def _diff(self, function: Any, array: Array) -> Array:
        if array.kind == "bool":
            raise Mismatch("diff of bools", "Numbers are required.")
        before = [None] * (len(array.shape) - 1)
        return self.elements.elementwise(
            lambda a, b: self.operators.binary("-", a, b),
            [self.slices.indexed(array, [*before, slice(1, None)]),
             self.slices.indexed(array, [*before, slice(None, -1)])],
        )  # fmt: skip

    def _place(self, function: Any, array: Array) -> Any:
        """Where the largest or smallest element is: the first of several, or the first NaN."""
        self._check_axis(function, array)
        array = self.storage.stored(array, "values")
        if is_number(array.shape[0]) and array.shape[0] == 0:
            raise Mismatch(f"{function.__name__} of no elements", "One is required.")
        operators, kind = self.operators, array.kind
        symbol = "<=" if function is np.argmax else ">="

        def is_better(new: Any, old: Any) -> Any:
            if kind == "bool":
                new, old = operators.cast(new, "int"), operators.cast(old, "int")
            made = make("bit_not", [operators.compare(symbol, new, old)])
            if kind == "float":
                is_number_yet = make("bit_not", [_core.scalar.call("isnan", old)])
                made = make("bit_and", [made, is_number_yet])
            return made

        return self.reductions.place_of_best(array, is_better)

    def _norm_of(self, x: Array, ord: Any = None, axis: Any = None, *others: Any) -> Any:
        """np.linalg.norm of all elements, or along a literal axis."""
        if others or not (ord is None or (is_number(ord) and ord in (1, 2, np.inf))):
            raise Mismatch("a norm of other arguments", "An array, the order 1, 2 or np.inf, and "
                           "a literal axis are known.")  # fmt: skip
        if axis is None and ord is not None and len(x.shape) != 1:
            raise Mismatch("a norm of a matrix of this order", "Leave the order out, or name an "
                           "axis.")  # fmt: skip
        if ord in (1, np.inf):
            sizes = self.elements.of_function(np.absolute, [x])
            axes = [] if axis is None else [axis]
            return self.reductions.call(np.sum if ord == 1 else np.max, [sizes, *axes])
        if isinstance(x, Stored) and (axis is None or len(x.shape) == 1):
            with self.code.of_library("norm"):
                return self.code.held(self._norm(list(x.shape), x.at), "norm")
        if axis is None or len(x.shape) == 1:
            return self._norm(list(x.shape), x.at)
        place = self.reductions.literal_axis(axis, len(x.shape))
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

        total = operators.cast(self.reductions.fold(np.sum, "float", shape, square), "float")
        # At 0 the norm has the slope 0: its square has, and the root is not taken.
        is_positive = operators.compare(">", total, 0.0)
        return operators.select(is_positive, make("square_root", [total]), total)
