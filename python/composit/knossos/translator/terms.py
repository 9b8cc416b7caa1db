"""Expressions as terms: whether two are the same, what they read, a base and a constant."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from composit._core.scalar import Expr
from composit.knossos.values import is_number


def same(a: Any, b: Any) -> bool:
    """Whether two extents are the same for certain."""
    if is_number(a) or is_number(b):
        return is_number(a) and is_number(b) and a == b
    if a.op == "argument" or b.op == "argument":
        return a.op == b.op and a.index == b.index
    if a.op == "constant" or b.op == "constant" or a.op != b.op:
        return False
    return len(a.operands) == len(b.operands) and all(map(same_or_equal, a.operands, b.operands))


def _parts_of(value: Expr) -> Iterator[Expr]:
    """The expression and all that it is made of, each once."""
    pending, seen = [value], set()
    while pending:
        each = pending.pop()
        if hash(each) in seen:  # which is the node's
            continue
        seen.add(hash(each))
        yield each
        pending += each.operands


def function_in(value: Expr) -> str:
    """The name of the last function that computes the expression; empty: none does."""
    for each in _parts_of(value):
        if each.op == "square_root":
            return "sqrt"
        if each.op == "call":
            return str(each.row.name)
    return ""


def variables_of(value: Expr) -> set[int]:
    """The variables that an expression reads."""
    return {each.index for each in _parts_of(value) if each.op == "argument"}


def linear(value: Any) -> tuple[Any, int]:
    """value = base + constant; the base is None for a number that is known."""
    constant = 0
    while not is_number(value):
        if value.op == "constant":
            return None, constant + int(value.value)
        if value.op == "add" and value.operands[0].op == "constant":
            constant += int(value.operands[0].value)
            value = value.operands[1]
            continue
        if value.op not in ("add", "subtract") or value.operands[1].op != "constant":
            return value, constant
        moved = int(value.operands[1].value)
        constant += moved if value.op == "add" else -moved
        value = value.operands[0]
    return None, constant + int(value)


def same_or_equal(a: Expr, b: Expr) -> bool:
    if a.op == "constant" and b.op == "constant":
        return a.value == b.value
    return same(a, b)
