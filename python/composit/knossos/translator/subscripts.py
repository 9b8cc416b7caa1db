"""Tuples, lists, and what stands between brackets behind a value."""

from __future__ import annotations

import ast
import dataclasses
from typing import Any

import numpy as np

from composit._core.knossos import Array, Slices
from composit.knossos.translator.arrays import NEW_AXIS
from composit.knossos.translator.expressions import Expressions, Forms
from composit.knossos.translator.scope import Scope
from composit.knossos.values import (
    Listed,
    Mismatch,
    kind_of,
    scalar,
    unnamed,
    with_article,
)


@dataclasses.dataclass(eq=False)
class Subscripts:
    """Makes tuples, and takes elements and slices."""

    scope: Scope
    expressions: Expressions
    slices: Slices

    def forms(self) -> Forms:
        return {
            ast.Tuple: self.of_tuple, ast.List: self.of_list, ast.Subscript: self.of_subscript,
        }  # fmt: skip

    def of_tuple(self, node: ast.Tuple) -> Any:
        return tuple(self.expressions.value_or_function(each) for each in node.elts)

    def of_list(self, node: ast.List) -> Any:
        return Listed(self.expressions.value(each) for each in node.elts)

    def of_subscript(self, node: ast.Subscript) -> Any:
        holder = self.expressions.value(node.value)
        if isinstance(holder, Array):
            return self.slices.indexed(holder, self.indices(node.slice))
        holder = unnamed(holder)
        if isinstance(node.slice, ast.Slice):
            given = (node.slice.lower, node.slice.upper, node.slice.step)
            bounds = [None if each is None else self.expressions.value(each) for each in given]
            if isinstance(holder, tuple) and all(b is None or isinstance(b, int) for b in bounds):
                return holder[slice(*bounds)]
            raise Mismatch(f"a slice of {with_article(kind_of(holder))}",
                           "Arrays, and tuples by literal integers, are sliced.")  # fmt: skip
        index = self.expressions.value(node.slice)
        if not isinstance(holder, tuple):
            raise Mismatch(f"{with_article(kind_of(holder))} is indexed",
                           "Arrays and tuples are.")  # fmt: skip
        if not isinstance(index, int):
            raise Mismatch(
                "the index is not known", "A literal integer, or a comprehension's, is required."
            )
        if not -len(holder) <= index < len(holder):
            self.scope.refuse(node, f"index {index} of a tuple of {len(holder)}",
                        "One that it has is required.", IndexError)  # fmt: skip
        return holder[index]

    def indices(self, node: ast.expr) -> list[Any]:
        """What stands between the brackets of an array."""
        if not isinstance(node, (ast.Tuple, ast.Slice)) and not self._is_new_axis(node):
            value = self.expressions.value(node)
            _check_index(value)
            return list(value) if isinstance(value, tuple) else [scalar(value)]
        given: list[Any] = []
        for each in node.elts if isinstance(node, ast.Tuple) else [node]:
            if self._is_new_axis(each):
                given.append(NEW_AXIS)
                continue
            if not isinstance(each, ast.Slice):
                value = self.expressions.value(each)
                _check_index(value)
                given.append(scalar(value))
                continue
            bounds = [None if b is None else self.expressions.value(b)
                      for b in (each.lower, each.upper, each.step)]  # fmt: skip
            given.append(slice(*bounds) if any(b is not None for b in bounds) else None)
        return given

    def _is_new_axis(self, node: ast.expr) -> bool:
        """None or np.newaxis."""
        if isinstance(node, ast.Attribute):
            return node.attr == "newaxis" and self.scope.meaning_or_none(node.value) is np
        return isinstance(node, ast.Constant) and node.value is None


def _check_index(value: Any) -> None:
    """Refuses what NumPy takes several elements by."""
    if isinstance(value, (Array, Listed)):
        what = "a list" if isinstance(value, Listed) else f"an array of {value.kind}s"
        raise Mismatch(f"{what} as an index", "Write a loop over the places.")
