"""When values are computed: what is alive and has none yet is computed together, once, when any
value is asked for or an optimiser steps. Their nodes keep the values. A tensor that is not recorded
then holds its value in place of its graph, so training loops do not grow."""

from __future__ import annotations

from typing import Any

import numpy as np

import composit._core as _core
from composit.evaluation import _usual_options
from composit.torch import steps

enter = _core.enter
enter_gradient = _core.enter_gradient
# Computes the wanted tensors, and all others that live and were not computed: by the program of the
# trace's state, where there is one (bindings/materializing.cpp), else as follows.
materialize = _core.materialize


def materialize_slowly(wanted: Any, with_gradients: bool) -> None:
    """Computes the wanted tensors, and others, with nodes."""
    steps.check_not_capturing("it asks for values")
    steps.current().build()
    try:
        _core.materialize_with_nodes(wanted, with_gradients, _usual_options())
    finally:
        steps.restart()


def world() -> dict[str, Any]:
    """What the bindings need of this file, by name."""
    return {"materialize": materialize_slowly}


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
