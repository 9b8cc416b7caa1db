"""Functions that kernels call: Python's, those of math, of numpy and of composit.numpy, by the
names that C++ knows them by (composit/knossos/functions.h)."""

from __future__ import annotations

import builtins
import dataclasses
import functools
import math
from typing import Any

import numpy as np

from composit.knossos import library
from composit.knossos.values import Mismatch, is_number, of_elements, of_numbers, of_operator
from composit.numpy._ufunc import Ufunc


def stop_gradient(x: Any) -> Any:
    """x, with the derivative zero. In kernels; elsewhere it returns x."""
    return x


# What to write in place of functions that have no row.
INSTEAD = {
    math.gamma: "Write math.exp(math.lgamma(x)), for x > 0, where fewer digits will do.",
    math.isclose: "Write abs(a - b) <= 1e-09 * max(abs(a), abs(b)).",
    math.fsum: "Write sum(…), whose order of summation is that of the values.",
    math.modf: "Write math.trunc(x) and x - math.trunc(x).",
    math.isqrt: "Write int(math.sqrt(n)), for n < 2**52.",
    math.ldexp: "Write x * 2.0 ** n.",
    math.remainder: "Write x - y * round(x / y), where fewer digits will do.",
    complex: "Kernels have no complex numbers: write both parts as floats.",
    dict: "Write a NamedTuple, or a variable for each value.",
    set: "Write an array, and a loop.",
    functools.reduce: "Write a loop: total = first, then total = f(total, v) for each v.",
    map: "Write a comprehension: [f(v) for v in x].",
    filter: "Write a loop with an if.",
    iter: "Write a loop: for v in x.",
    print: "Kernels have no side effects: leave it out.",
}  # fmt: skip
_OF_PYTHON = ("min", "max", "sum", "len", "tuple", "divmod", "pow", "float", "int", "bool", "abs",
              "round", "any", "all")  # fmt: skip
_OF_MATH = (
    "exp", "exp2", "expm1", "log2", "log10", "log1p", "cbrt", "sin", "cos", "tan", "asin", "acos",
    "atan", "atan2", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "hypot", "erf", "erfc",
    "lgamma", "fmod", "degrees", "radians", "nextafter", "isnan", "isinf", "isfinite", "floor",
    "ceil", "trunc", "gcd", "log", "sqrt", "fabs", "copysign", "pow",
)  # fmt: skip
_OF_NUMPY = (
    "sum", "mean", "max", "min", "prod", "any", "all", "count_nonzero", "zeros", "ones", "empty",
    "full", "eye", "identity", "arange", "linspace", "array", "asarray", "zeros_like",
    "ones_like", "empty_like", "cumsum", "cumprod", "diff", "argmax", "argmin", "concatenate",
    "stack", "hstack", "vstack", "var", "std", "flip", "roll", "inner", "vdot", "diag",
    "diagonal", "tril", "triu", "copy", "transpose", "dot", "matmul", "outer", "clip", "where",
    "round", "around",
)  # fmt: skip
_NAMES: dict[Any, str] = {
    **{getattr(np, name): f"numpy.{name}" for name in reversed(_OF_NUMPY)},
    **{getattr(math, name): f"math.{name}" for name in _OF_MATH},
    **{getattr(builtins, name): name for name in _OF_PYTHON},
    np.linalg.norm: "numpy.linalg.norm", stop_gradient: "stop_gradient",
    # What translations know themselves (composit/knossos/calls.h, sequences.h).
    np: "numpy", range: "range", enumerate: "enumerate", zip: "zip", reversed: "reversed",
    dataclasses.replace: "dataclasses.replace", np.einsum: "numpy.einsum",
    library.require: "knossos.require", library.same_extents: "knossos.same_extents",
    library.held: "knossos.held", library.stand_in: "knossos.stand_in",
    # NumPy's names of the numbers that kernels compute with.
    np.float64: "float", np.int64: "int", np.bool_: "bool",
}  # fmt: skip
_functions = {name: function for function, name in _NAMES.items()
              if not isinstance(function, type) or function.__module__ == "builtins"}  # fmt: skip


def name_of(function: Any) -> str:
    """What C++ calls a function; "" for one that it does not know."""
    try:
        known = _NAMES.get(function)
    except TypeError:  # not hashable
        return ""
    if known is not None:
        return known
    if not isinstance(function, (np.ufunc, Ufunc)):
        return ""
    name = f"numpy.{function.__name__}"
    _functions[name] = function
    return name


def known(name: str, numbers: list[Any]) -> Any:
    """What an operator or a function makes of numbers that are known, as Python or NumPy does."""
    module, _, rest = name.rpartition(".")
    if not name[0].isalpha():
        return of_operator(name, numbers)
    if module == "numpy" and not rest[0].isalpha():
        return of_elements(rest, numbers)
    if module != "numpy":
        return of_numbers(_functions[name], *numbers)
    function = _functions.get(name) or getattr(np, rest)
    result = function(*numbers).item()
    if not is_number(result):
        raise Mismatch(f"{result!r} is no real number", "A real number is required.")
    return result
