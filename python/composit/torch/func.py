"""torch.func: transforms of functions over Tensors, by composit's own transforms."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable
from typing import Any

import composit._core as _core
from composit import functional, nn, structure
from composit import numpy as cnp
from composit import random as by_keys
from composit._core import (
    GradFn,
    LazyTensor,
    record_name,
    runtime_error,
    type_error,
    value_error,
)  # fmt: skip
from composit.torch import errstate, func_by_records, places, steps
from composit.torch.calling import TensorBase, is_recorded, read, record_of, wrapped
from composit.torch.functions import random
from composit.torch.tape import enable_grad, is_grad_enabled, no_grad

Function = Callable[..., Any]
_modules: Any = _core.modules
_without_rules: Any = _core.without_function_rules
_fitting_cotangents: Any = _core.fitting_cotangents
_mapped_length: Any = _core.mapped_length


def lowered(value: Any) -> Any:
    """A structure with LazyTensors for Tensors."""
    return structure.mapped(value, _lazy_of, TensorBase)


_lazy_of = operator.attrgetter("_lazy")


def lifted(value: Any) -> Any:
    """A structure with Tensors for LazyTensors."""
    return structure.mapped(value, wrapped, LazyTensor)


def _traced(func: Function) -> Function:
    """func over LazyTensors; what is differentiated is the graph, so nothing is recorded."""

    @functools.wraps(func)
    def over(*args: Any, **kwargs: Any) -> Any:
        # Placeholders are no values of a step: operations on them make nodes at once.
        before = steps.record_in(0)  # no thread
        try:
            with no_grad():
                return lowered(func(*lifted(args), **lifted(kwargs)))
        finally:
            steps.record_in(before)

    return over


class _Records:
    """What autograd knows of a call of a function that is traced: inside, placeholders have the
    records of the tensors that they stand for; outside, results have those that they have inside.
    So gradients reach the arguments, and what else the function uses."""

    def __init__(self, func: Function) -> None:
        self.func = func
        self.given: Any = ()
        self.made: Any = None

    def started(self, args: Any) -> Any:
        """The arguments of a call, which begins."""
        self.given = args
        return structure.mapped_pairs(args, args, _as_operand, TensorBase)

    def traced(self, *args: Any, **kwargs: Any) -> Any:
        """The function over LazyTensors."""
        before = steps.record_in(0)
        try:
            with enable_grad():
                args, kwargs = _with_records((lifted(args), lifted(kwargs)), self.given)
                self.made = self.func(*args, **kwargs)
                return lowered(self.made)
        finally:
            steps.record_in(before)

    def finished(self, result: Any) -> Any:
        """The results of the call."""
        made, self.given, self.made = self.made, (), None
        return _with_records(result, made)


def _as_operand(x: Any, _: Any) -> Any:
    """A tensor as recorded operations take it."""
    if is_recorded(x):
        read(x)
    elif x._is_tainted:
        return wrapped(nn.stop_gradient(x._lazy))
    return x


def _with_record_of(x: Any, other: Any) -> Any:
    """A new tensor with a record that follows another one's."""
    if is_recorded(other):
        x._record = GradFn(record_name("vmap"), [record_of(other)])
    x._is_tainted = other._is_tainted
    return x


def _with_records(value: Any, other: Any) -> Any:
    """New tensors with records that follow those of another structure's."""
    return structure.mapped_pairs(value, other, _with_record_of, TensorBase)


def _transformed(transform: Function) -> Any:
    def apply(*args: Any, **kwargs: Any) -> Any:
        token = errstate.begin()
        try:
            given = lowered(args)
            return lifted(
                places.joined(transform(*given, **lowered(kwargs)), structure.leaves(given))
            )
        finally:
            errstate.end(token)

    return apply


def _check_argnums(name: str, func: Function) -> None:
    if not callable(func):
        raise type_error(f"{name}: {func!r} is no function. A callable is required.")


def grad(func: Function, argnums: Any = 0, has_aux: bool = False) -> Function:
    """The function that returns func's gradient by arguments argnums; func returns a scalar."""
    _check_argnums("grad", func)
    by_graph = _transformed(functional.grad(_traced(func), argnums, has_aux=has_aux))
    by_records = func_by_records.grad(func, argnums, has_aux)
    return functools.wraps(func)(func_by_records.by_graph_or_records(by_graph, by_records))


def grad_and_value(func: Function, argnums: Any = 0, has_aux: bool = False) -> Function:
    """As grad, and the value: (gradient, value), with has_aux (gradient, (value, aux))."""
    _check_argnums("grad_and_value", func)
    both = _transformed(functional.value_and_grad(_traced(func), argnums, has_aux=has_aux))

    def apply(*args: Any, **kwargs: Any) -> Any:
        value, gradient = both(*args, **kwargs)
        return gradient, value

    by_records = func_by_records.grad_and_value(func, argnums, has_aux)
    return functools.wraps(func)(func_by_records.by_graph_or_records(apply, by_records))


def vjp(func: Function, *primals: Any, has_aux: bool = False) -> tuple[Any, ...]:
    """func's value, and the function from its cotangents to a tuple of the primals'; with has_aux
    also func's second result. The cotangent of one primal is given as it is."""
    _check_argnums("vjp", func)
    both = func_by_records.by_graph_or_records(_vjp_by_graph, func_by_records.vjp)
    return both(func, *primals, has_aux=has_aux)


def _vjp_by_graph(func: Function, *primals: Any, has_aux: bool) -> tuple[Any, ...]:
    value, pull, *rest = functional.vjp(_traced(func), *lowered(primals), has_aux=has_aux)

    def vjp_fn(*cotangents: Any) -> Any:
        given = cotangents[0] if len(cotangents) == 1 else cotangents
        return tuple(_without_rules(lifted(pull(_fitting_cotangents(results, given)))))

    results = lifted(value)
    return (results, vjp_fn, *map(lifted, rest))


def jvp(
    func: Function, primals: Any, tangents: Any, *, strict: bool = False, has_aux: bool = False
) -> tuple[Any, ...]:
    """func's value and its tangent, for tangents of the primals."""
    _check_argnums("jvp", func)
    transform = func_by_records.with_rules(functional.jvp)
    found = transform(_traced(func), lowered(primals), lowered(tangents), has_aux=has_aux)
    return tuple(_without_rules(lifted(found)))


def linearize(func: Function, *primals: Any) -> tuple[Any, Function]:
    """func's value at the primals, and the linear function from their tangents to its tangent."""
    _check_argnums("linearize", func)
    value = func(*primals)

    def jvp_fn(*tangents: Any) -> Any:
        return jvp(func, primals, tangents)[1]

    return value, jvp_fn


def replace_all_batch_norm_modules_(root: Any) -> Any:
    """The module, whose batch normalisations keep no running statistics any more."""
    for module in root.modules():
        if isinstance(module, _batch_norms()) and module.track_running_stats:
            module.running_mean = module.running_var = module.num_batches_tracked = None
            module.track_running_stats = False
    return root


def _batch_norms() -> Any:
    from composit.torch.nn.modules import normalisation

    return (normalisation.BatchNorm1d, normalisation.BatchNorm2d, normalisation.BatchNorm3d)


def vmap(
    func: Function, in_dims: Any = 0, out_dims: Any = 0, randomness: str = "error", *,
    chunk_size: int | None = None,
) -> Function:  # fmt: skip
    """func over a dimension of its arguments (None: the same for all): one batched graph. What func
    draws is an error, "different" for each slice or the "same" for all."""
    _check_argnums("vmap", func)
    if randomness not in ("error", "different", "same"):
        raise runtime_error(
            "Only allowed values for randomness are 'error', 'different', or 'same'. Got "
            f"{randomness}"
        )
    if chunk_size is not None and chunk_size <= 0:
        raise value_error(f"vmap: chunk_size should be None or greater than 0. (got {chunk_size})")

    def mapped(traced: Function) -> Function:
        def within(key: Any, *args: Any, **kwargs: Any) -> Any:
            with random.mapped(randomness, key):
                return traced(*args, **kwargs)

        def over(*args: Any, **kwargs: Any) -> Any:
            dims = in_dims if isinstance(in_dims, (tuple, list)) else (in_dims,) * len(args)
            size = _mapped_length(args, dims) if randomness == "different" else None
            if size is None:
                whole = functional.vmap(functools.partial(within, None), in_axes=in_dims,
                                        out_axes=out_dims)  # fmt: skip
                return whole(*args, **kwargs)
            keys = by_keys.split(random.next_key(), size)
            whole = functional.vmap(within, in_axes=(0, *dims), out_axes=out_dims)
            return whole(keys, *args, **kwargs)

        return func_by_records.with_rules(_transformed(over), randomness)

    plain = mapped(_traced(func))

    @functools.wraps(func)
    def batched(*args: Any, **kwargs: Any) -> Any:
        if not is_grad_enabled():
            return plain(*args, **kwargs)
        records = _Records(func)
        args, kwargs = records.started((args, kwargs))
        return records.finished(mapped(records.traced)(*args, **kwargs))

    return batched


def _leaves(value: Any) -> list[Any]:
    return structure.leaves(value, LazyTensor)


def _like(value: Any, leaves: Any) -> Any:
    """The structure with other leaves."""
    return structure.mapped(value, lambda _: next(leaves), LazyTensor)


def _basis(leaf: Any) -> Any:
    """Unit tensors along a new first dimension."""
    return cnp.reshape(cnp.eye(leaf.size, dtype=leaf.dtype), (leaf.size, *leaf.shape))


def _by_argument(
    name: str, func: Function, argnums: Any, has_aux: bool, jacobian: Function
) -> Function:
    """A Jacobian by the arguments argnums: for each result a structure as the argument is."""
    _check_argnums(name, func)

    @functools.wraps(func)
    def apply(*args: Any, **kwargs: Any) -> Any:
        chosen = (argnums,) if isinstance(argnums, int) else tuple(argnums)
        plain, named = lowered(args), lowered(kwargs)

        def of_chosen(*values: Any) -> Any:
            whole = list(plain)
            for number, value in zip(chosen, values):
                whole[number] = value
            return _traced(func)(*whole, **named)

        token = errstate.begin()
        try:
            result = jacobian(of_chosen, tuple(plain[n] for n in chosen), has_aux)
        finally:
            errstate.end(token)
        made, aux = result
        made = _first_argument(made) if isinstance(argnums, int) else _map_results(made, tuple)
        return (lifted(made), lifted(aux)) if has_aux else lifted(made)

    return apply


class _OfResult(list[Any]):
    """The Jacobians of one result, by argument."""


def _first_argument(value: Any) -> Any:
    return _map_results(value, lambda found: found[0])


def _map_results(value: Any, function: Function) -> Any:
    return structure.mapped(value, function, _OfResult)


def _reverse(func: Function, primals: tuple[Any, ...], has_aux: bool) -> tuple[Any, Any]:
    value, pull, *aux = functional.vjp(func, *primals, has_aux=has_aux)
    results = _leaves(value)
    found = []
    for number, result in enumerate(results):

        def pulled(unit: Any, number: int = number) -> Any:
            flows = [unit if i == number else cnp.zeros(r.shape, r.dtype)
                     for i, r in enumerate(results)]  # fmt: skip
            return _leaves(pull(_like(value, iter(flows))))

        rows = functional.vmap(pulled)(_basis(result))
        blocks = [cnp.reshape(row, (*result.shape, *row.shape[1:])) for row in rows]
        parts = iter(blocks)
        found.append(_OfResult(_like(primal, parts) for primal in primals))
    return _like(value, iter(found)), aux[0] if aux else None


def _forward(func: Function, primals: tuple[Any, ...], has_aux: bool) -> tuple[Any, Any]:
    value = func(*primals)
    value, aux = value if has_aux else (value, None)

    def plain(*values: Any) -> Any:
        return func(*values)[0] if has_aux else func(*values)

    leaves, results = _leaves(primals), _leaves(value)
    columns: list[list[Any]] = [[] for _ in results]
    for number, leaf in enumerate(leaves):

        def pushed(unit: Any, number: int = number) -> Any:
            flows = [unit if i == number else cnp.zeros(x.shape, x.dtype)
                     for i, x in enumerate(leaves)]  # fmt: skip
            return _leaves(functional.jvp(plain, primals, _like(primals, iter(flows)))[1])

        for place, column in enumerate(functional.vmap(pushed, out_axes=-1)(_basis(leaf))):
            columns[place].append(cnp.reshape(column, (*results[place].shape, *leaf.shape)))
    found = []
    for blocks in columns:
        parts = iter(blocks)
        found.append(_OfResult(_like(primal, parts) for primal in primals))
    return _like(value, iter(found)), aux


def jacrev(
    func: Function, argnums: Any = 0, *, has_aux: bool = False, chunk_size: int | None = None
) -> Function:
    """The Jacobian of func by arguments argnums, row by row: for more arguments than results."""
    if chunk_size is not None and chunk_size <= 0:
        raise value_error("jacrev: `chunk_size` should be greater than 0.")
    by_graph = _by_argument("jacrev", func, argnums, has_aux, _reverse)
    by_records = func_by_records.jacrev(func, argnums, has_aux)
    return func_by_records.by_graph_or_records(by_graph, by_records)


def jacfwd(
    func: Function, argnums: Any = 0, has_aux: bool = False, *, randomness: str = "error",
    chunk_size: int | None = None,
) -> Function:  # fmt: skip
    """The Jacobian of func by arguments argnums, column by column."""
    by_graph = _by_argument("jacfwd", func, argnums, has_aux, _forward)
    return func_by_records.with_rules(by_graph)


def hessian(func: Function, argnums: Any = 0) -> Function:
    """The second derivatives of func by arguments argnums."""
    return jacfwd(jacrev(func, argnums), argnums)


def functional_call(
    module: Any, parameter_and_buffer_dicts: Any, args: Any = None, kwargs: Any = None, *,
    tie_weights: bool = True, strict: bool = False,
) -> Any:  # fmt: skip
    """module(*args, **kwargs) with other parameters and buffers, by path, for this call only."""
    changes = _modules.other_tensors(module, parameter_and_buffer_dicts, tie_weights, strict)
    before = _modules.put_tensors(changes)
    try:
        plain = () if args is None else args if isinstance(args, tuple) else (args,)
        return module(*plain, **(kwargs or {}))
    finally:
        _modules.put_tensors(before)


def stack_module_state(models: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """Parameters and buffers of modules of one kind, stacked along a new first dimension."""
    models = list(models)
    if not models:
        raise runtime_error("stack_module_state: Expected at least one model, got 0.")
    from composit.torch.calling import functions

    def stacked(name: str) -> dict[str, Any]:
        several = [dict(getattr(model, name)()) for model in models]
        made = {}
        for key in several[0]:
            tensor = functions["stack"]([state[key].detach() for state in several])
            made[key] = tensor.requires_grad_(several[0][key].requires_grad)
        return made

    return stacked("named_parameters"), stacked("named_buffers")


def __getattr__(name: str) -> Any:
    """What is not built says so."""
    raise AttributeError(
        f"composit.torch.func.{name} is not built yet; docs/torch.md lists what is."
    )
