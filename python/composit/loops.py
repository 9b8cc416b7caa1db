"""fori_loop: a loop over tensors as one node, compiled as a loop."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from composit import _core
from composit._core import LazyTensor, NotSupported, with_location
from composit.evaluation import as_tensor, check_function
from composit.structure import flatten, outline


def _bound(name: str, value: Any) -> int:
    try:
        return operator.index(value)
    except (NotSupported, ValueError):  # it depends on placeholders
        raise NotSupported(
            with_location(
                f"fori_loop: {name} is a tensor that has no value yet. The number of iterations is "
                "part of the program: an integer is required."
            )
        ) from None
    except TypeError:
        what = (
            f"a tensor of shape {tuple(value.shape)} and dtype {value.dtype}"
            if isinstance(value, LazyTensor)
            else repr(value)
        )
        raise TypeError(
            with_location(f"fori_loop: {name} is {what}. An integer is required.")
        ) from None


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
        if outline(result) != structure:
            raise TypeError(
                with_location(
                    f"fori_loop: body_fun takes a state of the structure {structure} and returns "
                    f"{outline(result)}. They must be equal."
                )
            )
        return [as_tensor(leaf) for leaf in flatten(result)[0]]

    name = getattr(body_fun, "__name__", "body")
    name = "loop" if name == "<lambda>" else name
    return rebuild(_core.fori_loop(begin, end, body, leaves, name))
