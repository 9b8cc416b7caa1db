"""Python's expressions as values: which part translates which kind of them."""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Callable
from typing import Any, Protocol

from composit._core.knossos import Code
from composit.knossos.closures import Outside, is_function
from composit.knossos.source import shown
from composit.knossos.translator.scope import Scope
from composit.knossos.values import Mismatch

_INSTEAD = {
    ast.Dict: "Use variables, a tuple or a NamedTuple.",
    ast.Set: "Use variables, or a tuple.",
    ast.JoinedStr: "Kernels compute with numbers: leave it out.",
    ast.NamedExpr: "Write the assignment on a line of its own.",
}


Forms = dict[type[ast.AST], Callable[[Any], Any]]


class Part(Protocol):
    """A part that translates kinds of expressions, or of statements."""

    def forms(self) -> Forms: ...


@dataclasses.dataclass(eq=False)
class Expressions:
    """`forms` are the functions of the other parts that translate expressions, by their types."""

    code: Code
    scope: Scope

    def __post_init__(self) -> None:
        self.forms: Forms = {}

    def use(self, *parts: Part) -> None:
        for part in parts:
            self.forms |= part.forms()

    def value(self, node: ast.expr) -> Any:
        """The value of an expression, whose statements are added to the code."""
        form = self.forms.get(type(node))
        if form is None:
            self.scope.refuse(
                node, f"`{shown(node)}` is not part of kernels",
                _INSTEAD.get(type(node), "See docs/knossos.md for what kernels may hold."),
            )  # fmt: skip
        around = self.code.construct
        is_in_library = self.scope.is_in_library[-1]
        self.code.construct = around if is_in_library else node
        try:
            return form(node)
        except Mismatch as error:
            if is_in_library:  # the call is what does not fit
                raise
            self.scope.refuse(node, f"{error.wrong}, in `{shown(node)}`", error.instead, TypeError)
        finally:
            self.code.construct = around

    def value_or_function(self, node: ast.expr) -> Any:
        """The value of an expression, which may be a function from outside."""
        found = self.scope.meaning_or_none(node)
        is_bound = isinstance(node, ast.Name) and self.scope.is_local(node.id)
        return Outside(found) if is_function(found) and not is_bound else self.value(node)
