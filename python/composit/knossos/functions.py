"""Functions that kernels call: Python's, those of math, of numpy and of composit.numpy, as rows of
the table."""

from __future__ import annotations

import builtins
import math
from typing import Any

import numpy as np

import composit._core as _core
from composit._core.scalar import Expr
from composit.knossos.values import (
    Mismatch,
    Operators,
    is_number,
    kind_of,
    make,
    of_numbers,
    scalar,
    with_article,
)
from composit.numpy._ufunc import Ufunc

# math's functions of floats, and the rows that compute them.
_FLOATS = {
    math.exp: "exp", math.exp2: "exp2", math.expm1: "expm1", math.log2: "log2",
    math.log10: "log10", math.log1p: "log1p", math.cbrt: "cbrt", math.sin: "sin",
    math.cos: "cos", math.tan: "tan", math.asin: "arcsin", math.acos: "arccos",
    math.atan: "arctan", math.atan2: "arctan2", math.sinh: "sinh", math.cosh: "cosh",
    math.tanh: "tanh", math.asinh: "arcsinh", math.acosh: "arccosh", math.atanh: "arctanh",
    math.hypot: "hypot", math.erf: "erf", math.erfc: "erfc", math.lgamma: "lgamma",
    math.fmod: "fmod", math.degrees: "degrees", math.radians: "radians",
    math.nextafter: "nextafter",
}  # fmt: skip
_TESTS = {math.isnan: "isnan", math.isinf: "isinf", math.isfinite: "isfinite"}
# What to write in place of functions that have no row.
INSTEAD = {
    math.gamma: "Write math.exp(math.lgamma(x)), for x > 0, where fewer digits will do.",
    math.isclose: "Write abs(a - b) <= 1e-09 * max(abs(a), abs(b)).",
    math.fsum: "Write sum(…), whose order of summation is that of the values.",
    math.modf: "Write math.trunc(x) and x - math.trunc(x).",
    print: "Kernels have no side effects: leave it out.",
}  # fmt: skip
# NumPy's names of the numbers that kernels compute with.
_NAMED = {np.float64: float, np.int64: int, np.bool_: bool}
_ROUNDINGS = {math.floor: "floor", math.ceil: "ceil", math.trunc: "trunc"}


def stop_gradient(x: Any) -> Any:
    """x, with the derivative zero. In kernels; elsewhere it returns x."""
    return x


def call(operators: Operators, function: Any, arguments: list[Any]) -> Any:
    """The function of values; LookupError for one that kernels cannot call."""
    if isinstance(function, type):
        function = _NAMED.get(function, function)
    if function in (min, max):
        return _extremum(operators, function, arguments)
    if function is sum:
        total: Any = arguments[1] if len(arguments) == 2 else 0
        for value in _parts(arguments[: len(arguments) - (len(arguments) == 2)]):
            total = operators.binary("+", total, value)
        return total
    if function is len:
        if len(arguments) == 1 and isinstance(arguments[0], tuple):
            return len(arguments[0])
        raise Mismatch("len of what is no tuple", "Write the number.")
    if function is tuple and len(arguments) == 1 and isinstance(arguments[0], tuple):
        return arguments[0]
    if function is divmod:
        count(function, arguments, 2)
        return (operators.binary("//", *arguments), operators.binary("%", *arguments))
    arguments = [scalar(argument) for argument in arguments]
    if function in (np.sum, np.mean, np.max, np.min, np.prod) and len(arguments) == 1:
        return _reduced(operators, function, arguments[0])
    if function is stop_gradient:
        return _stopped(operators, arguments)
    if function is np.clip:
        count(function, arguments, 3)
        return clipped(operators, arguments)
    if function in (pow, math.pow):
        count(function, arguments, 2)
        if function is math.pow:
            arguments = [_as_float(operators, argument) for argument in arguments]
        return operators.power(*arguments)
    try:
        is_known = function in _CONVERSIONS or function in _MATH
    except TypeError:  # not hashable
        raise LookupError from None
    if is_known and arguments and all(is_number(argument) for argument in arguments):
        return of_numbers(function, *arguments)
    if function in _CONVERSIONS:
        return _converted(operators, function, arguments)
    if function in _MATH:
        return _of_math(operators, function, arguments)
    if is_elementwise(function):
        return _of_numpy(operators, function, arguments)
    raise LookupError


def is_elementwise(function: Any) -> bool:
    """Of numbers, or of arrays element by element: a ufunc of numpy or of composit.numpy."""
    return isinstance(function, (np.ufunc, Ufunc)) or function in (np.where, np.round, np.around)


def clipped(operators: Operators, arguments: list[Any]) -> Any:
    """(number, least, most) as numpy.clip does it, which asks for the most last."""
    number, low, high = arguments
    return call(operators, np.minimum, [call(operators, np.maximum, [number, low]), high])


def _as_float(operators: Operators, value: Any) -> Any:
    return float(value) if is_number(value) else operators.cast(value, "float")


def count(function: Any, arguments: list[Any], *counts: int) -> None:
    """Refuses other numbers of arguments."""
    if len(arguments) not in counts:
        wanted = " or ".join(map(str, counts))
        given = f"{len(arguments)} argument{'s' * (len(arguments) != 1)}"
        verb = "is" if counts == (1,) else "are"
        raise Mismatch(f"{function.__name__} of {given}", f"{wanted} {verb} required.")


def _parts(arguments: list[Any]) -> tuple[Any, ...]:
    if len(arguments) != 1 or not isinstance(arguments[0], tuple):
        raise Mismatch("sum of what is no tuple", "Write sum(… for i in range(3)), or a loop.")
    return arguments[0]


def _extremum(operators: Operators, function: Any, arguments: list[Any]) -> Any:
    """The first of those that no other is less (greater) than, as Python chooses."""
    if len(arguments) == 1 and not isinstance(arguments[0], tuple):
        raise Mismatch(
            f"{function.__name__} of {with_article(kind_of(arguments[0]))} alone",
            "Several values, or a tuple or array of them, are required.",
        )
    if len(arguments) == 1:
        arguments = list(arguments[0])
    if not arguments:
        raise Mismatch(f"{function.__name__} of nothing", "A number is required.")
    best = scalar(arguments[0])
    for value in arguments[1:]:
        value = scalar(value)
        if is_number(best) and is_number(value):
            best = function(best, value)
            continue
        better = operators.compare("<" if function is min else ">", value, best)
        kind = "float" if "float" in (kind_of(best), kind_of(value)) else "int"
        if kind_of(best) == kind_of(value) == "bool":
            kind = "bool"
        choices = [operators.cast(value, kind), operators.cast(best, kind)]
        best = operators.select(better, *choices)
    return best


def _converted(operators: Operators, function: Any, arguments: list[Any]) -> Any:
    count(function, arguments, 1)
    value = arguments[0]
    if function is float:
        return operators.cast(value, "float")
    if function is bool:
        return operators.truth(value)
    if function is abs:
        if kind_of(value) == "bool":
            value = operators.cast(value, "int")
        return make("absolute", [value])
    if kind_of(value) != "float":
        return operators.cast(value, "int")
    rounded = make("rint", [value]) if function is round else value
    return _integer(operators, rounded)


def _integer(operators: Operators, value: Expr) -> Expr:
    """A float as int64; those that do not fit (CPython's are of any size) are the least int64."""
    limit, least = (operators.cast(each, "float") for each in (2.0**63, -(2.0**63)))
    fits = make("bit_and", [make("greater_equal", [value, least]), make("less", [value, limit])])
    return Expr.cast(make("select", [fits, value, least]), operators.dtype_of("int"))


def _of_math(operators: Operators, function: Any, arguments: list[Any]) -> Any:
    if function in _ROUNDINGS:
        count(function, arguments, 1)
        if kind_of(arguments[0]) != "float":
            return operators.cast(arguments[0], "int")
        return _integer(operators, make(_ROUNDINGS[function], [arguments[0]]))
    if function is math.gcd:
        made = arguments[0]
        for each in arguments[1:] or [made]:
            x, y, kind = operators.promoted(made, each)
            if kind == "float":
                raise Mismatch("gcd of a float", "Integers are required.")
            made = _core.scalar.call("gcd", x, y)
        return made
    values = [operators.cast(argument, "float") for argument in arguments]
    if function is math.log:
        count(function, arguments, 1, 2)
        logs = [_core.scalar.call("log", value) for value in values]
        return logs[0] if len(logs) == 1 else make("divide", logs)
    if function is math.sqrt:
        count(function, arguments, 1)
        return make("square_root", values)
    if function is math.fabs:
        count(function, arguments, 1)
        return make("absolute", values)
    if function is math.copysign:
        count(function, arguments, 2)
        return make("copysign", values)
    name = _TESTS.get(function) or _FLOATS[function]
    count(function, arguments, _core.scalar.find_row(name).arity)
    return _core.scalar.call(name, *values)


def _of_numpy(operators: Operators, function: Any, arguments: list[Any]) -> Any:
    if function in (np.round, np.around):
        count(function, arguments, 1)
        if kind_of(arguments[0]) != "float":
            return arguments[0]
        function = np.rint
    row = _core.scalar.find_row(function.__name__)
    if row is None:
        raise LookupError
    count(function, arguments, row.arity)
    if not any(isinstance(argument, Expr) for argument in arguments):
        result = function(*arguments).item()
        if not is_number(result):
            raise Mismatch(f"{result!r} is no real number", "A real number is required.")
        return result
    if function is np.where:
        both = arguments[1:]
        if {kind_of(each) for each in both} == {"int", "float"}:
            both = [_as_float(operators, each) for each in both]
        return operators.select(operators.truth(arguments[0]), *both)
    kinds = [kind_of(argument) for argument in arguments]
    kind = "float" if "float" in kinds else "int" if "int" in kinds else "bool"
    values = [operators.cast(argument, kind) for argument in arguments]
    result = _core.scalar.call(function.__name__, *values)
    return operators.cast(result, kind_of(result))  # exp of an int is float64


def _reduced(operators: Operators, function: Any, number: Any) -> Any:
    """A reduction of one number."""
    if function is np.mean:
        return _as_float(operators, number)
    if kind_of(number) == "bool" and function in (np.sum, np.prod):
        return int(number) if is_number(number) else operators.cast(number, "int")
    return number


def _stopped(operators: Operators, arguments: list[Any]) -> Any:
    count(stop_gradient, arguments, 1)
    value = arguments[0]
    if is_number(value) or kind_of(value) != "float":
        return value
    return _core.procedure.constant_of(value)


_CONVERSIONS = (builtins.float, builtins.int, builtins.bool, builtins.abs, builtins.round)
_MATH = {
    *_FLOATS, *_TESTS, *_ROUNDINGS, math.gcd, math.log, math.sqrt, math.fabs, math.copysign,
}  # fmt: skip
