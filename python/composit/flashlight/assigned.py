"""`parameter.data = value` in a trace: while it lasts, the parameter stands for the value;
afterwards it is what it was.

torch would give the parameter the memory of the value, and a value of a trace has none. So the
attribute `data` of torch's tensors is watched while any thread traces; on other threads, and for
what has nothing to do with a trace, it does what it did.
"""

from __future__ import annotations

from typing import Any

import torch
from torch.utils._python_dispatch import _disable_current_modes

from composit.flashlight.active import current
from composit.flashlight.places import mapped
from composit.flashlight.refusals import refuse
from composit.flashlight.tensor import Tensor
from composit.flashlight.while_traced import WhileTraced

_plain: Any = torch._C.TensorBase.data  # type: ignore[attr-defined]


class Data:
    """What the tensors from before a trace were given as their data in it."""

    def __init__(self, tracer: Any) -> None:
        self._tracer = tracer
        self._given: dict[int, Any] = {}
        self._held: list[torch.Tensor] = []  # so that ids stay theirs

    def now(self, value: Any) -> Any:
        """What tensors stand for, in nested lists, tuples and dictionaries."""
        if not self._given:
            return value
        return mapped(value, lambda x: self._given.get(id(x), x))

    def assign(self, tensor: torch.Tensor, value: torch.Tensor) -> None:
        """tensor.data = value. NotImplementedError where the shape or dtype would be another, which
        the tensor shows and a trace leaves as it is, and where a gradient by it is wanted, which
        would be one by what it is outside."""
        if value is tensor or self._is_alias(tensor, value):
            return
        was, new = _kind(tensor), _kind(value)
        if was != new:
            refuse(
                self._tracer,
                "data",
                f"a tensor of {was[0]}{list(was[1])} is given data of {new[0]}{list(new[1])}. Its "
                "own dtype and shape are required: modules are cast before the trace.",
            )
        if tensor.requires_grad and torch.is_grad_enabled():
            refuse(
                self._tracer,
                "data",
                "a tensor that requires a gradient is given other data, and its gradient would be "
                "that of what it is after the trace. torch.no_grad() around it, or a tensor of "
                "the new values, is required.",
            )
        self._held.append(tensor)
        self._given[id(tensor)] = self.now(value).detach()

    def _is_alias(self, tensor: torch.Tensor, value: torch.Tensor) -> bool:
        """Whether the value is the tensor's own memory, as that of x.cpu() and x.data is."""
        if _kind(tensor) != _kind(value) or tensor.stride() != value.stride():
            return False
        with _disable_current_modes():
            mine, other = (self._tracer.twin(self.now(x)) for x in (tensor, value))
            is_shared = mine.untyped_storage()._cdata == other.untyped_storage()._cdata
            return is_shared and mine.storage_offset() == other.storage_offset()


def _kind(tensor: torch.Tensor) -> tuple[Any, tuple[int, ...]]:
    return tensor.dtype, tuple(tensor.shape)


def _read(tensor: torch.Tensor) -> Any:
    tracer = current()
    known = tensor if tracer is None else tracer.data.now(tensor)
    return _plain.__get__(tensor) if known is tensor else known.detach()


def _write(tensor: torch.Tensor, value: Any) -> None:
    tracer = current()
    is_traced = isinstance(value, Tensor) or isinstance(tensor, Tensor)
    if tracer is None and not is_traced:
        _plain.__set__(tensor, value)
    elif tracer is None:
        raise TypeError(
            "data: a value of a trace has no memory, which a tensor outside of it needs. "
            "torch.from_numpy(composit.evaluate(value)) has."
        )
    else:
        tracer.data.assign(tensor, value)


def _begin(is_first: bool) -> None:
    if is_first:
        torch.Tensor.data = property(_read, _write)  # type: ignore[assignment]


def _end() -> None:
    del torch.Tensor.data


# While it lasts, traces see what is assigned to `data`.
watching = WhileTraced(_begin, _end)
