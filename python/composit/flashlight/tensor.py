"""flashlight.Tensor: a torch.Tensor whose elements are a LazyTensor, and where they are kept."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch.utils._python_dispatch import _disable_current_modes

from composit import numpy as cnp
from composit._core import LazyScalar, LazyTensor, NotSupported, with_location

Get = Callable[[LazyTensor], LazyTensor]


class Cell:
    """What a memory of torch's holds in the trace; writing replaces it."""

    __slots__ = ("depth", "value", "version")

    def __init__(self, value: LazyTensor, depth: int = 0) -> None:
        self.value, self.version = value, 0
        self.depth = depth  # of the scope that it was made in: how many are around it

    def replace(self, value: LazyTensor) -> None:
        """What is read from here from now on."""
        self.value, self.version = value, self.version + 1


class Place:
    """A view of a cell: what is seen of its value through the functions `gets`, one behind the
    other. Reading it after the cell was written reads the new value; writing it writes the cell."""

    __slots__ = ("_seen", "_version", "cell", "gets")

    def __init__(self, cell: Cell, gets: tuple[Get, ...] = (), seen: Any = None) -> None:
        self.cell, self.gets = cell, gets
        self._seen, self._version = seen, cell.version if seen is not None else -1

    def read(self) -> LazyTensor:
        """The elements as they are now."""
        if not self.gets:
            return self.cell.value
        if self._version != self.cell.version:
            self._seen = self.cell.value
            for get in self.gets:
                self._seen = get(self._seen)
            self._version = self.cell.version
        return self._seen

    def write(self, new: LazyTensor) -> None:
        """Replaces the elements; `new` has their shape and dtype."""
        self.cell.replace(written(self.cell.value, self.gets, new))

    def view(self, get: Get, seen: LazyTensor | None = None) -> Place:
        """What is seen of this place through one more function, where known with its value."""
        return Place(self.cell, (*self.gets, get), seen)


def written(base: LazyTensor, gets: tuple[Get, ...], new: LazyTensor) -> LazyTensor:
    """The base after what is seen of it through `gets` was replaced by `new`."""
    if not gets:
        return new
    if any(getattr(get, "is_readable_only", False) for get in gets):
        raise NotSupported(with_location("flashlight: a view of parts of elements is written."))
    copy = seen = base.copied()
    for get in gets:
        seen = get(seen)
    if not isinstance(seen, LazyScalar):
        seen[...] = new  # composit's own views write through to what they were made of
        if copy.node != base.node:
            return copy
    numbers = cnp.reshape(cnp.arange(base.size), base.shape)  # each element's, as the view sees it
    for get in gets:
        numbers = get(numbers)
    flat = cnp.reshape(base, (-1,)).copied()
    flat[numbers] = new
    return cnp.reshape(flat, base.shape)


class Tensor(torch.Tensor):
    """A value of a trace. It has torch's meaning, dtype, shape and strides; its elements are the
    LazyTensor `lazy_tensor`, or, for what depends on no input, a constant that torch computed."""

    _tracer: Any
    _place: Place | None
    _real: torch.Tensor | None
    _is_detached: bool  # made under torch.no_grad() in a trace with gradients
    _twin: torch.Tensor  # on torch's device "meta": shape, strides, and what shares memory

    @staticmethod
    def __new__(
        cls: type, tracer: Any, twin: torch.Tensor, place: Place | None, real: Any = None
    ) -> Tensor:
        """Made by the tracer."""
        self: Any = torch.Tensor._make_wrapper_subclass(
            cls,
            twin.shape,
            strides=twin.stride(),
            storage_offset=twin.storage_offset(),
            dtype=twin.dtype,
            device=torch.device("cpu"),
        )
        self._tracer, self._twin, self._place, self._real = tracer, twin, place, real
        self._is_detached = tracer.has_gradients and not torch.is_grad_enabled()
        return self

    __torch_function__ = torch._C._disabled_torch_function_impl  # type: ignore[assignment]

    @classmethod
    def __torch_dispatch__(  # type: ignore[override]
        cls, func: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        """Called by torch for operators with a traced operand, in and after the trace."""
        from composit.flashlight.tracer import tracer_of

        return tracer_of(args, kwargs).run(func, args, kwargs or {})

    @property
    def lazy_tensor(self) -> LazyTensor:
        """The elements as composit sees them."""
        with _disable_current_modes():
            return self._tracer.read(self)

    @property
    def graph(self) -> Any:
        """The graph that computes the elements."""
        return self.lazy_tensor.graph

    def numpy(self, *, force: bool = False) -> Any:
        """The elements of a constant; others are refused, as nothing is computed in a trace."""
        with _disable_current_modes():
            return self._tracer.value_of(self, "numpy").numpy(force=force)

    def tolist(self) -> Any:
        """The elements of a constant; others are refused."""
        with _disable_current_modes():
            return self._tracer.value_of(self, "tolist").tolist()

    def backward(self, *args: Any, **options: Any) -> None:
        """Refused: composit.nn.chain_rule gives gradients of what was traced."""
        self._tracer.refuse_backward()

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        values = self.numpy()
        return values if dtype is None else values.astype(dtype)

    def __repr__(self, **_: Any) -> str:  # type: ignore[override]
        kind = "constant" if self._real is not None else self.lazy_tensor.node.name
        return f"flashlight.Tensor({kind}: {self.dtype}{list(self.shape)})"

    def __deepcopy__(self, memo: Any) -> Tensor:
        return self.clone()  # type: ignore[return-value]
