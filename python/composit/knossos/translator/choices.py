"""Values of which some are not evaluated: and, or, conditional expressions."""

from __future__ import annotations

import ast
import dataclasses
from typing import Any

from composit._core.knossos import Block, Code, Operators, Sharing, joined
from composit._core.procedure import Statement
from composit.knossos.translator.expressions import Expressions, Forms
from composit.knossos.translator.paths import Paths, has_arrays
from composit.knossos.values import Mismatch, kind_of


@dataclasses.dataclass(eq=False)
class Choices:
    """What needs statements is evaluated in a branch."""

    code: Code
    operators: Operators
    sharing: Sharing
    expressions: Expressions
    paths: Paths

    def forms(self) -> Forms:
        return {ast.BoolOp: self.of_boolop, ast.IfExp: self.of_ifexp}

    def of_boolop(self, node: ast.BoolOp) -> Any:
        is_or = isinstance(node.op, ast.Or)
        result = self._bool(node.values[0])
        for each in node.values[1:]:
            with self.code.emitting() as needed:
                value = self._bool(each)
            if all(statement.is_load for statement in needed):
                self.code.add_all(needed)
                result = self.operators.both(result, value, is_or)
                continue
            # What is evaluated only where it matters.
            reached = self.operators.unary("not", result) if is_or else result
            result = self._chosen(reached, (needed, value), (Block(), is_or))
        return result

    def _bool(self, node: ast.expr) -> Any:
        value = self.expressions.value(node)
        if kind_of(value) != "bool":
            raise Mismatch(
                "and and or of numbers that are no bools",
                "Compare with 0, or write `a if a else b`.",
            )
        return value

    def _chosen(self, condition: Any, a: tuple[Block, Any], b: tuple[Block, Any]) -> Any:
        """One of two values, of which each needs statements of its own: (statements, value)."""
        operators = self.operators

        def trial() -> Any:
            condition = self.code.leaf(self.code.hidden_variable("condition", "bool"))
            return operators.select(condition, a[1], b[1])

        kind = self.code.kind_by_trial(trial)
        name = self.code.hidden_variable("chosen", kind)
        for statements, value in (a, b):
            made = operators.cast(value, kind)
            statements.append(Statement.assign(self.code.number_of(name), made, self.code.line))
        self.code.add(
            Statement.branch(operators.cast(condition, "bool"), a[0], b[0], self.code.line)
        )
        return self.code.leaf(name)

    def _of_paths(
        self, node: ast.IfExp, condition: Any, a: tuple[Block, Any], b: tuple[Block, Any],
        known: int,
    ) -> Any:  # fmt: skip
        """The same of values with arrays. `known`: variables below are known before it."""
        kinds = self.paths.larger_kinds(node, a[1], b[1])
        places = self.paths.join(node, a[1], kinds, "chosen", self.code.out, known)
        places.check(node, b[1])
        before, states = self.sharing.parts, []
        for statements, value in (a, b):
            self.sharing.parts = before
            with self.code.emitting(statements):
                places.assign(node, value)
            states.append(self.sharing.parts)
        self.sharing.parts = joined(states)
        self.code.add(
            Statement.branch(self.operators.cast(condition, "bool"), a[0], b[0], self.code.line)
        )
        return places.value

    def of_ifexp(self, node: ast.IfExp) -> Any:
        condition = self.operators.truth(self.expressions.value(node.test))
        if isinstance(condition, bool):
            return self.expressions.value(node.body if condition else node.orelse)
        known = self.code.variable_count
        with self.code.emitting() as first:
            body = self.expressions.value(node.body)
        with self.code.emitting() as second:
            otherwise = self.expressions.value(node.orelse)
        if has_arrays(body) or has_arrays(otherwise):
            return self._of_paths(node, condition, (first, body), (second, otherwise), known)
        if all(statement.is_load for statement in (*first, *second)):
            self.code.add(*first, *second)
            return self.operators.select(condition, body, otherwise)
        return self._chosen(condition, (first, body), (second, otherwise))
