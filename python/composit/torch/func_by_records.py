"""torch.func through Functions: where the function that is differentiated calls a Function, whose
backward the graph does not know, the outermost transform begins anew with autograd's records, or,
where vmap or forward mode is among the transforms, with the Function's own rules."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable
from typing import Any

from composit import nn, structure
from composit._core import runtime_error
from composit.torch import backward, function_rules, steps
from composit.torch.calling import TensorBase, functions, is_recorded
from composit.torch.function import Function, FunctionMet, graphs
from composit.torch.tape import enable_grad


class _Depth(threading.local):
    records = 0  # of transforms that differentiate by records


depth = _Depth()


class RulesNeeded(Exception):
    """Records do not go through vmap or forward mode, where Functions are nodes with rules."""


def by_graph_or_records(by_graph: Callable[..., Any], by_records: Callable[..., Any]) -> Any:
    """The transform that differentiates the graph, unless that calls a Function: then by records,
    which run its backward as it is, or by its rules where vmap or forward mode is met, too."""

    @functools.wraps(by_graph)
    def apply(*args: Any, **kwargs: Any) -> Any:
        if graphs.ruled:
            return with_rules(by_graph)(*args, **kwargs)
        is_first = not depth.records
        if is_first:
            graphs.depth += 1
            try:
                return by_graph(*args, **kwargs)
            except FunctionMet:
                if graphs.depth > 1:
                    raise
            finally:
                graphs.depth -= 1
        try:
            return _in_records(by_records, args, kwargs)
        except RulesNeeded:
            if not is_first:
                raise
        return with_rules(by_graph)(*args, **kwargs)

    return apply


def _in_records(function: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    before, graphs.depth = graphs.depth, 0
    thread = steps.record_in(0)  # operations make nodes at once
    depth.records += 1
    try:
        with enable_grad():
            return function(*args, **kwargs)
    finally:
        depth.records -= 1
        graphs.depth = before
        steps.record_in(thread)


def with_rules(transform: Callable[..., Any], randomness: str | None = None) -> Callable[..., Any]:
    """A transform within which calls of Functions are nodes with rules."""

    @functools.wraps(transform)
    def apply(*args: Any, **kwargs: Any) -> Any:
        if depth.records and not graphs.ruled:
            raise RulesNeeded
        before = graphs.randomness
        graphs.randomness = before if randomness is None else randomness
        graphs.ruled += 1
        try:
            found = transform(*args, **kwargs)
        finally:
            graphs.ruled -= 1
            graphs.randomness = before
        return function_rules.plain(found)

    return apply


class _Same(Function):
    """A tensor with a node of its own."""

    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        return x

    @staticmethod
    def backward(ctx: Any, gradient: Any) -> Any:
        return gradient


def _mapped(value: Any, function: Callable[[Any], Any]) -> Any:
    return structure.mapped(value, function, TensorBase)


def _tensors(value: Any) -> list[Any]:
    return structure.leaves(value, TensorBase)


def _started(value: Any) -> Any:
    """Tensors to differentiate by, of nodes of their own."""

    def start(x: Any) -> Any:
        if is_recorded(x):
            return _Same.apply(x)
        made = object.__new__(type(x))
        made._lazy = nn.stop_gradient(x._lazy)
        made._is_leaf_with_grad = True
        return made

    return _mapped(value, start)


def _finished(value: Any) -> Any:
    """Results, which only an outer transform still differentiates."""
    return value if depth.records > 1 else _mapped(value, lambda x: x.detach())


def _gradients(outputs: Any, inputs: Any, flows: Any) -> Any:
    """The gradients of the inputs, in their structure."""
    pairs = [(x, g) for x, g in zip(_tensors(outputs), _tensors(flows)) if is_recorded(x)]
    if not pairs:
        return _mapped(inputs, functions["zeros_like"])
    found = iter(backward.grad([x for x, _ in pairs], _tensors(inputs), [g for _, g in pairs],
                               retain_graph=True, create_graph=depth.records > 1,
                               materialize_grads=True))  # fmt: skip
    return _mapped(inputs, lambda x: next(found))


def _parted(result: Any, has_aux: bool) -> tuple[Any, Any]:
    return result if has_aux else (result, None)


def _with_started(args: Any, argnums: Any) -> tuple[list[Any], Any]:
    whole = list(args)
    for number in (argnums,) if isinstance(argnums, int) else argnums:
        whole[number] = _started(whole[number])
    chosen = whole[argnums] if isinstance(argnums, int) else tuple(whole[n] for n in argnums)
    return whole, chosen


def grad_and_value(func: Any, argnums: Any, has_aux: bool) -> Any:
    """(gradient, value), with has_aux (gradient, (value, aux))."""

    def apply(*args: Any, **kwargs: Any) -> Any:
        whole, chosen = _with_started(args, argnums)
        value, aux = _parted(func(*whole, **kwargs), has_aux)
        if value.numel() != 1 or value.ndim:
            raise runtime_error(
                "grad_and_value(f)(*args): Expected f(*args) to return a scalar tensor, got "
                f"tensor with {value.ndim} dims."
            )
        found = _gradients(value, chosen, functions["ones_like"](value))
        value = _finished(value)
        return _finished(found), (value, _finished(aux)) if has_aux else value

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
    started = _started(primals)
    value, aux = _parted(func(*started), has_aux)

    def pull(cotangents: Any) -> Any:
        return _finished(_gradients(value, started, cotangents))

    def vjp_fn(*cotangents: Any) -> Any:
        given = cotangents[0] if len(cotangents) == 1 else cotangents
        return _in_records(pull, (given,), {})

    done = (_finished(value), vjp_fn)
    return (*done, _finished(aux)) if has_aux else done


def jacrev(func: Any, argnums: Any, has_aux: bool) -> Any:
    """The Jacobian, a row for each element of the results."""

    def apply(*args: Any, **kwargs: Any) -> Any:
        whole, chosen = _with_started(args, argnums)
        value, aux = _parted(func(*whole, **kwargs), has_aux)

        def of(result: Any) -> Any:
            count = result.numel()
            units = functions["eye"](count, dtype=result.dtype, device=result.device).reshape(
                count, *result.shape
            )
            rows = [_gradients(result, chosen, units[i]) for i in range(count)]
            columns = [_tensors(row) for row in rows]
            blocks = iter(
                functions["stack"]([row[i] for row in columns]).reshape(*result.shape, *x.shape)
                for i, x in enumerate(_tensors(chosen))
            )
            return _mapped(chosen, lambda x: _finished(next(blocks)))

        made = _mapped(value, of)
        return (made, _finished(aux)) if has_aux else made

    return apply
