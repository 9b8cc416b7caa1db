"""Values of kernels where Python sees them, and what it makes of numbers that are known.

A value is a number, a scalar expression, or a tuple or record of values (composit/knossos)."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

import composit._core as _core


class Mismatch(Exception):
    """Values that do not go together: what is wrong, and what to write."""

    def __init__(self, wrong: str, instead: str) -> None:
        super().__init__(wrong)
        self.wrong, self.instead = wrong, instead


class Refused(Exception):
    """What a kernel may not hold, of which the translation knows the line."""

    def __init__(self, wrong: str, instead: str, kind: type[Exception]) -> None:
        super().__init__(wrong)
        self.wrong, self.instead, self.kind = wrong, instead, kind


class Listed(tuple):  # type: ignore[type-arg]
    """What stands between `[` and `]`: as a tuple, except for what only one of both may do."""


class Record:
    """A NamedTuple or dataclass, by fields."""

    def __init__(self, made_by: Any, fields: dict[str, Any]) -> None:
        self.made_by, self.fields = made_by, fields


def found_in(table: Any, function: Any) -> Any:
    """What a table of functions has for one; None for others, and for what is not hashable."""
    try:
        return table.get(function)
    except TypeError:
        return None


def is_number(value: Any) -> bool:
    return isinstance(value, (bool, int, float))


kind_of = _core.knossos.kind_of


def of_numbers(function: Any, *numbers: Any) -> Any:
    """Python's own result for numbers that are known."""
    try:
        result = function(*numbers)
    except (ArithmeticError, ValueError, TypeError) as error:
        instead = next((text for kind, text in _INSTEAD.items() if isinstance(error, kind)),
                       "Other numbers are required.")  # fmt: skip
        raise Mismatch(f"{error.args[-1]} (of {', '.join(map(repr, numbers))})", instead) from None
    if not is_number(result):
        raise Mismatch(f"{result!r} is no real number", "A real number is required.")
    return result


# Where Python raises, a constant of a kernel is no number.
_INSTEAD = {
    ZeroDivisionError: "A divisor other than 0 is required, or math.inf or math.nan in its place.",
    OverflowError: "Numbers whose result a float holds are required.",
    ValueError: "Numbers for which it has a value are required, or math.nan in its place.",
}  # fmt: skip
_BINARY: dict[str, Any] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv,
    "//": operator.floordiv, "%": operator.mod, "**": operator.pow, "<<": operator.lshift,
    ">>": operator.rshift, "&": operator.and_, "|": operator.or_, "^": operator.xor,
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
    "==": operator.eq, "!=": operator.ne,
}  # fmt: skip
_UNARY: dict[str, Any] = {"+": operator.pos, "-": operator.neg, "~": operator.invert}


def of_operator(symbol: str, numbers: list[Any]) -> Any:
    """Python's operator of numbers that are known."""
    return of_numbers((_BINARY if len(numbers) == 2 else _UNARY)[symbol], *numbers)


def of_elements(symbol: str, numbers: list[Any]) -> Any:
    """NumPy's operator of such numbers."""
    with np.errstate(all="ignore"):
        return of_numbers(lambda *both: _BINARY[symbol](*map(np.asarray, both)).item(), *numbers)


_core.provide("knossos_listed", Listed)
_core.provide("knossos_record", Record)
_core.provide("knossos_mismatch", Mismatch)
