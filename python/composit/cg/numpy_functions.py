"""Which functions of composit.numpy are operators: those that return arrays and change none."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

from composit import numpy as cnp

SPACES = ("linalg", "fft")
# Modules of composit.numpy about dtypes and texts, and of functions that write into arrays.
_OF_OTHERS = ("kinds", "formatting", "writing", "memory")
_NO_ARRAYS = ("create_input", "ndarray", "result_type")
_OTHER_RESULTS = ("None", "bool", "int", "str", "tuple[int, ...]", "dict")


@functools.cache
def find(name: str) -> Callable[..., Any] | None:
    """composit.numpy's function of this name ("sort", "linalg.inv"); None where it has none, or
    one that returns no arrays (shape, allclose) or writes into its arguments (put)."""
    space, _, last = name.rpartition(".")
    if last.startswith("_") or (space and space not in SPACES):
        return None
    module = getattr(cnp, space) if space else cnp
    function = vars(module).get(last)
    if not callable(function) or isinstance(function, type):
        return None
    parts = (getattr(function, "__module__", None) or "").split(".")
    is_public = parts[:2] == ["composit", "numpy"] and not parts[-1].startswith("_")
    if not is_public or parts[-1] in _OF_OTHERS or last in _NO_ARRAYS:
        return None
    if space and parts[-1] != space:
        return None
    result = str(inspect.signature(function).return_annotation)
    return None if result.startswith(_OTHER_RESULTS) else function


def named(name: str) -> Callable[..., Any]:
    """The function of a name that is one of names()."""
    function = find(name)
    assert function is not None
    return function


def operands(function: Callable[..., Any]) -> tuple[str, ...] | None:
    """The names of the arguments that it needs; None where it takes any number of them."""
    parameters = inspect.signature(function).parameters.values()
    if any(one.kind is inspect.Parameter.VAR_POSITIONAL for one in parameters):
        return None
    empty, named = inspect.Parameter.empty, inspect.Parameter.VAR_KEYWORD
    return tuple(one.name for one in parameters if one.default is empty and one.kind is not named)


def names() -> list[str]:
    """Those of all, as "linalg.inv"."""
    spaces = {"": cnp} | {f"{space}.": getattr(cnp, space) for space in SPACES}
    return [
        prefix + name
        for prefix, module in spaces.items()
        for name in vars(module)
        if find(prefix + name) is not None
    ]
