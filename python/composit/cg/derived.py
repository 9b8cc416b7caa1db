"""Modules that are made of others: the derivative of a module or an operator."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import composit._core as _core
from composit._core import LazyTensor, value_error
from composit.cg.function import Function, Operator
from composit.cg.module import DerivedModule
from composit.cg.session import with_hidden
from composit.cg.template import Variable, distinct
from composit.cg.values import described


def derivative(function: Any, inpt: Any) -> Any:
    """The function's derivative with respect to an input or parameter (or a name of either, or a
    Variable of that name that belongs to no function), as a module of the same inputs:
    "D<functional name>#<short name>". ValueError where the function has none of that name."""
    if isinstance(inpt, str):
        inpt = _named(function, inpt)
    elif isinstance(inpt, Variable) and inpt._fun is None:
        named = _named(function, inpt.short_name)
        inpt = inpt if isinstance(named, str) else named
    place = next((i for i, one in enumerate(_leaves(function)) if one is inpt), None)
    if place is None:
        own = ", ".join(repr(one.short_name) for one in _leaves(function))
        raise value_error(
            f"{function.functional_name}: the derivative with respect to {described(inpt)}. "
            f"An input or a parameter of its own is required: {own}."
        )
    return derivative_at(function, place)


def _named(function: Any, name: str) -> Any:
    """The function's input or parameter of this name, or that of the only module in it that has
    one; the name where there is none. ValueError where several modules have."""
    for own in (function.input, function.param):
        try:
            return own(name)
        except ValueError:
            pass
    found = [one for one in _leaves(function) if one.short_name == name]
    if len(found) > 1:
        raise value_error(
            f"{function.functional_name}: {name!r} names {len(found)} parameters of modules in "
            f"it: {', '.join(repr(one.name) for one in found)}. The parameter itself "
            "(m.param(…) of the module that has it) is required."
        )
    return found[0] if found else name


def _leaves(function: Any) -> list[Any]:
    """A function's inputs, then its parameters."""
    parameters = [] if isinstance(function, Operator) else function.parameters()
    return [*function.inputs, *parameters]


def of_tensors(function: Any, parameters: list[Any]) -> Callable[[list[LazyTensor]], LazyTensor]:
    """A module or an operator as a function of its inputs' tensors, then of these parameters'."""

    def compute(tensors: list[LazyTensor]) -> LazyTensor:
        count = len(function.inputs)
        if isinstance(function, Operator):
            return function.apply(tensors)
        made: LazyTensor = function._with_values(parameters, tensors[count:], tensors[:count])
        return made

    return compute


def derived(
    role: str,
    function: Any,
    parameters: list[Any],
    make: Callable[[Callable[[list[LazyTensor]], LazyTensor], list[LazyTensor]], LazyTensor],
    *origin: Any,
) -> Any:
    """The module of what `make` makes of a module or an operator as a function of tensors, where
    these are given. `origin` is what made it, and of what, as pickles hold it."""

    class Derived(Operator):
        """What is made of the function."""

        def __init__(self, parameters: list[Any]) -> None:
            names = distinct([one.short_name for one in (*function.inputs, *parameters)])
            super().__init__(tuple(map(Variable, names)), functional_name=role)
            self._compute = of_tensors(function, parameters)
            self._promoted = len(function.inputs)  # parameters do where the function uses them

        def _op_impl(self, *arrays: Any) -> LazyTensor:
            return make(self._compute, list(arrays))

    def call(module: Any, *nodes: Any) -> Any:
        return with_hidden(lambda known: Derived(known)(*nodes, *known), parameters)

    return DerivedModule(role, call, *origin)


def derivative_at(function: Any, place: int) -> Any:
    """The derivative with respect to one of the inputs and parameters, by its number."""
    leaves = _leaves(function)
    name = leaves[place].short_name

    def make(compute: Callable[[list[LazyTensor]], LazyTensor], given: list[LazyTensor]) -> Any:
        return _core.cg.jacobian_at(compute, given, place, function.functional_name, name)

    role, parameters = f"D{function.functional_name}#{name}", leaves[len(function.inputs) :]
    return derived(role, function, parameters, make, derivative_at, function, place)


Function._derivative = staticmethod(derivative)
