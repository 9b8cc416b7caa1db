"""The plain statements: `if`, `pass`, functions that are defined or called on a line of their
own."""

from __future__ import annotations

import ast
import dataclasses

from composit._core.knossos import Code, Integers, Operators, Sharing, joined
from composit._core.procedure import Statement
from composit.knossos.source import shown
from composit.knossos.translator.assignments import Assignments
from composit.knossos.translator.call_stack import CallStack
from composit.knossos.translator.conditions import where
from composit.knossos.translator.expressions import Expressions, Forms
from composit.knossos.translator.lists import Lists
from composit.knossos.translator.names import Names
from composit.knossos.translator.scope import Scope
from composit.knossos.translator.statements import Statements


@dataclasses.dataclass(eq=False)
class Branches:
    """Joins what is known on the ways of an `if`."""

    code: Code
    operators: Operators
    scope: Scope
    stack: CallStack
    integers: Integers
    sharing: Sharing
    expressions: Expressions
    names: Names
    lists: Lists
    statements: Statements
    assignments: Assignments

    def forms(self) -> Forms:
        return {
            ast.If: self.do_if, ast.Pass: lambda node: None, ast.Expr: self.do_expr,
            ast.FunctionDef: self.do_functiondef,
        }  # fmt: skip

    def do_expr(self, node: ast.Expr) -> None:
        if isinstance(node.value, ast.Constant):
            return
        if (growing := self.lists.list_of(node.value)) is not None:
            self.lists.append(node.value, growing)  # type: ignore[arg-type]
            return
        stack = self.stack
        before, stack.called_for_effect = stack.count_of_changes, node.value
        if not isinstance(node.value, ast.Call) or (
            self.expressions.value(node.value) is not None and stack.count_of_changes == before
        ):
            self.scope.refuse(
                node, f"the value of `{shown(node)}` is not used",
                "Assign it, or leave the line out: kernels have no side effects.",
            )  # fmt: skip

    def do_functiondef(self, node: ast.FunctionDef) -> None:
        name = ast.copy_location(ast.Name(node.name), node)
        self.assignments.assign(name, self.names.function_inside(node))

    def do_if(self, node: ast.If) -> None:
        scope, sharing = self.scope, self.sharing
        condition = self.operators.truth(self.expressions.value(node.test))
        if isinstance(condition, bool):
            self.code.add_all(self.statements.block(node.body if condition else node.orelse))
            return
        before, parts = set(scope.defined or ()), sharing.parts
        counts = self.lists.snapshot()
        first = self.code.array_count
        self.scope.nesting += 1
        with where(self.code, self.integers, node.test, True):
            body = self.statements.block(node.body)
        after_body, parts_after_body = scope.defined, sharing.parts
        counts_after_body = self.lists.snapshot()
        scope.defined, sharing.parts = set(before), parts
        self.lists.begin_again_with(counts)
        with where(self.code, self.integers, node.test, False):
            otherwise = self.statements.block(node.orelse)
        self.scope.nesting -= 1
        if scope.defined is None:
            scope.defined, sharing.parts = after_body, parts_after_body
            self.lists.begin_again_with(counts_after_body)
        elif after_body is not None:
            scope.defined &= after_body
            sharing.parts = joined([sharing.parts, parts_after_body])
            self.lists.join(counts_after_body)
        sharing.ended |= set(range(first, self.code.array_count))
        self.code.add(Statement.branch(condition, body, otherwise, node.lineno))
