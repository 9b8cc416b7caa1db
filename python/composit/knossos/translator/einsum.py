"""np.einsum of literal subscripts, as loops."""

from __future__ import annotations

import ast
import dataclasses
from typing import Any

import numpy as np

from composit.knossos.translator.arrays import Array, Index
from composit.knossos.translator.code import Code
from composit.knossos.translator.elements import Elements
from composit.knossos.translator.expressions import Expressions
from composit.knossos.translator.integers import Integers
from composit.knossos.translator.reductions import Reductions
from composit.knossos.values import KINDS, Mismatch, Operators

_WANTED = 'Subscripts that are literal are required, as "ij,jk->ik", and an array for each.'


@dataclasses.dataclass(eq=False)
class Einsum:
    """Sums of products of elements, whose axes have letters."""

    code: Code
    operators: Operators
    integers: Integers
    elements: Elements
    reductions: Reductions
    expressions: Expressions

    def of_call(self, node: ast.Call) -> Any:
        """The sum of products that the subscripts mean: a number, or an array."""
        subscripts = node.args[0] if node.args else None
        if not isinstance(subscripts, ast.Constant) or not isinstance(subscripts.value, str):
            raise Mismatch("einsum whose first argument is no text", _WANTED)
        if node.keywords:
            raise Mismatch(f"the argument {node.keywords[0].arg} of einsum", "Leave it out.")
        arrays = [self.expressions.value(each) for each in node.args[1:]]
        inputs, output = _read(subscripts.value, arrays)
        extents: dict[str, Any] = {}
        for labels, array in zip(inputs, arrays):
            for label, extent in zip(labels, array.shape):
                if label in extents:
                    self.integers.require_same(extents[label], extent)
                else:
                    extents[label] = extent
        arrays = [self.elements.read_often(each) for each in arrays]
        kind = max((each.kind for each in arrays), key=KINDS.index)
        summed = [label for label in extents if label not in output]

        def at(indices: Index) -> Any:
            here = dict(zip(output, indices))

            def product(inner: Index) -> Any:
                places = {**here, **dict(zip(summed, inner))}
                parts = [array.at([places[label] for label in labels])
                         for labels, array in zip(inputs, arrays)]  # fmt: skip
                made = parts[0]
                for part in parts[1:]:
                    made = self.operators.binary("*", made, part)
                return made

            if not summed:
                return product([])
            return self.reductions.fold(np.sum, kind, [extents[label] for label in summed], product)

        if not output:
            return at([])
        reads = frozenset().union(*(each.reads for each in arrays))
        return Array(kind, tuple(extents[label] for label in output), at, reads)


def _read(text: str, arrays: list[Any]) -> tuple[list[str], str]:
    """The labels of each array, and those of the result."""
    left, arrow, output = text.replace(" ", "").partition("->")
    inputs = left.split(",")
    if not arrow:  # the labels that stand there once, in order
        output = "".join(sorted(label for label in {*left} - {","} if left.count(label) == 1))
    if len(inputs) != len(arrays) or not all(isinstance(each, Array) for each in arrays):
        raise Mismatch(f'einsum of "{text}" and {len(arrays)} arguments', _WANTED)
    if not all(label.isalpha() for labels in [*inputs, output] for label in labels):
        raise Mismatch(f'einsum of "{text}"', "A letter for each axis is required.")
    for labels, array in zip(inputs, arrays):
        if len(labels) != len(array.shape):
            raise Mismatch(f'"{labels}" of an array of {len(array.shape)} axes',
                           "A letter for each axis is required.")  # fmt: skip
        if array.kind == "bool":
            raise Mismatch("einsum of bools", "Write .astype(int).")
    if len({*output}) != len(output) or not {*output} <= {*left}:
        raise Mismatch(f'einsum of "{text}"', "A result whose letters stand before -> is required.")
    return inputs, output
