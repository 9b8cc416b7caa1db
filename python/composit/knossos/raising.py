"""`raise` in kernels: an assertion that does not hold, at the end of a path."""

from __future__ import annotations

import ast
from typing import Any

import numpy as np

from composit._core.procedure import Statement
from composit._core.scalar import Expr
from composit.knossos.source import shown
from composit.knossos.values import kind_of
from composit.knossos.views import Restart

_ERRORS: dict[Any, str] = {
    ValueError: "ValueError", IndexError: "IndexError", AssertionError: "AssertionError",
    TypeError: "TypeError", ZeroDivisionError: "ZeroDivisionError",
    OverflowError: "OverflowError", RuntimeError: "RuntimeError",
    np.linalg.LinAlgError: "LinAlgError",
}  # fmt: skip


def raise_statement(translator: Any, node: ast.Raise) -> Statement:
    """The assertion that a `raise` is; what cannot be raised is refused."""
    error, call = node.exc, node.exc if isinstance(node.exc, ast.Call) else None
    arguments = [] if call is None else call.args
    found = translator.meaning_or_none(call.func if call else error) if error else None
    name = _ERRORS.get(found, "") if isinstance(found, type) else ""
    is_more = node.cause is not None or len(arguments) > 1 or bool(call and call.keywords)
    if not name or is_more:
        translator.refuse(
            node, f"`{shown(node)}` is not part of kernels",
            f"Write raise of one of {', '.join(_ERRORS.values())}, with a text.",
        )  # fmt: skip
    text, values = _claim(translator, arguments[0]) if arguments else (shown(node), [])
    never = translator.operators.cast(False, "bool")
    return Statement.expect(never, node.lineno, name, text, values)


def _claim(translator: Any, node: ast.expr) -> tuple[str, list[Expr]]:
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
        value = translator.value(part.value)
        if kind_of(value) == "int" and part.format_spec is None:
            text += "{}"
            values.append(translator.integer(value))
        else:
            text += f"({shown(part.value)})"
    return text, values


class Returned:
    """The dtypes of the numbers that calls return, as an earlier translation has found out. The
    kernel itself has the number 0."""

    def __init__(self) -> None:
        self.dtypes: dict[int, list[Any]] = {}
        self.wanted: set[int] = set()

    def end(self, call: int) -> Statement:
        """The return behind a `raise`: of NaN, or 0, which nobody is to see. What does not check
        assertions, a kernel of numbers and exported code without them, goes on with it."""
        self.wanted.add(call)
        return Statement.leave([
            Expr.constant(dtype, float("nan") if np.dtype(dtype).kind == "f" else 0.0)
            for dtype in self.dtypes.get(call, [])
        ], 0)  # fmt: skip

    def check(self, call: int, dtypes: list[Any]) -> None:
        """Begins the translation again where a return stands for other results."""
        if call in self.wanted and self.dtypes.get(call, []) != dtypes:
            self.dtypes[call] = dtypes
            raise Restart
