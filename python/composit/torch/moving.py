"""Tensors from one device to another, and operands of an operation that lie on several."""

from __future__ import annotations

from typing import Any

import composit._core as _core
from composit import structure
from composit._core import runtime_error
from composit.torch import calling, materializing, places, steps
from composit.torch.calling import TensorBase, is_recorded
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


def _all_of(value: Any) -> list[Any]:
    return structure.leaves(value, TensorBase)


def _with_moved(value: Any, place: str, is_any: bool) -> Any:
    return structure.mapped(
        value, lambda x: moved(x, place) if is_any or not x._seen.ndim else x, TensorBase
    )


def on_one_device(
    error: RuntimeError, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """The arguments of an operation that was refused for several devices, where PyTorch moves some:
    tensors of the CPU without dimensions, and those that say places. RuntimeError where not; None
    where the tensors are not at fault."""
    if not places.is_mixing(error):
        return None
    is_indexing = function in _indexing
    if function is set_item and not _all_of(args[1]) and len(args) > 2:  # it copies, as copy_ does
        args = (*args[:2], _with_moved(args[2], places.place_of(args[0]), True))
        return args, kwargs
    tensors = [x for x in _all_of((args, kwargs)) if x._seen.ndim or places.place_of(x) != "cpu"]
    if is_indexing:
        at = {id(x) for x in _all_of(args[1])}
        wanted = places.place_of(args[0])
        for x in tensors:
            if id(x) in at and places.place_of(x) not in ("cpu", wanted):
                raise runtime_error(
                    "indices should be either on cpu or on the same device as the indexed "
                    f"tensor ({wanted})"
                )
        tensors = [x for x in tensors if id(x) not in at]
    found = list(dict.fromkeys(places.place_of(x) for x in tensors))
    if len(found) > 1:
        first, second, *_ = sorted(found, key=lambda place: place == "cpu")
        raise runtime_error(
            "Expected all tensors to be on the same device, but found at least two devices, "
            f"{first} and {second}!"
        ) from None
    if not found or all(places.place_of(x) == found[0] for x in _all_of((args, kwargs))):
        return None
    place = found[0]
    if is_indexing:
        args = (args[0], _with_moved(args[1], place, True), *args[2:])
    moved_args = tuple(_with_moved(value, place, False) for value in args)
    return moved_args, {name: _with_moved(value, place, False) for name, value in kwargs.items()}


_core.provide("on_one_device", on_one_device)
