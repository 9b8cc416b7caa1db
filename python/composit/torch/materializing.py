"""When values are computed: what is alive and has none yet is computed together, once, when any
value is asked for or an optimiser steps. Their nodes keep the values. A tensor that is not recorded
then holds its value in place of its graph, so training loops do not grow."""

from __future__ import annotations

import weakref
from typing import Any

import numpy as np

import composit._core as _core
from composit.evaluation import _usual_options
from composit.torch import assigning, steps

_recent: list[Any] = []
_gradients: list[Any] = []
_limit = [4096]  # of references that are kept before those to dead tensors are dropped


def enter(tensor: Any) -> None:
    """A tensor that was made or written, whose value will be wanted if it lives."""
    _recent.append(weakref.ref(tensor))
    if len(_recent) > _limit[0]:
        _recent[:] = [ref for ref in _recent if ref() is not None]
        _limit[0] = max(4096, 2 * len(_recent))


def enter_gradient(tensor: Any) -> None:
    """A gradient, whose value is computed with others' unless an optimiser takes it first."""
    _gradients.append(weakref.ref(tensor))


def _keeps_graph(tensor: Any) -> bool:
    """Whether the tensor's cell is that of a recorded one, whose graph gradients go through; or one
    that a leaf has left, of which there may be recorded views."""
    while True:
        record = tensor._record
        if record is not None and not record.is_freed:
            return True
        holder = tensor._root if tensor._twin is None else assigning.twin_of(tensor)
        if holder is None:
            return False
        if holder._is_leaf_with_grad and not tensor._lazy.is_in_memory_of(holder._lazy):
            return True
        tensor = holder


# Computes the wanted tensors, and all others that live and were not computed: by the program of the
# trace's state, where there is one (bindings/materializing.cpp), else as follows.
materialize = _core.materialize
wanted_places = _core.wanted_places


def materialize_slowly(wanted: Any, with_gradients: bool) -> None:
    """Computes the wanted tensors, and others, with nodes."""
    steps.check_not_capturing("it asks for values")
    steps.current().build()
    try:
        _materialize_now(wanted, with_gradients)
    finally:
        steps.restart()


def set_values(trace: Any, numbers: tuple[int, ...], values: list[Any]) -> None:
    """Gives the results at places their values, and views of them what they see."""
    _core.set_values(trace, numbers, values)
    set_views(trace)


def set_views(trace: Any) -> None:
    """Gives views of results that have their values what they see."""
    tensors = trace.tensors
    for first, state in trace.entries:
        if not state.is_view:
            continue
        for i in range(len(state.results)):
            tensor = tensors[first + i]()
            if tensor is not None and not tensor._has_lazy:
                made = trace.seen(state)
                tensor._lazy, tensor._like, tensor._trace = made[i], None, None


def world() -> dict[str, Any]:
    """What the bindings need of this file, by name."""
    return {
        "recent": _recent, "gradients": _gradients, "enter": enter,
        "materialize": materialize_slowly, "set_views": set_views,
    }  # fmt: skip


def _materialize_now(wanted: Any, with_gradients: bool) -> None:
    tensors = {id(tensor): tensor for tensor in wanted}
    for ref in _recent + _gradients if with_gradients else _recent:
        tensor = ref()
        if tensor is not None:
            tensors[id(tensor)] = tensor
    _recent.clear()
    _gradients.clear()
    places: dict[Any, Any] = {}
    leaves = []  # in other tensors' memory
    for tensor in tensors.values():
        lazy = tensor._lazy
        if tensor._is_leaf_with_grad and not lazy.is_plain:
            if lazy.is_alone:  # nobody else sees the memory any more
                strides, lazy = steps.strides_of(lazy), lazy.copied()
                lazy = tensor._lazy = lazy if strides is None else _core.laid_out(lazy, strides)
                tensor._twin = None
            else:
                leaves.append(lazy)
        keeps_graph = _keeps_graph(tensor)
        target = lazy if keeps_graph else lazy.memory()
        tensor._is_pending = False
        if target.node.is_constant or (keeps_graph and target.is_known):
            continue
        places.setdefault((id(target), keeps_graph), target)
    if places:
        values = _core.materialized(list(places.values()), _usual_options())
        for ((_, keeps_graph), target), value in zip(places.items(), values):
            if not keeps_graph:
                target.replaced(value)
    for leaf in leaves:
        leaf.forget_origin()


def values_of(tensor: Any) -> Any:
    """An ndarray of the values, computed now if they were not; not to be written."""
    if not _has_values(tensor):
        materialize(tensor)
    return tensor._lazy.evaluated()


def known_values_of(tensor: Any) -> Any:
    """An ndarray of the values where they are in the processor's memory already, else None: a check
    of them computes nothing and works in captured functions, too."""
    if not _has_values(tensor) or tensor.device.type != "cpu":
        return None
    return np.asarray(tensor._lazy.evaluated())


def _has_values(tensor: Any) -> bool:
    return tensor._has_lazy and (tensor._lazy.is_known or sees_values(tensor))


def sees_values(tensor: Any) -> bool:
    """Whether the memory that the tensor sees has its values: a view of it needs nothing else."""
    return tensor._lazy.memory().node.is_constant
