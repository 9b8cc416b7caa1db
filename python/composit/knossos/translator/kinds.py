"""The kinds of numbers of variables. One that is assigned integer literals in one place and floats
in another is a float: what shows that begins the translation again."""

from __future__ import annotations

import ast
import dataclasses
from typing import Any

from composit._core.knossos import Code, Operators
from composit._core.scalar import Expr
from composit.knossos.translator.found import Found
from composit.knossos.translator.scope import Scope
from composit.knossos.values import is_number, kind_of, with_article


@dataclasses.dataclass(eq=False)
class Kinds:
    """Makes values those of variables and results."""

    code: Code
    operators: Operators
    scope: Scope
    found: Found

    def __post_init__(self) -> None:
        self.floats = self.found.floats
        self.weak: set[str] = set()  # ints that only literals were assigned to
        self.strong: set[str] = set()

    def is_weak(self, value: Any) -> bool:
        """Whether an int expression is a variable that only literals were assigned to."""
        return (
            isinstance(value, Expr) and value.op == "argument"
            and self.code.name_of(value.index) in self.weak
        )  # fmt: skip

    def fitted(self, node: ast.AST, key: str, value: Any, kind: str, what: str) -> Expr:
        """The value as an expression of a kind; restarts where the kind should have been float."""
        own = kind_of(value)
        if own == kind:
            return self.operators.cast(value, kind)
        if kind == "float" and own == "int" and (is_number(value) or self.is_weak(value)):
            return self.operators.cast(value, "float")
        if kind == "float" and own == "int" and self.scope.declared_kinds and key[:7] == "return ":
            return self.operators.cast(value, "float")
        is_open = key not in self.floats and (key in self.weak or not self.scope.declared_kinds)
        if own == "float" and kind == "int" and is_open and key not in self.strong:
            self.floats.add(key)
            self.found.begin_again()
        self.scope.refuse(
            node, f"{what} is {with_article(own)} here and {with_article(kind)} elsewhere",
            f"One type is required: write {kind}(…) here." if kind != "bool" else
            "One type is required.", TypeError,
        )  # fmt: skip

    def value_of_variable(self, name: str, value: Any, node: ast.AST) -> Expr:
        """The value as the variable holds it, which is made where there is none yet."""
        own = kind_of(value)
        weak = own == "int" and (is_number(value) or self.is_weak(value))
        if not self.code.has(name):
            kind = "float" if name in self.floats else own
            self.code.add_variable(name, kind)
            if weak:
                self.weak.add(name)
        if own == "int" and not weak and self.code.kind_named(name) == "int":
            self.weak.discard(name)
            self.strong.add(name)
        return self.fitted(node, name, value, self.code.kind_named(name), name)
