"""Writes that stay in a trace (composit/torch/steps.py): the tensor written takes the place of the
result, so that running statistics, counters and values in place belong to a step's program."""

from __future__ import annotations

import weakref
from typing import Any

from composit.torch import settling, steps, versions


def share(tensor: Any, twin: Any) -> None:
    """Remembers a tensor that has the same cell, while it lives."""
    owner = tensor if tensor._twin is None else tensor._twin
    if owner._twins is None:
        owner._twins = []
    twins = owner._twins
    if len(twins) > 8:
        twins[:] = [ref for ref in twins if ref() is not None]
    twins.append(weakref.ref(twin))


def _is_alone(tensor: Any) -> bool:
    """Whether nothing else sees what is written into the tensor."""
    if tensor._root is not None or tensor._twin is not None or tensor._is_shared:
        return False
    return not any(ref() is not None for ref in tensor._twins or ())


def _may_be_saved(trace: Any, number: int, result: int) -> bool:
    """Whether an operation that gradients go through, other than the one with that result, has the
    operand at that place: a write then ends the recording, as composit/torch/versions.py needs."""
    return any(
        number in state.saved and not first <= result < first + len(state.results)
        for first, state in trace.entries
    )


class _Nobody:
    """What no reference holds."""


_nobody = weakref.ref(_Nobody())


def assigned(target: Any, result: Any, *, is_detached: bool = False) -> bool:
    """Writes a result that nothing else holds to the target, without its node. False where that has
    to be done with nodes: nothing has changed then.

    `is_detached` says that gradients do not go from the target to what the result depends on.
    """
    trace = steps.open_trace()
    if trace is None or result._mark != trace.mark or target._mark != trace.mark:
        return False
    if steps.capturing[0] or result is target or not _is_alone(target):
        return False
    if target._is_leaf_with_grad or target._is_pending or target._record is not None:
        return False
    if result._root is not None or (result._record is not None and not is_detached):
        return False
    before, after = target._seen, result._seen
    if before.dtype != after.dtype or tuple(before.shape) != tuple(after.shape):
        return False
    if _may_be_saved(trace, target._place, result._place):
        return False
    if result._has_lazy:
        target._lazy, target._like, target._trace = result._lazy, None, None
        settling.enter(target)
    else:
        if target._has_lazy:
            del target._lazy
        target._like, target._trace = result._like, trace
    if type(trace.tensors[target._place]) is weakref.ref:
        trace.tensors[target._place] = _nobody
    trace.tensors[result._place] = weakref.ref(target)
    target._place, target._value = result._place, None
    if not is_detached:
        target._is_tainted = result._is_tainted
    versions.written(target)
    return True
