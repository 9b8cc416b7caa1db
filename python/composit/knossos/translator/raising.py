"""`raise` and `assert` in kernels: assertions, of which the first does not hold and ends a path."""

from __future__ import annotations

import ast
import dataclasses
from typing import Any

import numpy as np

from composit._core.knossos import Code, Operators
from composit._core.procedure import Statement
from composit._core.scalar import Expr
from composit.knossos.source import shown
from composit.knossos.translator.call_stack import CallStack
from composit.knossos.translator.expressions import Expressions, Forms
from composit.knossos.translator.found import Found, Restart
from composit.knossos.translator.scope import Scope
from composit.knossos.values import kind_of

_ERRORS: dict[Any, str] = {
    ValueError: "ValueError", IndexError: "IndexError", AssertionError: "AssertionError",
    TypeError: "TypeError", ZeroDivisionError: "ZeroDivisionError",
    OverflowError: "OverflowError", RuntimeError: "RuntimeError",
    np.linalg.LinAlgError: "LinAlgError",
}  # fmt: skip


@dataclasses.dataclass(eq=False)
class Raising:
    """Behind a `raise` stands a return of NaN, or 0, which nobody is to see. What does not check
    assertions, a kernel of numbers and exported code without them, goes on with it."""

    code: Code
    operators: Operators
    scope: Scope
    found: Found
    stack: CallStack
    expressions: Expressions

    def __post_init__(self) -> None:
        self._wanted: set[int] = set()  # the calls, or 0 for the kernel, that return so

    def forms(self) -> Forms:
        return {ast.Raise: self.do_raise, ast.Assert: self.do_assert}

    def do_assert(self, node: ast.Assert) -> None:
        holds = self.operators.truth(self.expressions.value(node.test))
        if isinstance(holds, Expr):
            claim = f"the assertion `{shown(node.test)}` does not hold"
            if node.msg is not None:
                is_text = isinstance(node.msg, ast.Constant)
                claim += ": " + str(ast.literal_eval(node.msg) if is_text else shown(node.msg))
            claim = claim.replace("{}", "{ }") + "."
            self.code.add(Statement.expect(holds, node.lineno, "AssertionError", claim))
        elif not holds:
            self.scope.refuse(
                node, f"`{shown(node.test)}` never holds", "Leave it out.", ValueError
            )

    def do_raise(self, node: ast.Raise) -> None:
        error, call = node.exc, node.exc if isinstance(node.exc, ast.Call) else None
        arguments = [] if call is None else call.args
        found = self.scope.meaning_or_none(call.func if call else error) if error else None
        name = _ERRORS.get(found, "") if isinstance(found, type) else ""
        is_more = node.cause is not None or len(arguments) > 1 or bool(call and call.keywords)
        if not name or is_more:
            self.scope.refuse(
                node, f"`{shown(node)}` is not part of kernels",
                f"Write raise of one of {', '.join(_ERRORS.values())}, with a text.",
            )  # fmt: skip
        text, values = self._claim(arguments[0]) if arguments else (shown(node), [])
        never = self.operators.cast(False, "bool")
        self.code.add(Statement.expect(never, node.lineno, name, text, values), self._end())
        self.scope.defined = None

    def _claim(self, node: ast.expr) -> tuple[str, list[Expr]]:
        """What the error says: `{}` stand for integers, and braces of the text are taken apart."""
        if not isinstance(node, ast.JoinedStr):
            text = str(node.value) if isinstance(node, ast.Constant) else shown(node)
            return text.replace("{}", "{ }"), []
        text, values = "", []
        for part in node.values:
            if isinstance(part, ast.Constant):
                text += str(part.value).replace("{}", "{ }")
                continue
            assert isinstance(part, ast.FormattedValue)
            value = self.expressions.value(part.value)
            if kind_of(value) == "int" and part.format_spec is None:
                text += "{}"
                values.append(self.code.integer(value))
            else:
                text += f"({shown(part.value)})"
        return text, values

    def _end(self) -> Statement:
        call = self.stack.frames[-1].number if self.stack.frames else 0
        self._wanted.add(call)
        return Statement.leave([
            Expr.constant(dtype, float("nan") if np.dtype(dtype).kind == "f" else 0.0)
            for dtype in self.found.returned.get(call, [])
        ], 0)  # fmt: skip

    def check(self, call: int, dtypes: list[Any]) -> None:
        """Begins the translation again where such a return stands for other results."""
        if call in self._wanted and self.found.returned.get(call, []) != dtypes:
            self.found.returned[call] = dtypes
            raise Restart
