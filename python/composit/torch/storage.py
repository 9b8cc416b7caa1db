"""torch.storage: the memory that a tensor lies in. It is known by its size and by a number that two
tensors have in common which share memory; bytes are read and written through tensors."""

from __future__ import annotations

from typing import Any

import composit._core as _core
from composit._core import not_implemented
from composit.torch.dtypes import device, dtype

__all__ = ["TypedStorage", "UntypedStorage"]


class UntypedStorage:
    """The memory of a tensor, as bytes."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if len(args) != 1 or not hasattr(args[0], "_lazy"):
            raise not_implemented(
                "UntypedStorage: memory without a tensor is not built. torch.empty is required."
            )
        self._tensor = args[0]

    def data_ptr(self) -> int:
        """A number that tensors in one memory have in common, as long as it is there. Nothing can
        be read at that address."""
        return _core.memory_of(self._tensor._lazy)[0]

    def nbytes(self) -> int:
        """Its bytes."""
        return _core.memory_of(self._tensor._lazy)[2]

    size = nbytes

    def __len__(self) -> int:
        return self.nbytes()

    def element_size(self) -> int:
        """1"""
        return 1

    @property
    def device(self) -> device:
        """Where it lies."""
        return self._tensor.device

    @property
    def is_cuda(self) -> bool:
        """Whether it lies on a CUDA device."""
        return self.device.type == "cuda"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, UntypedStorage) and self.data_ptr() == other.data_ptr()

    def __hash__(self) -> int:
        return hash(self.data_ptr())

    def __repr__(self) -> str:
        return f"[torch.storage.UntypedStorage(device={self.device}) of size {self.nbytes()}]"


class TypedStorage:
    """The memory of a tensor, as elements of its dtype."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self._untyped = UntypedStorage(*args)
        self._width = args[0].element_size()
        self.dtype: dtype = args[0].dtype

    def untyped(self) -> UntypedStorage:
        """The same as bytes."""
        return self._untyped

    def data_ptr(self) -> int:
        """As UntypedStorage's."""
        return self._untyped.data_ptr()

    def element_size(self) -> int:
        """The bytes of an element."""
        return self._width

    def nbytes(self) -> int:
        """Its bytes."""
        return self._untyped.nbytes()

    def size(self) -> int:
        """Its elements."""
        return self.nbytes() // self._width

    def __len__(self) -> int:
        return self.size()

    @property
    def device(self) -> device:
        """Where it lies."""
        return self._untyped.device

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TypedStorage) and self._untyped == other._untyped

    def __hash__(self) -> int:
        return hash(self._untyped)
