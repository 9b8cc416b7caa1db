"""What Python's operators mean on scalar expressions: kinds, promotion, truth.

A value is a Python number (a literal or what was computed of literals: weak), a scalar expression,
or a tuple or record of values."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

import composit._core as _core
from composit._core.scalar import Expr

make = Expr.make
KINDS = ("bool", "int", "float")


class Mismatch(Exception):
    """Values that do not go together: what is wrong, and what to write."""

    def __init__(self, wrong: str, instead: str) -> None:
        super().__init__(wrong)
        self.wrong, self.instead = wrong, instead


class Listed(tuple):  # type: ignore[type-arg]
    """What stands between `[` and `]`: as a tuple, except for what only one of both may do."""


class FunctionValue:
    """A function as a value (closures.py)."""

    def is_same(self, other: FunctionValue) -> bool:
        raise NotImplementedError

    def __repr__(self) -> str:
        return "a function"


class Record:
    """A NamedTuple or dataclass, by fields."""

    def __init__(self, made_by: Any, fields: dict[str, Any]) -> None:
        self.made_by, self.fields = made_by, fields


def unnamed(value: Any) -> Any:
    """A NamedTuple as a tuple of its parts; anything else as it is."""
    is_named = isinstance(value, Record) and issubclass(value.made_by, tuple)
    return tuple(value.fields.values()) if is_named else value


def found_in(table: Any, function: Any) -> Any:
    """What a table of functions has for one; None for others, and for what is not hashable."""
    try:
        return table.get(function)
    except TypeError:
        return None


def is_number(value: Any) -> bool:
    return isinstance(value, (bool, int, float))


def kind_of(value: Any) -> str:
    """bool, int or float; of anything else what it is, as a text for errors."""
    if isinstance(value, Expr):
        kind = np.dtype(value.dtype).kind
        return {"b": "bool", "i": "int", "f": "float"}[kind]
    if is_number(value):
        return type(value).__name__
    if isinstance(value, tuple):
        return "a tuple"
    if isinstance(value, Record):
        return f"a {value.made_by.__name__}"
    if hasattr(value, "reads"):
        return "an array"
    return f"{value!r}"


def scalar(value: Any) -> Any:
    """The value itself, which must be one number."""
    if isinstance(value, Expr) or is_number(value):
        return value
    raise Mismatch(f"{kind_of(value)} stands where a number is required", "Use one of its parts.")


def leaves_with_names(
    value: Any, path: str = "", has_arrays: bool = False
) -> list[tuple[str, Any]]:
    """The numbers of a structure, and its arrays where it may have some, with what is added to the
    name of their variable."""
    if isinstance(value, tuple):
        parts = list(enumerate(value))
    elif isinstance(value, Record):
        parts = list(value.fields.items())  # type: ignore[arg-type]
    else:
        is_leaf = isinstance(value, Expr) or is_number(value)
        if not is_leaf and not (has_arrays and hasattr(value, "reads")):
            raise Mismatch(f"{kind_of(value)} is no number", "Numbers, tuples and records are.")
        return [(path, value)]
    return [leaf for key, part in parts
            for leaf in leaves_with_names(part, f"{path}.{key}", has_arrays)]  # fmt: skip


def with_article(kind: str) -> str:
    return (
        kind if kind.startswith(("a ", "an ")) else ("an " if kind[0] in "aeiou" else "a ") + kind
    )


class Operators:
    """Operators in one floating dtype."""

    def __init__(self, dtype: Any, has_arrays: bool = False) -> None:
        self.dtype = np.dtype(dtype)
        self.has_arrays = has_arrays  # whether bools may be NumPy's

    def dtype_of(self, kind: str) -> Any:
        return {"float": self.dtype, "int": np.dtype("int64"), "bool": np.dtype("bool")}[kind]

    def cast(self, value: Any, kind: str) -> Expr:
        """A number as an expression of a kind that holds it."""
        dtype = self.dtype_of(kind)
        if isinstance(value, Expr):
            return Expr.cast(value, dtype)
        if kind == "float":
            return Expr.constant(dtype, float(value))
        if not -(2**63) <= value < 2**63:
            raise Mismatch(f"the integer {value} does not fit in int64", "Write a float.")
        if abs(value) <= 2**53:
            return Expr.constant(dtype, float(value))
        high, low = divmod(int(value), 2**32)
        shifted = make("multiply", [Expr.constant(dtype, float(high)),
                                    Expr.constant(dtype, float(2**32))])  # fmt: skip
        return make("add", [shifted, Expr.constant(dtype, float(low))])

    def promoted(self, a: Any, b: Any, least: str = "int") -> tuple[Expr, Expr, str]:
        """Both as expressions of the larger kind."""
        kinds = [kind_of(scalar(a)), kind_of(scalar(b)), least]
        kind = KINDS[max(KINDS.index(each) for each in kinds)]
        return self.cast(a, kind), self.cast(b, kind), kind

    def truth(self, value: Any) -> Any:
        """A bool: whether the number is not zero."""
        value = scalar(value)
        if is_number(value):
            return bool(value)
        if kind_of(value) == "bool":
            return value
        return make("not_equal", [value, self.cast(0, kind_of(value))])

    def binary(self, symbol: str, a: Any, b: Any) -> Any:
        a, b = scalar(a), scalar(b)
        if is_number(a) and is_number(b):
            return of_numbers(_PYTHON[symbol], a, b)
        are_bools = kind_of(a) == kind_of(b) == "bool"
        if self.has_arrays and are_bools and symbol in ("+", "-", "*"):
            raise Mismatch(
                f"{symbol} of two bools, which is another thing for Python's than for NumPy's",
                "Write int(a), or and, or, not.",
            )
        if symbol in ("&", "|", "^") and are_bools:
            return make(_BITS[symbol], [self.cast(a, "bool"), self.cast(b, "bool")])
        if symbol == "**":
            return self.power(a, b)
        x, y, kind = self.promoted(a, b, "float" if symbol == "/" else "int")
        if symbol in _PLAIN:
            return make(_PLAIN[symbol], [x, y])
        if symbol in _ROWS:
            if kind == "float" and symbol in ("<<", ">>"):
                raise Mismatch(f"{symbol} of a float", "Bits are those of integers.")
            return _core.scalar.call(_ROWS[symbol], x, y)
        if kind == "float":
            raise Mismatch(f"{symbol} of a float", "Bits are those of integers and bools.")
        return make(_BITS[symbol], [x, y])

    def of_elements(self, symbol: str, a: Any, b: Any) -> Any:
        """NumPy's operator of elements of arrays, whose sums and products of bools are bools."""
        a, b = scalar(a), scalar(b)
        if kind_of(a) == kind_of(b) == "bool" and symbol in ("+", "-", "*"):
            if symbol == "-":
                raise Mismatch("- of arrays of bools", "Write ^, or np.logical_xor.")
            operands = [self.cast(a, "bool"), self.cast(b, "bool")]
            return make("bit_or" if symbol == "+" else "bit_and", operands)
        if is_number(a) and is_number(b):
            with np.errstate(all="ignore"):
                return of_numbers(lambda *both: _PYTHON[symbol](*map(np.asarray, both)).item(),
                                   a, b)  # fmt: skip
        return self.binary(symbol, a, b)

    def of_element(self, symbol: str, value: Any) -> Any:
        if kind_of(value) == "bool":
            if symbol == "~":
                return make("bit_not", [self.cast(value, "bool")])
            raise Mismatch(f"{symbol} of an array of bools", "Write ~, or np.where.")
        return self.unary(symbol, value)

    def power(self, a: Any, b: Any) -> Any:
        if isinstance(b, int) and not isinstance(a, Expr):
            return of_numbers(operator.pow, a, b)
        if isinstance(b, int) and kind_of(a) != "float" and b >= 0:
            return self._repeated(self.cast(a, "int"), b)
        if "float" not in (kind_of(a), kind_of(b)) and not is_number(b):
            raise Mismatch(
                "an integer to the power of an integer that is not a literal",
                "Whether the result is an integer must be known: write float(x) ** n.",
            )
        x, y = self.cast(a, "float"), self.cast(b, "float")
        if is_number(b) and b in (-1, 0, 1, 2, 3):
            if b == 0:
                return self.cast(1.0, "float")
            if b == -1:
                return make("divide", [self.cast(1.0, "float"), x])
            return x if b == 1 else _core.scalar.call("square" if b == 2 else "cube", x)
        if is_number(b) and b == 1.5:
            return _core.scalar.call("three_halves", x)
        return _core.scalar.call("power", x, y)

    def _repeated(self, x: Expr, exponent: int) -> Expr:
        """An integer's power, which wraps as products do."""
        result = None
        while exponent:
            if exponent & 1:
                result = x if result is None else make("multiply", [result, x])
            exponent >>= 1
            if exponent:
                x = make("multiply", [x, x])
        return self.cast(1, "int") if result is None else result

    def unary(self, symbol: str, value: Any) -> Any:
        value = scalar(value)
        if symbol == "not":
            truth = self.truth(value)
            return (not truth) if isinstance(truth, bool) else make("bit_not", [truth])
        if is_number(value):
            if symbol == "~":
                return of_numbers(operator.invert, value)
            return -value if symbol == "-" else +value
        if kind_of(value) == "bool":
            if self.has_arrays:
                raise Mismatch(
                    f"{symbol} of a bool, which is another thing for Python's than for NumPy's",
                    "Write not, or int(b).",
                )
            value = self.cast(value, "int")
        if symbol == "+":
            return value
        if symbol == "~" and kind_of(value) == "float":
            raise Mismatch("~ of a float", "Bits are those of integers.")
        return make("negate" if symbol == "-" else "bit_not", [value])

    def compare(self, symbol: str, a: Any, b: Any) -> Any:
        if is_number(a) and is_number(b):
            return _COMPARED[symbol][1](a, b)
        x, y, _ = self.promoted(a, b)
        return make(_COMPARED[symbol][0], [x, y])

    def both(self, a: Any, b: Any, symbol: str = "bit_and") -> Any:
        """a and b (or a or b), of bools."""
        if isinstance(a, bool) and isinstance(b, bool):
            return (a and b) if symbol == "bit_and" else (a or b)
        for known, other in ((a, b), (b, a)):
            if isinstance(known, bool):
                if symbol == "bit_and":
                    return other if known else False
                return True if known else other
        return make(symbol, [a, b])

    def select(self, condition: Any, a: Any, b: Any) -> Any:
        """a if condition else b."""
        if isinstance(condition, bool):
            return a if condition else b
        if isinstance(a, tuple) and isinstance(b, tuple) and len(a) == len(b):
            return tuple(self.select(condition, x, y) for x, y in zip(a, b))
        if is_number(a) and is_number(b) and type(a) is type(b) and repr(a) == repr(b):
            return a
        x, y, kind = self.promoted(a, b, "bool")
        kinds = {kind_of(a), kind_of(b)}
        if (
            kind == "float"
            and "int" in kinds
            and any(isinstance(v, Expr) and kind_of(v) == "int" for v in (a, b))
        ):
            raise Mismatch("one side of the choice is an int, the other a float",
                           "Write float(…) around the int.")  # fmt: skip
        return make("select", [condition, x, y])


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
_PYTHON: dict[str, Any] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv,
    "//": operator.floordiv, "%": operator.mod, "**": operator.pow, "<<": operator.lshift,
    ">>": operator.rshift, "&": operator.and_, "|": operator.or_, "^": operator.xor,
}  # fmt: skip
_PLAIN = {"+": "add", "-": "subtract", "*": "multiply", "/": "divide"}
_ROWS = {"//": "floor_divide", "%": "remainder", "<<": "left_shift", ">>": "right_shift"}
_BITS = {"&": "bit_and", "|": "bit_or", "^": "bit_xor"}
_COMPARED: dict[str, Any] = {
    "<": ("less", operator.lt), "<=": ("less_equal", operator.le),
    ">": ("greater", operator.gt), ">=": ("greater_equal", operator.ge),
    "==": ("equal", operator.eq), "!=": ("not_equal", operator.ne),
}  # fmt: skip
