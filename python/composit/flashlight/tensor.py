"""flashlight.Tensor: a torch.Tensor whose elements are a LazyTensor."""

from __future__ import annotations

from typing import Any

import torch
from torch.utils._python_dispatch import _disable_current_modes

from composit._core import LazyTensor
from composit.flashlight.active import current
from composit.flashlight.places import tensors_in


class Tensor(torch.Tensor):
    """A value of a trace. It has torch's meaning, dtype, shape and strides; its elements are the
    LazyTensor `lazy_tensor`, or, for what depends on no input, a constant that torch computed."""

    _tracer: Any
    _elements: LazyTensor | None  # the memory that torch gives it in the trace, or a view of that
    _real: torch.Tensor | None
    _depth: int  # how many scopes deep the memory was made
    _is_detached: bool  # made under torch.no_grad() in a trace with gradients
    _twin: torch.Tensor  # on torch's device "meta": shape, strides, and what shares memory

    @staticmethod
    def __new__(
        cls: type,
        tracer: Any,
        twin: torch.Tensor,
        elements: LazyTensor | None,
        real: Any = None,
        depth: int = 0,
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
        self._tracer, self._twin = tracer, twin
        self._elements, self._real, self._depth = elements, real, depth
        self._is_detached = tracer.has_gradients and not torch.is_grad_enabled()
        return self

    __torch_function__ = torch._C._disabled_torch_function_impl  # type: ignore[assignment]

    @classmethod
    def __torch_dispatch__(  # type: ignore[override]
        cls, func: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        """Called by torch for operators with a traced operand, in and after the trace."""
        return tracer_of(args, kwargs).run(func, args, kwargs or {})

    @property
    def lazy_tensor(self) -> LazyTensor:
        """The elements as composit sees them."""
        with _disable_current_modes():
            return self._tracer.read(self).copied()

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


def tracer_of(args: Any, kwargs: Any) -> Any:
    """The tracer of this thread, or else that of a tensor among the arguments."""
    found = current()
    if found is not None:
        return found
    for tensor in tensors_in((args, kwargs or {})):
        if isinstance(tensor, Tensor):
            return tensor._tracer
    raise AssertionError("no traced operand")


def is_lazy(value: Any) -> bool:
    """Whether it is a result of a trace that did not run torch: a value of the graph alone."""
    return isinstance(value, Tensor) and not value._tracer.run_torch
