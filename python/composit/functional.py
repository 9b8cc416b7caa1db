"""grad, value_and_grad, vjp, jvp, vmap: functions of functions, with JAX's signatures."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable
from typing import Any

import composit._core as _core
from composit._core import (
    LazyTensor,
    not_supported,
    type_error,
    value_error,
)
from composit.evaluation import as_tensor, check_function
from composit.numpy.manipulation import broadcast_to, moveaxis
from composit.structure import Rebuild, flatten, outline, spread


class _Traced:
    """A Python function of structures as one of lists of tensors, which the core calls."""

    def __init__(
        self,
        name: str,
        function: Callable[..., Any],
        rebuild: Rebuild,
        options: dict[str, Any],
        has_aux: bool = False,
    ) -> None:
        self.name, self.function, self.rebuild, self.options = name, function, rebuild, options
        self.has_aux = has_aux
        self.rebuild_result: Rebuild = lambda items: items
        self.outline = ""
        self.result: Any = None
        self.auxiliary: Any = None
        self.placeholders: list[LazyTensor] = []

    def __call__(self, tensors: list[Any]) -> list[Any]:
        self.placeholders = tensors
        result = self.function(*self.rebuild(tensors), **self.options)
        if self.has_aux:
            result, self.auxiliary = self._parted(result)
        self.check(result)
        leaves, self.rebuild_result = flatten(result)
        self.outline, self.result = outline(result), result
        return [as_tensor(leaf) for leaf in leaves]

    def check(self, result: Any) -> None:
        """TypeError unless the function returned what it may."""
        if result is None:
            function = getattr(self.function, "__name__", "the function")
            raise type_error(
                f"{self.name}: {function} returned None. A tensor, or a tuple, list or "
                "dictionary of them, is required."
            )

    def _parted(self, result: Any) -> tuple[Any, Any]:
        if isinstance(result, (tuple, list)) and len(result) == 2:
            return result[0], result[1]
        raise type_error(
            f"{self.name}: with has_aux=True the function returned {_described(result)}. "
            "A pair, (result, auxiliary data), is required."
        )

    def aux(self, tensors: list[LazyTensor]) -> Any:
        """What the function returned beside its result, for these arguments; None without it."""
        if not self.has_aux:
            return None
        leaves, rebuild = flatten(self.auxiliary)
        given = [_core.numpy.strong(tensor) for tensor in tensors]
        traced = [leaf for leaf in leaves if isinstance(leaf, LazyTensor)]
        made = iter(_core.substitute(traced, self.placeholders, given))
        return rebuild([next(made) if isinstance(leaf, LazyTensor) else leaf for leaf in leaves])


class _TracedScalar(_Traced):
    """One that returns a single value, to be differentiated."""

    def check(self, result: Any) -> None:
        if result is None or isinstance(result, (tuple, list, dict)):
            raise type_error(
                "Gradient only defined for scalar-output functions. Output was "
                f"{_described(result)}. A function of (value, auxiliary data) needs "
                "has_aux=True."
            )


def _described(result: Any) -> str:
    if isinstance(result, (tuple, list, dict)):
        return f"a {type(result).__name__} of {len(result)}"
    if isinstance(result, LazyTensor):
        return f"a tensor of shape {tuple(result.shape)}"
    return repr(result)


def _arguments(args: tuple[Any, ...]) -> tuple[list[Any], Rebuild]:
    leaves, rebuild = flatten(args)
    return [as_tensor(leaf) for leaf in leaves], rebuild


def _numbers(name: str, argnums: Any) -> tuple[int, ...]:
    try:
        several = argnums if isinstance(argnums, (tuple, list)) else (argnums,)
        return tuple(operator.index(number) for number in several)
    except TypeError:
        raise type_error(
            f"{name}: argnums is {argnums!r}. An integer or a tuple of integers is required."
        ) from None


def _value_and_grad(
    name: str, fun: Callable[..., Any], argnums: int | tuple[int, ...], has_aux: bool
) -> Callable[..., tuple[Any, Any, Any]]:
    """A function that returns fun's value, its gradient and, with has_aux, its auxiliary data."""
    check_function(name, fun)
    numbers = _numbers(name, argnums)

    def all_three(*args: Any, **options: Any) -> tuple[Any, Any, Any]:
        tensors, rebuild = _arguments(args)
        # The leaves' numbers, where the leaves are.
        numbered = rebuild(list(range(len(tensors))))
        places, rebuild_chosen = flatten(_chosen(name, argnums, numbers, numbered))
        traced = _TracedScalar(name, fun, rebuild, options, has_aux)
        values, gradients = _core.value_and_gradients(traced, tensors, places)
        results = rebuild_chosen(gradients)
        gradient = results if isinstance(argnums, (tuple, list)) else results[0]
        return traced.rebuild_result(values), gradient, traced.aux(tensors)

    return all_three


def _chosen(
    name: str, argnums: Any, numbers: tuple[int, ...], args: tuple[Any, ...]
) -> tuple[Any, ...]:
    """The arguments of these numbers."""
    try:
        return tuple(args[number] for number in numbers)
    except IndexError:
        raise value_error(
            f"{name}: argnums {argnums} for {len(args)} arguments. They must be in range."
        ) from None


def value_and_grad(
    fun: Callable[..., Any], argnums: int | tuple[int, ...] = 0, has_aux: bool = False
) -> Callable[..., Any]:
    """A function that returns fun's value and its gradient with respect to arguments argnums; with
    has_aux fun returns (value, auxiliary data), and this ((value, auxiliary data), gradient).

    TypeError, JAX's words, unless fun's value is one 0-d tensor of a floating dtype."""
    all_three = _value_and_grad("value_and_grad", fun, argnums, has_aux)

    @functools.wraps(fun)
    def both(*args: Any, **options: Any) -> Any:
        value, gradient, aux = all_three(*args, **options)
        return ((value, aux), gradient) if has_aux else (value, gradient)

    return both


def grad(
    fun: Callable[..., Any], argnums: int | tuple[int, ...] = 0, has_aux: bool = False
) -> Callable[..., Any]:
    """A function that returns fun's gradient as value_and_grad does; with has_aux, (gradient,
    auxiliary data)."""
    all_three = _value_and_grad("grad", fun, argnums, has_aux)

    @functools.wraps(fun)
    def gradient(*args: Any, **options: Any) -> Any:
        _, result, aux = all_three(*args, **options)
        return (result, aux) if has_aux else result

    return gradient


def _check_structures(what: str, structure: str, other: str, others: str) -> None:
    if structure != others:
        raise type_error(f"{what} the structure {structure}, {other} {others}. They must be equal.")


def _listed(what: str, given: Any) -> tuple[Any, ...]:
    """The arguments of jvp as a tuple."""
    if not isinstance(given, (tuple, list)):
        raise type_error(
            f"jvp: {what} is {_described(given)}. A tuple or list, with one entry for each "
            "argument, is required."
        )
    return tuple(given)


def vjp(fun: Callable[..., Any], *primals: Any, has_aux: bool = False) -> tuple[Any, ...]:
    """fun's value, and the function from its cotangent, of the value's structure, to a tuple of
    gradients; with has_aux fun returns (value, auxiliary data), and the latter comes third."""
    check_function("vjp", fun)
    tensors, rebuild = _arguments(primals)
    traced = _Traced("vjp", fun, rebuild, {}, has_aux)
    values, pullback = _core.vjp_function(traced, tensors)

    def gradients(cotangents: Any) -> Any:
        given = outline(cotangents)
        _check_structures("vjp: the cotangent has", given, "the function's value", traced.outline)
        leaves = [as_tensor(leaf) for leaf in flatten(cotangents)[0]]
        return rebuild(pullback(leaves))

    both = traced.rebuild_result(values), gradients
    return (*both, traced.aux(tensors)) if has_aux else both


def jvp(
    fun: Callable[..., Any], primals: Any, tangents: Any, has_aux: bool = False
) -> tuple[Any, ...]:
    """fun's value and its tangent for tangents of the arguments, both tuples or lists; with has_aux
    fun returns (value, auxiliary data), and the latter comes third."""
    check_function("jvp", fun)
    given, directions_given = _listed("primals", primals), _listed("tangents", tangents)
    _check_structures("jvp: primals have", outline(given), "tangents", outline(directions_given))
    tensors, rebuild = _arguments(given)
    directions, _ = _arguments(directions_given)
    traced = _Traced("jvp", fun, rebuild, {}, has_aux)
    values, made = _core.jvp_function(traced, tensors, directions)
    both = traced.rebuild_result(values), traced.rebuild_result(made)
    return (*both, traced.aux(tensors)) if has_aux else both


def vmap(
    fun: Callable[..., Any],
    in_axes: Any = 0,
    out_axes: Any = 0,
    axis_name: Any = None,
    axis_size: int | None = None,
) -> Callable[..., Any]:
    """fun over an axis of its arguments (None: the same for all); results get the axis out_axes.

    in_axes and out_axes are integers, None, or nested tuples, lists and dictionaries of them that
    begin as the arguments' and the results' structures do; an entry holds for all below it.
    Arguments passed by name are mapped over axis 0. axis_size is the axis's length, which must be
    given where no argument is mapped. axis_name is refused: there are no collective operations.

    ValueError when the structures or lengths do not fit, or a result that differs along the axis
    has None in out_axes."""
    check_function("vmap", fun)
    if axis_name is not None:
        raise not_supported(
            f"vmap: axis_name={axis_name!r} is not supported: there are no collective "
            "operations. Leave it out."
        )
    if axis_size is not None and (not isinstance(axis_size, int) or axis_size < 0):
        raise type_error(
            f"vmap: axis_size is {axis_size!r}. An integer from 0, or None, is required."
        )
    if isinstance(in_axes, list):
        in_axes = tuple(in_axes)

    @functools.wraps(fun)
    def batched(*args: Any, **options: Any) -> Any:
        if isinstance(in_axes, tuple) and len(in_axes) != len(args):
            raise value_error(
                f"vmap: in_axes has {len(in_axes)} entries for {len(args)} arguments. "
                "One for each is required."
            )
        tensors, rebuild = _arguments((args, options))
        axes = spread("vmap: in_axes", in_axes, args) + spread("vmap: in_axes", 0, options)
        if axis_size is not None:
            _core.check_mapped_lengths(axis_size, tensors, axes)
        return _Batched(fun, rebuild, out_axes)(tensors, axes, axis_size)

    return batched


class _Batched:
    """A function of structures over an axis: one call."""

    def __init__(self, function: Callable[..., Any], rebuild: Rebuild, out_axes: Any) -> None:
        def call(pair: Any, options: Any) -> Any:
            return function(*pair, **options)

        call.__name__ = getattr(function, "__name__", "the function")
        self.traced = _Traced("vmap", call, rebuild, {})
        self.out_axes = out_axes

    def __call__(self, tensors: list[Any], axes: list[Any], axis_size: int | None) -> Any:
        leaves: list[LazyTensor] = []
        out_axes: list[int | None] = []

        def mapped(arguments: list[Any]) -> list[Any]:
            leaves.extend(self.traced(arguments))
            results = self.traced.rebuild_result(leaves)
            out_axes.extend(spread("vmap: out_axes", self.out_axes, results))
            _core.check_out_axes(leaves, out_axes)
            varying = [x for x, axis in zip(arguments, axes) if axis is not None]
            _core.check_same_for_all(leaves, out_axes, varying)
            return [leaf for leaf, axis in zip(leaves, out_axes) if axis is not None]

        if axis_size is not None and all(axis is None for axis in axes):
            same = mapped(tensors)
            made = [broadcast_to(leaf, (axis_size, *leaf.shape)) for leaf in same]
        else:
            made = _core.vmap_function(mapped, tensors, axes, 0)
        rest = iter(made)
        return self.traced.rebuild_result(
            [
                leaf if axis is None else moveaxis(next(rest), 0, axis) if axis else next(rest)
                for leaf, axis in zip(leaves, out_axes)
            ]
        )
