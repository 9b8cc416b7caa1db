"""Tensors from one device to another, and operands of an operation that lie on several."""

from __future__ import annotations

from typing import Any

import composit._core as _core
from composit.torch import calling, materializing, places, steps
from composit.torch.calling import is_recorded
from composit.torch.functions.indexing import get_item, index_put, set_item

_devices: Any = _core.devices


def moved(tensor: Any, place: str) -> Any:
    """The tensor on the device of that full name: itself where it lies there; else its values are
    copied at once. Of a recorded one gradients come back to where it lies."""
    if places.place_of(tensor) == place:
        return tensor
    if is_recorded(tensor) or not tensor._lazy.has_value():
        steps.interrupt()
        return calling.call_now(places.transfer, "to_copy", False, (tensor, place), {})
    steps.check_not_capturing("it copies values to another device")
    materializing.materialize(tensor)
    made = object.__new__(calling._made["Tensor"])
    made._lazy = _devices.copied(tensor._lazy, place)
    made._is_tainted = tensor._is_tainted
    return made


# Operations whose second operand says places, in tensors that may lie on the CPU.
_indexing = {get_item, set_item, index_put}


_core.provide("moved_to_device", moved)
_core.provide("indexing_functions", _indexing)
_core.provide("writing_function", set_item)
