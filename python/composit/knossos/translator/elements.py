"""Functions of numbers over the elements of arrays, under NumPy's broadcasting."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

from composit.knossos import functions
from composit.knossos.translator.arrays import Array, Index, Stored
from composit.knossos.translator.code import Code
from composit.knossos.translator.integers import Integers
from composit.knossos.translator.storage import Storage
from composit.knossos.translator.terms import function_in
from composit.knossos.values import Mismatch, Operators, is_number


@dataclasses.dataclass(eq=False)
class Elements:
    """Makes arrays whose elements are computed where they are read."""

    code: Code
    operators: Operators
    integers: Integers
    storage: Storage

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
                    self.integers.require_same(common[axis], extent)
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
        kind = self.code.kind_by_trial(lambda: at(list(shape)))
        elsewhere = frozenset().union(*(each.elsewhere if _is_of_all(each.shape, shape)
                                        else each.reads for each in arrays))  # fmt: skip
        return Array(kind, shape, at, reads, elsewhere=elsewhere)

    def of_function(self, function: Any, arguments: list[Any]) -> Array:
        """What a function of the table gives, element by element."""
        return self.elementwise(
            lambda *numbers: functions.call(self.operators, function, list(numbers)), arguments
        )

    def read_often(self, array: Array) -> Array:
        """An array of which each element is asked for several times: one whose elements loops or
        functions compute is stored."""
        if isinstance(array, Stored):
            return array
        with self.code.emitting([]) as statements:
            element = array.at([0] * len(array.shape))
        is_read = all(each.is_load or each.is_expect for each in statements)
        if is_read and (is_number(element) or not function_in(element)):
            return array
        return self.storage.stored(array, "operand")

    def _computed_once(self, value: Any) -> Any:
        """A number for all elements: one that a function computes becomes a variable."""
        if isinstance(value, Array) or is_number(value) or not (name := function_in(value)):
            return value
        return self.code.held(value, name)


def _is_of_all(shape: tuple[Any, ...], common: tuple[Any, ...]) -> bool:
    """Whether an array has an element for each one of the common shape."""
    return len(shape) == len(common) and not any(
        is_number(a) and a == 1 and not (is_number(b) and b == 1) for a, b in zip(shape, common)
    )
