"""How gradients go through what stands in their way: Functions, whose backward the user wrote, and
tensors with hooks.

The graph is cut at these. What flows into a cut is given to the backward or the hooks, and what
they return flows on from there, the latest cut first.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from composit import _core
from composit import numpy as cnp
from composit._core import with_location
from composit.torch import anomaly
from composit.torch.calling import is_recorded, record_of, wrapped
from composit.torch.function import Function, FunctionRecord
from composit.torch.hooks import HookPoint, hook_points_exist
from composit.torch.tape import set_recording

Rule = Callable[..., list[Any]]


def has_barriers(records: list[Any]) -> bool:
    """Whether a Function's record or a hook is among the records."""
    if any(type(record) is FunctionRecord for record in records):
        return True
    return hook_points_exist[0] and any(type(x) is HookPoint for record in records for x in record)


def _ordered(records: list[Any], is_reached: Any) -> list[Any]:
    """Functions' records and hooks, each before those that its gradient goes on to."""
    order: list[Any] = []
    state: dict[int, bool] = {}  # whether all below it are in the order
    for start in records:
        open_records = [start]
        while open_records:
            record = open_records[-1]
            if state.get(id(record)):
                open_records.pop()
                continue
            if id(record) in state:
                open_records.pop()
                state[id(record)] = True
                if type(record) is FunctionRecord:
                    order.append(record)
                order += [x for x in record if type(x) is HookPoint and is_reached(record)]
                continue
            state[id(record)] = False
            below = [x for x in record[1:] if isinstance(x, list) and id(x) not in state]
            open_records += below[::-1]  # what was made later has its turn earlier
    return order[::-1]


class _Cuts:
    """The nodes with hooks, for which placeholders stand while gradients are made."""

    def __init__(self, points: list[Any]) -> None:
        groups: list[list[Any]] = []
        for point in points:
            if type(point) is not HookPoint:
                continue
            for group in groups:
                if group[0].lazy.node == point.lazy.node:
                    group.append(point)
                    break
            else:
                groups.append([point])
        self.groups = groups
        self.nodes = [group[0].lazy for group in groups]
        self.stand_ins = [
            _core.input(f"hooked{i}", x.dtype, x.shape) for i, x in enumerate(self.nodes)
        ]

    def place_of(self, lazy: Any) -> int:
        """The number of the cut at a node, or -1."""
        for i, node in enumerate(self.nodes):
            if node.node == lazy.node:
                return i
        return -1

    def cut(self, lazies: list[Any], except_for: int = -1) -> list[Any]:
        """The graphs, cut at the hooks but for one of them."""
        chosen = [i for i in range(len(self.nodes)) if i != except_for]
        if not chosen or not lazies:
            return lazies
        nodes = [self.nodes[i] for i in chosen]
        return _core.substitute(lazies, nodes, [self.stand_ins[i] for i in chosen])

    def whole(self, lazies: list[Any]) -> list[Any]:
        """Gradients of cut graphs, of the values that were there."""
        if not self.nodes or not lazies:
            return lazies
        return _core.substitute(lazies, self.stand_ins, self.nodes)


def chained(
    chain_rule: Rule, outputs: list[Any], incoming: list[Any], inputs: list[Any],
    records: list[Any], is_recording: bool, is_reached: Any = None,
) -> list[Any]:  # fmt: skip
    """chain_rule through Functions and hooks: the latest one first, each is given what flows into
    it, and what it returns flows on."""
    points = _ordered(records, is_reached or (lambda record: True))
    cuts = _Cuts(points)
    firsts = {id(group[0]): i for i, group in enumerate(cuts.groups)}
    points = [x for x in points if type(x) is FunctionRecord or id(x) in firsts]
    sinks: list[Any] = []  # the nodes into which gradients flow, of all points
    hooks_of: list[int] = []  # of a Function's results: the cut before it, or -1
    places: list[int] = []  # where a point's begin
    for point in points:
        places.append(len(sinks))
        if type(point) is FunctionRecord:
            sinks += [node for node in point.outputs if node is not None]
        else:
            sinks.append(point.lazy)
        own = sinks[len(hooks_of) :]
        is_function = type(point) is FunctionRecord
        hooks_of += [cuts.place_of(x) if is_function else -1 for x in own]
    places.append(len(sinks))

    def flow_on(
        starts: list[Any], flows: list[Any], rest: int, except_for: int = -1
    ) -> tuple[list[Any], list[Any]]:
        """What flows from the starts into the inputs and the sinks from `rest` on."""
        made = cuts.cut([*starts, *inputs, *sinks[rest:]], except_for)
        ends = made[len(starts) :]
        if not ends:
            return [], []
        found = cuts.whole(chain_rule(made[: len(starts)], flows, ends))
        for i, hook in enumerate(hooks_of[rest:], len(inputs)):
            if hook >= 0 and hook != except_for:  # it flows into the hooks first
                found[i] = cnp.zeros(found[i].shape, found[i].dtype)
        return found[: len(inputs)], found[len(inputs) :]

    totals, into = flow_on(outputs, incoming, 0)
    for number, point in enumerate(points):
        begin, end = places[number], places[number + 1]
        arrived = into[begin:end]
        if type(point) is FunctionRecord:
            starts, flows = _through_function(point, arrived, is_recording)
            cut = -1
        else:
            cut = firsts[id(point)]
            flow = _through_hooks(cuts.groups[cut], arrived[0], records if is_recording else None)
            starts, flows = [point.lazy], [flow]
        if not starts:
            continue
        more, later = flow_on(starts, flows, end, cut)
        for i, lazy in enumerate(inputs):
            # A tensor's own gradient is what its hooks made of it.
            is_own = cut >= 0 and lazy.node == point.lazy.node
            totals[i] = flows[0] if is_own else totals[i] + more[i]
        into[end:] = [x + y for x, y in zip(into[end:], later)]
    return totals


def _through_hooks(group: list[Any], lazy: Any, records: Any) -> Any:
    """What the hooks of one node make of its gradient."""
    gradient = wrapped(lazy)
    if records is None:
        gradient._is_tainted = True
    else:
        gradient._record = ["GradBackward0", *records]
    for point in group:
        gradient = hooked(point.hooks, gradient)
    return gradient._lazy


def hooked(hooks: dict[int, Any], gradient: Any) -> Any:
    """The gradient after the hooks. RuntimeError where one changes its shape."""
    for hook in list(hooks.values()):
        changed = hook(gradient)
        if changed is None:
            continue
        if tuple(changed.shape) != tuple(gradient.shape):
            name = getattr(hook, "__name__", repr(hook))
            raise RuntimeError(with_location(f"hook '{name}' has changed the size of value"))
        gradient = changed
    return gradient


def _through_function(
    call: FunctionRecord, arrived: list[Any], is_recording: bool
) -> tuple[list[Any], list[Any]]:
    """The nodes from which a Function's gradients flow on, and the gradients."""
    own = iter(arrived)
    gradients = [None if node is None else wrapped(next(own)) for node in call.outputs]
    for tensor in gradients:
        if tensor is not None and is_recording:
            tensor._record = ["GradBackward0", *_sources(call)]
    found = _backward_of(call, gradients, is_recording)
    anomaly.check_function(call[0], [None if x is None else x._lazy for x in found])
    starts, flows = [], []
    for node, is_needed, gradient in zip(call.nodes, call.context.needs_input_grad, found):
        if is_needed and gradient is not None:
            starts.append(node)
            flows.append(_fitting(call, node, gradient))
            if is_recording and gradient._record is not None:
                call.append(gradient._record)  # Functions that backward called are found
    return starts, flows


def _sources(call: FunctionRecord) -> list[Any]:
    """The records that a gradient of the call's outputs depends on."""
    return [record_of(x) for x in call.inputs if x is not None and is_recorded(x)]


def _backward_of(call: FunctionRecord, gradients: list[Any], is_recording: bool) -> list[Any]:
    if not call.context._materializes:
        gradients = [None if x is not None and _is_zero(x._lazy) else x for x in gradients]
    before = set_recording(is_recording)
    function = call.function
    is_vjp = function.backward is Function.backward and function.vjp is not Function.vjp
    try:
        result = (function.vjp if is_vjp else function.backward)(call.context, *gradients)
    finally:
        set_recording(before)
    found = list(result) if isinstance(result, (tuple, list)) else [result]
    if len(found) < len(call.inputs) or any(x is not None for x in found[len(call.inputs) :]):
        raise RuntimeError(
            with_location(
                f"function {call[0]} returned an incorrect number of gradients (expected "
                f"{len(call.inputs)}, got {len(found)})"
            )
        )
    return found[: len(call.inputs)]


def _is_zero(lazy: Any) -> bool:
    """Whether a gradient is the zeros of what was not used."""
    return bool((cnp.asarray(lazy) == 0).all().evaluated())


def _fitting(call: FunctionRecord, node: Any, gradient: Any) -> Any:
    lazy = gradient._lazy
    if tuple(lazy.shape) != tuple(node.shape):
        raise RuntimeError(
            with_location(
                f"Function {call[0]} returned an invalid gradient: got {list(lazy.shape)} but "
                f"expected shape compatible with {list(node.shape)}"
            )
        )
    return lazy if lazy.dtype == node.dtype else cnp.astype(lazy, node.dtype)
