"""fori_loop and scan: a loop over tensors as one node, compiled as a loop."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import composit._core as _core
from composit._core import LazyTensor, NotSupported, not_supported, type_error
from composit.evaluation import as_tensor, check_function
from composit.structure import flatten, outline


def _bound(name: str, value: Any, function: str = "fori_loop") -> int:
    try:
        return operator.index(value)
    except (NotSupported, ValueError):  # it depends on placeholders
        raise not_supported(
            f"{function}: {name} is a tensor that has no value yet. The number of iterations "
            "is part of the program: an integer is required."
        ) from None
    except TypeError:
        what = (
            f"a tensor of shape {tuple(value.shape)} and dtype {value.dtype}"
            if isinstance(value, LazyTensor)
            else repr(value)
        )
        raise type_error(f"{function}: {name} is {what}. An integer is required.") from None


def fori_loop(lower: int, upper: int, body_fun: Callable[[Any, Any], Any], init_val: Any) -> Any:
    """The state after body_fun(i, state) was applied for i = lower, …, upper - 1, one after the
    other, from init_val on: one node, which is compiled as a loop. JAX's signature.

    The state is a tensor, or nested tuples, lists and dictionaries of tensors. body_fun is called
    with placeholders, once (twice where init_val holds Python scalars); it returns a state of the
    same structure, shapes and dtypes. Python scalars in init_val take the dtypes that it gives
    them. Tensors that it captures are the same in all iterations; what depends on neither i nor
    the state is computed once, before the loop. lower and upper are integers: the number of
    iterations is part of the program.

    TypeError when the state changes its structure, shapes or dtypes."""
    check_function("fori_loop", body_fun)
    begin, end = _bound("lower", lower), _bound("upper", upper)
    leaves, rebuild = flatten(init_val)
    structure = outline(init_val)

    def body(i: Any, state: list[Any]) -> list[Any]:
        result = body_fun(i, rebuild(state))
        _check_structure("fori_loop: body_fun takes a state", structure, result)
        return [as_tensor(leaf) for leaf in flatten(result)[0]]

    return rebuild(_core.fori_loop(begin, end, body, leaves, _name_of(body_fun, "loop")))


def scan(
    f: Callable[[Any, Any], Any],
    init: Any,
    xs: Any = None,
    length: int | None = None,
    reverse: bool = False,
) -> tuple[Any, Any]:
    """The last carry, and the stacked results, of (carry, y) = f(carry, x) for the rows x of xs,
    one after the other (reverse: from the last one on), from the carry init on: one node, which is
    compiled as a loop. JAX's signature.

    init, xs and the y that f returns are tensors, or nested tuples, lists and dictionaries of
    tensors, or None. Each tensor of xs has the leading axis that the scan goes along; f gets one
    row of each. Row i of the stacked results belongs to row i of xs, in either direction. length is
    an integer, required where xs holds no tensors.

    f is called with placeholders, once (twice where init holds Python scalars, which take the
    dtypes that it gives them); it returns a carry of the same structure, shapes and dtypes. What it
    captures is the same in all steps, and computed once. Rows are read and written where they lie.
    Gradients keep the carries that they read, of all steps.

    ValueError when lengths differ or none is given, TypeError when the carry changes its
    structure, shapes or dtypes."""
    check_function("scan", f)
    count = None if length is None else _bound("length", length, "scan")
    leaves, rebuild = flatten(init)
    rows, rebuild_row = flatten(xs)
    structure = outline(init)
    rebuild_y: list[Callable[[Any], Any]] = []

    def body(carry: list[Any], row: list[Any]) -> tuple[list[Any], list[Any]]:
        made = f(rebuild(carry), rebuild_row(row))
        if not isinstance(made, (tuple, list)) or len(made) != 2:
            raise type_error(f"scan: f returned {outline(made)}. A pair (carry, y) is required.")
        _check_structure("scan: f takes a carry", structure, made[0])
        given, build = flatten(made[1])
        rebuild_y[:] = [build]
        return [as_tensor(leaf) for leaf in flatten(made[0])[0]], [as_tensor(y) for y in given]

    carry, ys = _core.scan(body, leaves, rows, count, bool(reverse), _name_of(f, "scan"))
    return rebuild(carry), rebuild_y[0](ys)


def _check_structure(what: str, structure: Any, result: Any) -> None:
    if outline(result) != structure:
        raise type_error(
            f"{what} of the structure {structure} and returns {outline(result)}. They must be "
            "equal."
        )


def _name_of(function: Callable[..., Any], otherwise: str) -> str:
    name = getattr(function, "__name__", "body")
    return otherwise if name == "<lambda>" else name
