"""Python's statements: which part translates which kind of them."""

from __future__ import annotations

import ast
import dataclasses

from composit._core.knossos import Block, Code
from composit.knossos.source import shown
from composit.knossos.translator.expressions import Forms, Part
from composit.knossos.translator.scope import Scope
from composit.knossos.values import Mismatch

_INSTEAD = {
    ast.ClassDef: "Define the class outside.",
    ast.Import: "Import at the top of the module.",
    ast.ImportFrom: "Import at the top of the module.",
    ast.Try: "Kernels raise nothing: write an if.",
    ast.With: "Write what it holds.",
    ast.Global: "Kernels change nothing outside: return the value.",
    ast.Nonlocal: "Kernels change nothing outside: return the value.",
    ast.Delete: "Leave it out.",
    ast.Match: "Write if, elif and else.",
}


@dataclasses.dataclass(eq=False)
class Statements:
    """`forms` are the functions of the other parts that translate statements, by their types."""

    code: Code
    scope: Scope

    def __post_init__(self) -> None:
        self.forms: Forms = {}

    def use(self, *parts: Part) -> None:
        for part in parts:
            self.forms |= part.forms()

    def block(self, body: list[ast.stmt], is_certain: bool = False) -> Block:
        """A block of their own. `is_certain`: it runs wherever the one around does."""
        with self.code.emitting() as out:
            if is_certain:
                self.code.runs_for_certain(out)
            self.run(body)
        return out

    def run(self, body: list[ast.stmt]) -> None:
        """Adds what they mean to the code, up to one that leaves."""
        for statement in body:
            if self.scope.defined is None:
                break  # never reached
            self.code.line = statement.lineno
            is_in_library = self.scope.is_in_library[-1]
            if not is_in_library:
                self.code.construct = statement
            form = self.forms.get(type(statement), self._refuse)
            try:
                form(statement)
            except Mismatch as error:
                if is_in_library:
                    raise
                self.scope.refuse(statement, error.wrong, error.instead, TypeError)

    def _refuse(self, node: ast.stmt) -> None:
        instead = _INSTEAD.get(type(node), "See docs/knossos.md for what kernels may hold.")
        self.scope.refuse(node, f"`{shown(node).splitlines()[0]}` is not part of kernels", instead)
