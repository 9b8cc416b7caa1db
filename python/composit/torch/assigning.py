"""Writes that stay in a trace (composit/torch/steps.py): the tensor written takes the place of the
result, so that running statistics, counters and values in place belong to a step's program."""

from __future__ import annotations

import weakref
from typing import Any

import composit._core as _core


def twin_of(tensor: Any) -> Any:
    """The tensor it was detached from, while that lives."""
    return None if tensor._twin is None else tensor._twin()


def memory_of(tensor: Any) -> tuple[Any, bool]:
    """The living tensor in whose memory this one's elements lie, and whether autograd knows of
    writes through this one."""
    is_known = True
    while True:
        holder = tensor._root
        if holder is None and tensor._twin is not None:
            holder, is_known = twin_of(tensor), False
        if holder is None or not tensor._lazy.is_in_memory_of(holder._lazy):
            return tensor, is_known
        tensor = holder


def share(tensor: Any, twin: Any) -> None:
    """Remembers a tensor that has the same cell, while it lives."""
    owner, _ = memory_of(tensor)
    if owner._twins is None:
        owner._twins = []
    twins = owner._twins
    if len(twins) > 8:
        twins[:] = [ref for ref in twins if ref() is not None]
    twins.append(weakref.ref(twin))


class _Nobody:
    """What no reference holds."""


_nobody = weakref.ref(_Nobody())


# The write of a result that nothing else holds, by its place alone (bindings/assigning.cpp).
assigned = _core.assigned
