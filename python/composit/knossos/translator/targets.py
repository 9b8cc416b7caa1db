"""What stands left of `=`: names and elements, in tuples of such."""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Callable
from typing import Any

from composit._core.knossos import Array, Slices
from composit.knossos.source import shown
from composit.knossos.translator.scope import Scope
from composit.knossos.values import Record, is_number, kind_of


@dataclasses.dataclass(eq=False)
class Targets:
    """The parts of a value for the targets in a tuple."""

    scope: Scope
    slices: Slices

    def spread(
        self, target: ast.expr, value: Any, assign: Callable[[ast.expr, Any], Any]
    ) -> None:  # fmt: skip
        """Calls `assign` with each target and its part, from the left."""
        if not isinstance(target, (ast.Tuple, ast.List)):
            assign(target, value)
            return
        parts = tuple(value.fields.values()) if isinstance(value, Record) else value
        if isinstance(parts, Array) and is_number(parts.shape[0]):
            parts = tuple(self.slices.indexed(parts, [k]) for k in range(parts.shape[0]))
        if not isinstance(parts, tuple) or len(parts) != len(target.elts):
            self.scope.refuse(
                target, f"`{shown(target)}` has {len(target.elts)} names for "
                f"{kind_of(value) if not isinstance(parts, tuple) else len(parts)}",
                "As many values as names are required.", ValueError,
            )  # fmt: skip
        for each, part in zip(target.elts, parts):
            self.spread(each, part, assign)

    def name_of(self, target: ast.expr) -> str:
        """The variable that a target is; what else is one is refused."""
        if not isinstance(target, ast.Name):
            self.scope.refuse(
                target, f"`{shown(target)}` is part of a value, which does not change",
                "Make a new tuple or record with the part replaced.",
            )  # fmt: skip
        assert isinstance(target, ast.Name)
        return target.id

    def bind(self, target: ast.expr, item: Any) -> None:
        """The names of a target stand for the parts of an item, until `bound` is popped."""
        names: dict[str, Any] = {}
        self.spread(target, item, lambda each, part: names.update({self.name_of(each): part}))
        self.scope.bound.append(names)


def has_elements(target: ast.expr) -> bool:
    """Whether an element of an array is among the targets."""
    if isinstance(target, (ast.Tuple, ast.List)):
        return any(map(has_elements, target.elts))
    return isinstance(target, ast.Subscript)
