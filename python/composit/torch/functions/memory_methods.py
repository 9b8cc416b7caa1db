"""Methods that say which memory a tensor lies in, and what becomes of it."""

from __future__ import annotations

from typing import Any

import composit._core as _core
from composit._core import not_implemented, runtime_error
from composit.torch import calling, parts
from composit.torch.tape import no_grad


@calling.method
def data_ptr(self: Any) -> int:
    """A number that tensors have in common which share memory and begin at one element; 0
    without elements. Nothing can be read at that address."""
    base, offset, _ = _core.memory_of(self._lazy)
    return base + offset if self._seen.size else 0


calling.methods["const_data_ptr"] = data_ptr


@calling.method
def untyped_storage(self: Any) -> Any:
    """The memory that it lies in."""
    return parts.load("storage").UntypedStorage(self)


@calling.method
def storage(self: Any) -> Any:
    """The memory that it lies in, as elements of its dtype."""
    return parts.load("storage").TypedStorage(self)


@calling.method
def is_set_to(self: Any, tensor: Any) -> bool:
    """Whether both see the same elements of one memory."""
    is_same_place = self.data_ptr() == tensor.data_ptr()
    return is_same_place and (self.shape, self.stride()) == (tensor.shape, tensor.stride())


@calling.method
def record_stream(self: Any, s: Any) -> None:
    """Nothing: a device has one queue. RuntimeError for a tensor on the CPU."""
    if self.device.type == "cpu":
        raise runtime_error("record_stream: the tensor lies on the CPU. A device is required.")


@calling.method
def share_memory_(self: Any) -> Any:
    """NotImplementedError: memory is a process's own."""
    raise not_implemented(
        "share_memory_: memory that processes share is not built. Threads share tensors."
    )


def retains_grad(self: Any) -> bool:
    """Whether it keeps its gradient although it is no leaf."""
    return self._record is not None and self._record.retains_gradient_of(self)


@calling.method
def module_load(self: Any, other: Any, assign: bool = False) -> Any:
    """What load_state_dict makes of it: itself with other's values, or other."""
    if assign:
        return other.detach()
    with no_grad():
        return self.copy_(other)
