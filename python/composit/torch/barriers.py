"""What stands in the way of gradients (composit/eager/tape_barriers.h): Functions, whose backward
the user wrote, and tensors with hooks."""

from __future__ import annotations

import functools
from typing import Any

import composit._core as _core
from composit import numpy as cnp
from composit._core import runtime_error
from composit.torch import anomaly
from composit.torch.calling import is_recorded, record_of, wrapped
from composit.torch.function import Function, FunctionRecord
from composit.torch.hooks import hook_points_exist
from composit.torch.places import beside
from composit.torch.tape import set_recording


def has_barriers(records: list[Any]) -> bool:
    """Whether a Function's record or a hook is among the records."""
    if any(type(record) is FunctionRecord for record in records):
        return True
    return hook_points_exist[0] and any(record.hook_points for record in records)


def between(records: list[Any], is_recording: bool, is_reached: Any = None) -> list[Any]:
    """What stands between outputs with these records and their leaves, in the order in which
    gradients come to it: (the nodes where they arrive, what flows on for what arrives, whether it
    is of hooks). The records of what `is_recording` makes are those of the outputs."""
    found: list[Any] = []
    points: dict[Any, list[Any]] = {}  # by node: several tensors may hold it
    for record in _core.gradient_order(records):
        hooked_ones = record.hook_points if is_reached is None or is_reached(record) else None
        for point in reversed(hooked_ones or ()):
            group = points.setdefault(point.lazy.node, [])
            if not group:
                through = functools.partial(
                    _through_hooks, group, records if is_recording else None
                )
                found.append(([point.lazy], through, True))
            group.append(point)
        if type(record) is FunctionRecord:
            sinks = [node for node in record.outputs if node is not None]
            through = functools.partial(_through_function, record, is_recording)
            found.append((sinks, through, False))
    return found


def _through_hooks(group: list[Any], records: Any, arrived: list[Any]) -> list[Any]:
    """What the hooks of one node make of its gradient."""
    gradient = wrapped(arrived[0])
    if records is None:
        gradient._is_tainted = True
    else:
        gradient._record = _core.GradFn("GradBackward0", records)
    for point in group:
        gradient = hooked(point.hooks, gradient)
    return [(group[0].lazy, gradient._lazy)]


def hooked(hooks: dict[int, Any], gradient: Any) -> Any:
    """The gradient after the hooks. RuntimeError where one changes its shape."""
    for hook in list(hooks.values()):
        changed = hook(gradient)
        if changed is None:
            continue
        if tuple(changed.shape) != tuple(gradient.shape):
            name = getattr(hook, "__name__", repr(hook))
            raise runtime_error(f"hook '{name}' has changed the size of value")
        gradient = changed
    return gradient


def _through_function(
    call: FunctionRecord, is_recording: bool, arrived: list[Any]
) -> list[tuple[Any, Any]]:
    """The nodes from which a Function's gradients flow on, with the gradients."""
    own = iter(arrived)
    gradients = [
        None if node is None else wrapped(beside(next(own), node)) for node in call.outputs
    ]
    for tensor in gradients:
        if tensor is not None and is_recording:
            tensor._record = _core.GradFn("GradBackward0", _sources(call))
    found = _backward_of(call, gradients, is_recording)
    anomaly.check_function(call.name(), [None if x is None else x._lazy for x in found])
    flows = []
    for node, is_needed, gradient in zip(call.nodes, call.context.needs_input_grad, found):
        if is_needed and gradient is not None:
            flows.append((node, _fitting(call, node, gradient)))
            if is_recording and gradient._record is not None:
                call.add_operand(gradient._record)  # Functions that backward called are found
    return flows


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
        raise runtime_error(
            f"function {call.name()} returned an incorrect number of gradients (expected "
            f"{len(call.inputs)}, got {len(found)})"
        )
    return found[: len(call.inputs)]


def _is_zero(lazy: Any) -> bool:
    """Whether a gradient is the zeros of what was not used."""
    return bool((cnp.asarray(lazy) == 0).all().evaluated())


def _fitting(call: FunctionRecord, node: Any, gradient: Any) -> Any:
    lazy = gradient._lazy
    if tuple(lazy.shape) != tuple(node.shape):
        raise runtime_error(
            f"Function {call.name()} returned an invalid gradient: got {list(lazy.shape)} but "
            f"expected shape compatible with {list(node.shape)}"
        )
    return lazy if lazy.dtype == node.dtype else cnp.astype(lazy, node.dtype)
