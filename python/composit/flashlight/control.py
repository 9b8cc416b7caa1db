"""torch's operators of functions (cond, scan, map, while_loop) as composit's choices and loops.

Their functions are traced like the code around them, in a scope of their own: what they read from
outside goes through the scope, and nothing outside is written.
"""

from __future__ import annotations

from typing import Any

import torch
from torch._higher_order_ops import utils as torch_utils
from torch.utils import _pytree as pytree

import composit._core as _core
from composit import numpy as cnp
from composit._core import LazyTensor
from composit.flashlight.active import current
from composit.flashlight.refusals import refuse
from composit.flashlight.tensor import Tensor
from composit.flashlight.while_traced import WhileTraced
from composit.nn import gradient_where


class Scope:
    """A function being traced: one side of a choice, taken where `is_taken` holds, or the body of a
    loop with its counter."""

    def __init__(self, operator: str, is_taken: Any = None, counter: Any = None) -> None:
        self.operator, self.counter, self._is_taken = operator, counter, is_taken
        self._seen: dict[Any, LazyTensor] = {}  # by nodes from outside
        # Nodes of operands whose indices are within bounds, behind those of results.
        self.total: list[tuple[list[Any], list[Any]]] = []

    def seen(self, value: LazyTensor) -> LazyTensor:
        """A value from outside as the function sees it: the same, but that gradients reach it where
        the side is taken, and where not they are zero, never NaN."""
        if self._is_taken is None:
            return value
        key = (value.node, value.output_index)
        if key not in self._seen:
            self._seen[key] = gradient_where(self._is_taken, value)
        return self._seen[key]

    def within_bounds(self, index: LazyTensor) -> LazyTensor:
        """Indices as the side looks up elements with: 0 where it is not taken."""
        return index if self._is_taken is None else cnp.where(self._is_taken, index, 0)

    def note_total(self, results: Any, operands: Any) -> None:
        """What lies between these operands, whose indices are within bounds, and the results."""
        self.total.append(([x.node for x in results], [x.node for x in operands]))

    @property
    def border(self) -> list[Any]:
        """The nodes by which the function sees values from outside."""
        return [seen.node for seen in self._seen.values()]


def of_functions(tracer: Any, func: Any, args: Any) -> Any:
    """What an operator of functions gives in the trace."""
    name = func.name()
    if name in _MAPPED:
        return _MAPPED[name](tracer, f"torch.ops.higher_order.{name}", *args)
    refuse(
        tracer,
        f"torch.ops.higher_order.{name}",
        "this operator of functions is not traced. cond, scan, map and, where its condition is "
        "known, while_loop are.",
    )


# ----- choices


def _cond(
    tracer: Any, operator: str, predicate: Any, chosen: Any, otherwise: Any, operands: Any = ()
) -> Any:
    """The side that a known predicate takes; else both sides, and of each result the one that the
    predicate takes. Only it reaches what follows, and only it has a gradient."""
    is_tensor = isinstance(predicate, torch.Tensor)
    if not is_tensor or tracer.is_constant(predicate):
        is_true = bool(tracer.value_of(predicate, "cond") if is_tensor else predicate)
        with tracer.mode:
            return (chosen if is_true else otherwise)(*operands)
    if predicate.numel() != 1:
        refuse(
            tracer,
            operator,
            f"the predicate has shape {tuple(predicate.shape)}. One element is required.",
        )
    decides = cnp.reshape(tracer.operand(predicate), ())
    if decides.dtype != bool:
        decides = cnp.not_equal(decides, 0)

    def side(function: Any, is_taken: LazyTensor) -> tuple[list[Any], list[Any], Any]:
        scope = Scope(operator, is_taken)
        with tracer.within(scope):
            with tracer.mode:
                results, structure = pytree.tree_flatten(function(*operands))
            values = [tracer.operand(x) if isinstance(x, torch.Tensor) else x for x in results]
        _check_total(tracer, operator, values, scope)
        return results, values, structure

    yes, if_true, structure = side(chosen, decides)
    no, if_false, other = side(otherwise, cnp.logical_not(decides))
    if structure != other:
        refuse(
            tracer,
            operator,
            f"the sides return {_described(structure)} and {_described(other)}. One structure is "
            "required.",
        )
    results = []
    for number, (x, y, a, b) in enumerate(zip(yes, no, if_true, if_false)):
        if _kind(x) != _kind(y) or (not isinstance(x, torch.Tensor) and x != y):
            refuse(
                tracer,
                operator,
                f"result {number} is {_said(x)} of the first side, {_said(y)} of the second. "
                "Equal shapes and dtypes, and equal values of what is no tensor, are required.",
            )
        if not isinstance(x, torch.Tensor):
            results.append(x)
            continue
        is_dense = x.stride() != y.stride()
        results.append(_result(tracer, cnp.where(decides, a, b), x, None if is_dense else x))
    return pytree.tree_unflatten(results, structure)


def _check_total(tracer: Any, operator: str, values: list[Any], scope: Scope) -> None:
    """Refuses a side that could raise an error although it is not taken: both are computed."""
    nodes = [value.node for value in values if isinstance(value, LazyTensor)]
    part: Any = _core.fallible_part(nodes, scope.border, scope.total)
    if part is not None:
        refuse(
            tracer,
            operator,
            f"a side computes {part.name or part.operation.name!r} [{part.location}], which can "
            "fail for its operands' values, and both sides are computed. It must stand before the "
            "choice.",
        )


# ----- loops


def _check_kinds(tracer: Any, operator: str, what: str, news: Any, olds: Any) -> None:
    """Refuses parts that have another shape or dtype after an iteration than before it."""
    for number, (new, old) in enumerate(zip(news, olds)):
        if _kind(new) != _kind(old):
            refuse(
                tracer,
                operator,
                f"part {number} of {what} is {_said(old)} before an iteration, {_said(new)} after "
                "it. Equal shapes and dtypes are required.",
            )


def _scan(tracer: Any, operator: str, body: Any, init: Any, xs: Any, additional: Any = ()) -> Any:
    """A loop of the graph: the function is traced once, for any of its iterations."""
    carried = [tracer.operand(x) for x in init]
    rows = [tracer.operand(x) for x in xs]
    kinds: list[Any] = []  # what an iteration gives behind the carry: tensors, or None
    structure: list[Any] = []  # of all that it gives

    def step(carry: list[LazyTensor], x: list[LazyTensor]) -> tuple[Any, Any]:
        with tracer.within(Scope(operator, counter=x[-1])):
            given = [_result(tracer, value, like) for value, like in zip(carry, init)]
            given += [_result(tracer, value, like) for value, like in zip(x, xs)]
            with tracer.mode:
                made, found = pytree.tree_flatten(body(*given, *additional))
            after, ys = made[: len(init)], made[len(init) :]
            _check_kinds(tracer, operator, "the carry", after, given)
            kinds[:], structure[:] = ys, [found]
            values = [tracer.operand(y) for y in ys if isinstance(y, torch.Tensor)]
            return [tracer.operand(new) for new in after], values

    length = int(xs[0].shape[0])
    name = operator.rpartition(".")[2].removesuffix("_impl")
    after, stacks = _core.scan(step, carried, [*rows, cnp.arange(length)], length, False, name)
    left = iter(stacks)
    stacked = [_result(tracer, next(left), y) if isinstance(y, torch.Tensor) else y for y in kinds]
    last = [_result(tracer, value, like) for value, like in zip(after, init)]
    return pytree.tree_unflatten([*last, *stacked], structure[0])


def _map(tracer: Any, operator: str, function: Any, xs: Any, fixed: Any = ()) -> Any:
    """A loop of the graph, whose iterations know nothing of each other."""
    return _scan(tracer, operator, function, (), xs, fixed)


def _while_loop(
    tracer: Any, operator: str, condition: Any, body: Any, carried: Any, additional: Any = ()
) -> Any:
    """Iteration behind iteration, as loops of Python are traced, as long as the condition is known:
    it may depend on counters, not on what is traced."""
    carried, structure = list(carried), None
    with tracer.within(Scope(operator)):
        while True:
            with tracer.mode:
                goes_on = condition(*carried, *additional)
            if isinstance(goes_on, torch.Tensor):
                if not tracer.is_constant(goes_on):
                    refuse(
                        tracer,
                        operator,
                        "its condition depends on the values of a traced tensor, and loops of "
                        "composit have a fixed number of iterations. A for loop or scan over as "
                        "many as there may be, with torch.where(is_done, old, new), is traced.",
                    )
                goes_on = bool(tracer.value_of(goes_on, "while_loop"))
            if not goes_on:
                break
            with tracer.mode:
                after, structure = pytree.tree_flatten(body(*carried, *additional))
            _check_kinds(tracer, operator, "what is carried", after, carried)
            carried = after
        values = [
            x if not isinstance(x, torch.Tensor) or tracer.is_constant(x) else tracer.operand(x)
            for x in carried
        ]
        if structure is None:  # there was no iteration
            with tracer.mode:
                structure = pytree.tree_structure(body(*carried, *additional))
    results = [
        _result(tracer, value, x, x) if isinstance(value, LazyTensor) else value
        for value, x in zip(values, carried)
    ]
    return pytree.tree_unflatten(results, structure)


_MAPPED: dict[str, Any] = {
    "cond": _cond,
    "scan": _scan,
    "map_impl": _map,
    "while_loop": _while_loop,
}


# ----- what they share


def _result(tracer: Any, value: LazyTensor, like: torch.Tensor, strided: Any = None) -> Tensor:
    """A value as a new tensor of the trace, of the dtype of `like`; with the strides of `strided`
    where it is given."""
    options: Any = {"dtype": like.dtype, "device": "meta"}
    shape = tuple(value.shape)
    if strided is None:
        return tracer.tensor(value, torch.empty(shape, **options))
    return tracer.tensor(value, torch.empty_strided(shape, strided.stride(), **options))


def _kind(x: Any) -> Any:
    return (tuple(x.shape), x.dtype) if isinstance(x, torch.Tensor) else type(x)


def _said(x: Any) -> str:
    return f"{x.dtype}{list(x.shape)}" if isinstance(x, torch.Tensor) else repr(x)


def _described(structure: Any) -> str:
    return f"{structure.num_leaves} tensors" if structure.num_leaves != 1 else "one tensor"


_compiled = torch_utils._hop_compile_and_call


def _called(fn: Any, args: Any, kwargs: Any = None) -> Any:
    if current() is None:
        return _compiled(fn, args, kwargs)
    return fn(*args, **(kwargs or {}))


def _begin(is_first: bool) -> None:
    torch_utils._hop_compile_and_call = _called


def _end() -> None:
    torch_utils._hop_compile_and_call = _compiled


# While it lasts, on the thread of a trace torch.cond and others reach it as they are. torch's
# compiler, through which they go, skips them under a mode, and then refuses them for good.
watching = WhileTraced(_begin, _end)
