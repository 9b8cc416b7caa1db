"""Writes that stay in a trace (composit/torch/steps.py): the tensor written takes the place of the
result, so that running statistics, counters and values in place belong to a step's program."""

from __future__ import annotations

import weakref
from typing import Any

from composit import _core


def share(tensor: Any, twin: Any) -> None:
    """Remembers a tensor that has the same cell, while it lives."""
    owner = tensor if tensor._twin is None else tensor._twin
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
