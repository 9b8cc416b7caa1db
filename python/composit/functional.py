"""grad, value_and_grad, vjp, jvp, vmap: functions of functions, with JAX's signatures."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from composit import _core
from composit._core import with_location
from composit.evaluation import as_tensor, check_function
from composit.structure import Rebuild, flatten


class _Traced:
    """A Python function of structures as one of lists of tensors, which the core calls."""

    def __init__(
        self, function: Callable[..., Any], rebuild: Rebuild, options: dict[str, Any]
    ) -> None:
        self.function, self.rebuild, self.options = function, rebuild, options
        self.rebuild_result: Rebuild = lambda items: items
        self.result_count = 0

    def __call__(self, tensors: list[Any]) -> list[Any]:
        result = self.function(*self.rebuild(tensors), **self.options)
        leaves, self.rebuild_result = flatten(result)
        self.result_count = len(leaves)
        return [as_tensor(leaf) for leaf in leaves]


def _arguments(args: tuple[Any, ...]) -> tuple[list[Any], Rebuild]:
    leaves, rebuild = flatten(args)
    return [as_tensor(leaf) for leaf in leaves], rebuild


def value_and_grad(
    fun: Callable[..., Any], argnums: int | tuple[int, ...] = 0, has_aux: bool = False
) -> Callable[..., Any]:
    """A function that returns fun's value and its gradient with respect to arguments argnums."""
    check_function("grad", fun)
    numbers = (argnums,) if isinstance(argnums, int) else tuple(argnums)

    @functools.wraps(fun)
    def both(*args: Any, **options: Any) -> Any:
        tensors, rebuild = _arguments(args)
        for number in numbers:
            if not -len(args) <= number < len(args):
                raise ValueError(
                    with_location(
                        f"grad: argnums {argnums} for {len(args)} arguments. They must be in range."
                    )
                )
        chosen = [number % len(args) for number in numbers]
        starts = [0]
        for arg in args:
            starts.append(starts[-1] + len(flatten(arg)[0]))
        counts = [starts[number + 1] - starts[number] for number in chosen]
        places = [p for number in chosen for p in range(starts[number], starts[number + 1])]
        traced = _Traced(fun, rebuild, options)
        values, gradients = _core.value_and_gradients(traced, tensors, places)
        rest = iter(gradients)
        results = tuple(
            flatten(args[number])[1]([next(rest) for _ in range(count)])
            for number, count in zip(chosen, counts)
        )
        value = traced.rebuild_result(values)
        return value, results[0] if isinstance(argnums, int) else results

    return both


def grad(
    fun: Callable[..., Any], argnums: int | tuple[int, ...] = 0, has_aux: bool = False
) -> Callable[..., Any]:
    """A function that returns fun's gradient; with has_aux, also what fun returned second."""
    both = value_and_grad(fun, argnums, has_aux)

    @functools.wraps(fun)
    def gradient(*args: Any, **options: Any) -> Any:
        value, result = both(*args, **options)
        return (result, value[1]) if has_aux else result

    return gradient


def vjp(fun: Callable[..., Any], *primals: Any) -> tuple[Any, Callable[..., Any]]:
    """fun's value, and the function from its cotangent to a tuple of gradients."""
    check_function("vjp", fun)
    tensors, rebuild = _arguments(primals)
    traced = _Traced(fun, rebuild, {})
    values, pullback = _core.vjp_function(traced, tensors)

    def gradients(cotangents: Any) -> Any:
        leaves = [as_tensor(leaf) for leaf in flatten(cotangents)[0]]
        return rebuild(pullback(leaves))

    return traced.rebuild_result(values), gradients


def jvp(fun: Callable[..., Any], primals: Any, tangents: Any) -> tuple[Any, Any]:
    """fun's value and its tangent for tangents of the arguments."""
    check_function("jvp", fun)
    tensors, rebuild = _arguments(tuple(primals))
    directions, _ = _arguments(tuple(tangents))
    traced = _Traced(fun, rebuild, {})
    values, made = _core.jvp_function(traced, tensors, directions)
    return traced.rebuild_result(values), traced.rebuild_result(made)


def vmap(fun: Callable[..., Any], in_axes: Any = 0, out_axes: int = 0) -> Callable[..., Any]:
    """fun over an axis of its arguments (None: the same for all); results get that axis."""
    check_function("vmap", fun)

    @functools.wraps(fun)
    def batched(*args: Any, **options: Any) -> Any:
        tensors, rebuild = _arguments(args)
        per_argument = (
            list(in_axes) if isinstance(in_axes, (tuple, list)) else [in_axes] * len(args)
        )
        if len(per_argument) != len(args):
            raise ValueError(
                with_location(
                    f"vmap: in_axes has {len(per_argument)} entries for {len(args)} arguments. "
                    "One for each is required."
                )
            )
        axes: list[Any] = []
        for axis, arg in zip(per_argument, args):
            axes += [axis] * len(flatten(arg)[0])
        traced = _Traced(fun, rebuild, options)
        values = _core.vmap_function(traced, tensors, axes, out_axes)
        return traced.rebuild_result(values)

    return batched
