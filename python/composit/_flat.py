"""x.flat: the elements in row-major order, under one index, which write through to the tensor."""

from __future__ import annotations

import operator
from typing import Any

import composit._core as _core
from composit._core import LazyTensor, index_error, value_error


class FlatIterator:
    """What x.flat is: an iterator, and the flattened tensor where it is indexed."""

    __array_priority__ = 1000

    def __init__(self, base: LazyTensor) -> None:
        self._base, self._position = base, 0

    @property
    def base(self) -> LazyTensor:
        """The tensor."""
        return self._base

    @property
    def index(self) -> int:
        """The position of the next element."""
        return self._position

    @property
    def coords(self) -> tuple[int, ...]:
        """The index of the next element."""
        return _core.numpy.coordinates_of(self._base.shape, self._position)

    @property
    def lazy_tensor(self) -> LazyTensor:
        """The elements as one dimension, a view."""
        if self._base.is_contiguous_in(False):
            return self._base.ravel()
        return _core.numpy.flat_of(self._base)

    def copy(self) -> LazyTensor:
        """The elements as one dimension."""
        return self._base.flatten()

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return self.lazy_tensor.__array__(dtype)

    def __len__(self) -> int:
        return self._base.size

    def __iter__(self) -> FlatIterator:
        return self

    def __next__(self) -> LazyTensor:
        if self._position >= self._base.size:
            raise StopIteration
        self._position += 1
        return self.lazy_tensor[self._position - 1]

    def __getitem__(self, index: Any) -> LazyTensor:
        self._position = 0
        key = _core.numpy.flat_key(index, len(self))
        return self.copy() if key is ... else self.lazy_tensor[key].copied()

    def __setitem__(self, index: Any, value: Any) -> None:
        self._position = 0
        if isinstance(index, tuple) and not index:
            raise index_error("Assigning to a flat iterator with a 0-D index is not supported.")
        view = self.lazy_tensor
        key = _core.numpy.flat_key(index, len(self))
        places = view[key]
        if isinstance(key, int) and getattr(value, "ndim", 0) + isinstance(value, (list, tuple)):
            raise value_error("Error setting single item of array: one is required.")
        if places.size:
            try:
                view[key] = self._spread(value, places)
            except OverflowError:
                if not isinstance(key, int):
                    raise
                message = "Error setting single item of array: the number is out of bounds."
                raise value_error(message) from None

    def _spread(self, value: Any, places: LazyTensor) -> Any:
        """The values, again and again, as many as there are places."""
        from composit.numpy import asarray, resize

        values = asarray(value, self._base.dtype).ravel()
        return resize(values, places.shape) if values.size else values


def _compared(name: str) -> Any:
    def method(self: FlatIterator, other: Any) -> LazyTensor:
        return getattr(operator, name)(self.lazy_tensor, other)

    return method


for _name in ("eq", "ne", "lt", "le", "gt", "ge"):
    setattr(FlatIterator, f"__{_name}__", _compared(_name))
FlatIterator.__hash__ = object.__hash__  # type: ignore[method-assign]
