"""Rows of the table of operators: added by decorators, found by torch's operators."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from composit._core import LazyTensor

Function = Callable[..., Any]


@dataclass(frozen=True)
class Row:
    """A function over LazyTensors, and what it is given beside the operator's arguments: shape and
    dtype of the result, or a random key."""

    function: Function
    wants_shape: bool = False
    wants_dtype: bool = False
    wants_key: bool = False
    meta: Function | None = (
        None  # over tensors on "meta", where torch's own refuses what it computes
    )


@dataclass(frozen=True)
class Written:
    """A result, and new values for operands, by their position."""

    result: Any
    writes: dict[int, LazyTensor]


_rows: dict[str, Row] = {}


def operator(
    *names: str,
    shape: bool = False,
    dtype: bool = False,
    key: bool = False,
    meta: Function | None = None,
) -> Callable[[Function], Function]:
    """Makes a function the row of operators: "add.Tensor" is aten's add, overload Tensor; a name
    alone is the overload "default"; operators of other libraries are "library::name"."""

    def add(function: Function) -> Function:
        for name in names:
            full = name if "." in name else f"{name}.default"
            assert full not in _rows, full
            _rows[full] = Row(function, shape, dtype, key, meta)
        return function

    return add


def find(func: Any) -> Row | None:
    """The row of one of torch's operators."""
    name = func._schema.name
    if func.namespace == "aten":
        name = name.partition("::")[2]
    return _rows.get(f"{name}.{func._overloadname or 'default'}")


def find_functional(func: Any) -> Row | None:
    """The row of random operators that write ("uniform_"), under the name without the dash: torch
    has no form of them that writes nothing."""
    name = func._schema.name.partition("::")[2]
    if func.namespace != "aten" or name not in (
        "uniform_",
        "normal_",
        "exponential_",
        "bernoulli_",
    ):
        return None
    return _rows.get(f"{name[:-1]}.{func._overloadname}")


def names() -> list[str]:
    """The operators that have rows."""
    return sorted(_rows)


def function_of(name: str) -> Function:
    """The function of the row of an operator: function_of("add.Tensor")."""
    return _rows[name if "." in name else f"{name}.default"].function
