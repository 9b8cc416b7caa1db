"""Typed constructors: torch.LongTensor, torch.FloatTensor and others, which are also asked about
with isinstance."""

from __future__ import annotations

from typing import Any

from composit._core import type_error
from composit.torch import dtypes, places
from composit.torch.calling import TensorBase
from composit.torch.given import array_of, constant
from composit.torch.tensor import Tensor

names = {traits.scalar_type: traits.name for traits in dtypes.table if traits.has_tensor_class}


class _Typed(type):
    """The class of typed constructors."""

    dtype: dtypes.dtype

    def __instancecheck__(cls, value: Any) -> bool:
        return isinstance(value, Tensor) and value.dtype is cls.dtype

    def __call__(cls, *args: Any, device: Any = None) -> Any:
        """A tensor of zeros of these lengths, or of the numbers of a sequence or an array."""
        made = cls._made(*args)
        return places.put(made, places.present() if device is None else places.full_name(device))

    def _made(cls, *args: Any) -> Any:
        made = object.__new__(Tensor)
        first = args[0] if args else []
        if isinstance(first, dtypes.Size) or (args and all(type(n) is int for n in args)):
            from composit import numpy as cnp

            shape = tuple(first) if isinstance(first, dtypes.Size) else args
            made._lazy = cnp.zeros(shape, cls.dtype.numpy)
            return made
        if len(args) > 1:
            raise type_error(f"{cls.__name__}: lengths, or one sequence of numbers, are required.")
        if isinstance(first, TensorBase):
            tensor: Any = first
            if tensor.dtype is not cls.dtype:
                raise type_error(
                    f"expected {cls.__name__[:-6]} (got {tensor.dtype}). "
                    f".to({cls.dtype!r}) converts a tensor."
                )
            return tensor.detach()
        made._lazy = constant(array_of(first, cls.dtype))
        return made


_made: dict[str, Any] = {}


def of(name: str) -> Any:
    """The constructor of a name, as "LongTensor"."""
    if name not in _made:
        _made[name] = _Typed(name, (), {
            "dtype": dtypes.by_name[names[name.removesuffix("Tensor")]],
            "__module__": "composit.torch", "__doc__": f"Makes tensors of {names[name[:-6]]}.",
        })  # fmt: skip
    return _made[name]
