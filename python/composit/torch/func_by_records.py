"""torch.func through Functions: where the function that is differentiated calls a Function, whose
backward the graph does not know, the outermost transform begins anew with autograd's records, or,
where vmap or forward mode is among the transforms, with the Function's own rules
(bindings/function_transforms.cpp)."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import composit._core as _core
from composit.torch.function import Function


class RulesNeeded(Exception):
    """Records do not go through vmap or forward mode, where Functions are nodes with rules."""


def by_graph_or_records(by_graph: Callable[..., Any], by_records: Callable[..., Any]) -> Any:
    """The transform that differentiates the graph, unless that calls a Function: then by records,
    which run its backward as it is, or by its rules where vmap or forward mode is met, too."""

    @functools.wraps(by_graph)
    def apply(*args: Any, **kwargs: Any) -> Any:
        return _core.by_graph_or_records(by_graph, by_records, args, kwargs)

    return apply


def with_rules(transform: Callable[..., Any], randomness: str | None = None) -> Callable[..., Any]:
    """A transform within which calls of Functions are nodes with rules."""

    @functools.wraps(transform)
    def apply(*args: Any, **kwargs: Any) -> Any:
        return _core.with_function_rules(transform, randomness, args, kwargs)

    return apply


class _Same(Function):
    """A tensor with a node of its own."""

    _tangents_by_backward = True

    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        return x

    @staticmethod
    def backward(ctx: Any, gradient: Any) -> Any:
        return gradient


def grad_and_value(func: Any, argnums: Any, has_aux: bool) -> Any:
    """(gradient, value), with has_aux (gradient, (value, aux))."""

    def apply(*args: Any, **kwargs: Any) -> Any:
        return _core.grad_and_value_by_records(func, argnums, has_aux, args, kwargs)

    return apply


def grad(func: Any, argnums: Any, has_aux: bool) -> Any:
    """The gradient, with has_aux (gradient, aux)."""
    both = grad_and_value(func, argnums, has_aux)

    def apply(*args: Any, **kwargs: Any) -> Any:
        found, value = both(*args, **kwargs)
        return (found, value[1]) if has_aux else found

    return apply


def vjp(func: Any, *primals: Any, has_aux: bool = False) -> Any:
    """(value, function of cotangents), with has_aux and aux."""
    value, started, aux = _core.vjp_by_records(func, primals, has_aux)

    def vjp_fn(*cotangents: Any) -> Any:
        return _core.pulled_by_records(value, started, cotangents)

    done = (_core.finished_by_records(value), vjp_fn)
    return (*done, _core.finished_by_records(aux)) if has_aux else done


def jacrev(func: Any, argnums: Any, has_aux: bool) -> Any:
    """The Jacobian, a row for each element of the results."""

    def apply(*args: Any, **kwargs: Any) -> Any:
        return _core.jacrev_by_records(func, argnums, has_aux, args, kwargs)

    return apply


_core.provide("function_of_same", _Same.apply)
_core.provide("function_rules_needed", RulesNeeded)
