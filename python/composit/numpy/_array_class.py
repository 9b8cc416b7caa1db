"""np.ndarray: a class, whose instances are tensors and NumPy's arrays.

It is made of NumPy's, so that annotations and subclasses are what they are there: instances of a
subclass are NumPy's arrays, which hold values.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import composit._core as _core
from composit._core import LazyScalar, LazyTensor, with_location
from composit.numpy import _arguments
from composit.numpy.creation import _shape

_c = _core.numpy


class _ArrayClass(type):
    """Tensors are instances, but for scalars; what is called makes a tensor."""

    def __instancecheck__(cls, value: Any) -> bool:
        if cls is not ndarray:
            return type.__instancecheck__(cls, value)
        is_tensor = isinstance(value, LazyTensor) and not isinstance(value, LazyScalar)
        return is_tensor or isinstance(value, np.ndarray)

    def __subclasscheck__(cls, other: type) -> bool:
        if cls is not ndarray:
            return type.__subclasscheck__(cls, other)
        return issubclass(other, np.ndarray) or (
            issubclass(other, LazyTensor) and not issubclass(other, LazyScalar)
        )

    # type(x) == np.ndarray holds for tensors and NumPy's arrays. There is one hash only: tensors'.
    def __eq__(cls, other: object) -> bool:
        return cls is other or (cls is ndarray and other in (LazyTensor, np.ndarray))

    def __hash__(cls) -> int:
        return hash(LazyTensor) if cls is ndarray else type.__hash__(cls)

    def __call__(cls, *args: Any, **options: Any) -> Any:
        made = _made if cls is ndarray else super().__call__
        return made(*args, **options)

    def __getattribute__(cls, name: str) -> Any:
        found = super().__getattribute__(name)
        if cls is ndarray and not name.startswith("__") and hasattr(LazyTensor, name):
            return _of_both(name, found)
        return found


def _of_both(name: str, numpys: Any) -> Any:
    """np.ndarray.sum(x) for tensors and NumPy's arrays."""
    ours = getattr(LazyTensor, name)
    if not callable(ours) or not callable(numpys):
        return numpys

    def method(self: Any, *args: Any, **options: Any) -> Any:
        return (ours if isinstance(self, LazyTensor) else numpys)(self, *args, **options)

    method.__name__, method.__doc__ = name, numpys.__doc__
    return method


class ndarray(np.ndarray, metaclass=_ArrayClass):
    """ndarray(shape, dtype=float, buffer=None, offset=0, strides=None, order=None, *, name=None)

    A tensor of zeros, or with the values that a buffer's memory has now.
    """

    __module__ = "composit.numpy"


def _made(
    shape: Any, dtype: Any = float, buffer: Any = None, offset: int = 0, strides: Any = None,
    order: Any = None, *, name: str | None = None,
) -> LazyTensor:  # fmt: skip
    _c.check_creation("ndarray", order)
    if buffer is not None:
        try:
            array: Any = np.ndarray(_shape(shape), dtype, buffer, offset, strides, order)
        except (TypeError, ValueError, BufferError) as error:
            raise type(error)(with_location(f"ndarray: {error}")) from None
        return _core.constant(_c.converted(array, None), name or "", True)
    if strides is not None:
        _arguments.refuse("ndarray", strides=strides)
    return _c.zeros(_shape(shape), dtype, name or "")
