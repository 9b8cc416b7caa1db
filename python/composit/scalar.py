"""The scalar language: expressions, every function of the table on them, and new rows."""

from __future__ import annotations

import inspect
import keyword
from collections.abc import Callable, Sequence
from typing import Any

import composit._core as _core
from composit import numpy as cnp
from composit._core import type_error, value_error
from composit._core.scalar import Expr, Row, all_rows, find_row
from composit._mismatch import wrong
from composit.numpy._ufunc import Ufunc

__all__ = ["Expr", "Row", "all_rows", "find_row", "loop", "register"]


def register(
    name: str,
    value: Callable[..., Any],
    slope: Callable[..., Any] | None = None,
    doc: str = "",
    *,
    types: str = "inexact",
    aliases: Sequence[str] = (),
    domain: Sequence[tuple[float, float]] = (),
    is_piecewise_constant: bool = False,
) -> Any:
    """A new elementwise function: composit.numpy.<name>, differentiable, on every back end.

    value(x, …) is its definition on scalar expressions: operators, numbers and composit.scalar's
    functions, or NumPy's of the same names. slope(x, …, y) returns the derivative for each argument
    (one expression, or a tuple; None for zero); without it, it is derived from the value. Both are
    called once now, so that their mistakes show here.

    ValueError for a name that is taken or no identifier; TypeError for a definition that is not an
    expression of its arguments' type.

        softsign = composit.register("softsign", value=lambda x: x / (1 + abs(x)),
                                     doc="x / (1 + |x|)")
    """
    if not isinstance(aliases, (tuple, list)):
        raise TypeError(wrong(aliases, "A sequence of names"))
    for each in (name, *aliases):
        if not isinstance(each, str):
            raise TypeError(wrong(each, "A text"))
        if not each.isidentifier() or keyword.iskeyword(each):
            raise value_error(
                f"register: {each!r} cannot name a function. An identifier is required."
            )
        existing = getattr(cnp, each, None)
        is_own = isinstance(existing, Ufunc) and _core.scalar.is_user_row(existing.row)
        if existing is not None and not is_own:
            raise value_error(
                f"register: {each!r} is a name of composit.numpy. Another one is required."
            )
    arity = _arity(value)
    row = _core.scalar.register_row(
        name, arity, value, slope, doc, types, list(aliases), list(domain), is_piecewise_constant
    )
    ufunc = Ufunc(row)
    for each in (name, *aliases):
        setattr(cnp, each, ufunc)
    return ufunc


def loop(
    initial: Sequence[Any],
    condition: Callable[..., Expr],
    step: Callable[..., Sequence[Any]],
    limit: int,
) -> tuple[Expr, ...]:
    """The state that is left when step has replaced it while condition holds, limit times at most.

    initial holds expressions and numbers (integers are int64, floats have the dtype of the first
    floating expression). condition(a, b, …) and step(a, b, …) are called once, with expressions for
    the values of the state; step returns a new value for each, of its dtype. They read nothing but
    the state: what they need of outside must be part of it.

    TypeError for a condition that is not bool, steps of other dtypes or number, and for what is
    read from outside; ValueError for an empty state or a negative limit.

        steps = scalar.loop(
            [x, 0], lambda x, n: x > 1, lambda x, n: (scalar.log(x), n + 1), limit=10
        )[1]
    """
    return tuple(_core.scalar.loop(list(initial), condition, step, limit))


def _arity(value: Any) -> int:
    kind = inspect.Parameter
    try:
        parameters = list(inspect.signature(value).parameters.values())
    except (TypeError, ValueError):  # no function, or one of C that does not tell
        parameters = []
    if not parameters or any(
        parameter.kind not in (kind.POSITIONAL_ONLY, kind.POSITIONAL_OR_KEYWORD)
        for parameter in parameters
    ):
        raise type_error(
            f"register: value is {value!r}. A function of one or more positional arguments is "
            "required."
        )
    return len(parameters)


def __getattr__(name: str) -> Any:
    """Every row of the table as a function of expressions and numbers."""
    if not name.startswith("_") and find_row(name) is not None:

        def function(*operands: Any) -> Expr:
            return _core.scalar.call(name, *operands)

        function.__name__ = name
        return function
    raise AttributeError(f"module 'composit.scalar' has no attribute {name!r}")
