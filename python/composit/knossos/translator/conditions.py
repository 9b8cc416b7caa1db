"""What conditions say of counters, in the branches that they guard."""

from __future__ import annotations

import ast
import contextlib
from collections.abc import Iterator

from composit._core.knossos import Code, Integers

_SYMBOLS = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!="}
_NOT = {"<": ">=", ">=": "<", ">": "<=", "<=": ">", "==": "!=", "!=": "=="}
_TURNED = {"<": ">", ">": "<", "<=": ">=", ">=": "<=", "==": "==", "!=": "!="}


@contextlib.contextmanager
def where(code: Code, integers: Integers, test: ast.expr, holds: bool) -> Iterator[None]:
    """Within, what is known of counters where a condition holds, or does not."""
    before = integers.bounds
    for name, symbol, number in comparisons(test, holds):
        if code.has(name):
            integers.narrow(code.number_of(name), symbol, number)
    try:
        yield
    finally:
        integers.bounds = before


def comparisons(test: ast.expr, holds: bool) -> Iterator[tuple[str, str, int]]:
    """(name, comparison, integer) of each that holds where the condition does, or does not."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        yield from comparisons(test.operand, not holds)
    elif isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And) == holds:
        for each in test.values:
            yield from comparisons(each, holds)
    elif isinstance(test, ast.Compare) and len(test.ops) == 1:
        left, right = test.left, test.comparators[0]
        symbol = _SYMBOLS.get(type(test.ops[0]), "")
        if isinstance(left, ast.Constant):
            left, right, symbol = right, left, _TURNED.get(symbol, "")
        is_known = isinstance(right, ast.Constant) and type(right.value) is int
        if isinstance(left, ast.Name) and is_known and symbol:
            yield left.id, symbol if holds else _NOT[symbol], right.value  # type: ignore
