"""What users give as data: numbers, lists of them, arrays and tensors."""

from __future__ import annotations

from typing import Any

import numpy as np

import composit._core as _core
from composit import numpy as cnp
from composit._core import LazyTensor, type_error, value_error
from composit._floating_point import in_default_state
from composit.flashlight.operators.promotion import result_dtype
from composit.torch import dtypes, materializing
from composit.torch.calling import TensorBase


@in_default_state
def array_of(data: Any, dtype: Any = None) -> Any:
    """The NumPy array of what a user gives as data, in the dtype torch chooses."""
    if isinstance(data, TensorBase):
        array = materializing.values_of(data)
    elif isinstance(data, LazyTensor):
        array = data.evaluated()
    elif isinstance(data, (np.ndarray, np.generic)):
        array = np.asarray(data)
    else:
        array = _of_numbers(data, dtype)
    return array if dtype is None else array.astype(dtypes.numpy_dtype(dtype))


def _of_numbers(data: Any, dtype: Any) -> Any:
    """The array of a number or of nested lists. Tensors of one element count as numbers in them,
    NumPy's arrays as lists; both have their own dtypes, unlike Python's numbers."""
    given: set[Any] = set()
    data = _plain(data, given, dtype)
    try:
        array = np.asarray(data)
    except ValueError as error:
        text = _uneven(data) or f"tensor: {error}"
        raise value_error(text) from None
    if array.dtype.kind in "OSU":
        raise type_error(f"tensor: {data!r} holds what is no number. Numbers are required.")
    if dtype is not None:
        return array
    of_python = {np.dtype(kind) for kind in given if not isinstance(kind, np.dtype)}
    found = [kind for kind in given if isinstance(kind, np.dtype)]
    if not found:
        return array.astype(dtypes.from_numbers(array))
    found += [dtypes.from_numbers(np.empty(0, kind)) for kind in of_python]
    return array.astype(result_dtype(*(cnp.empty((1,), kind) for kind in found)))


_NUMBERS = {bool, int, float, complex}


_MOST_DIMENSIONS = 128  # PyTorch's


def _plain(data: Any, given: set[Any], dtype: Any, depth: int = 0) -> Any:
    """Nested lists with numbers in place of tensors. Adds to `given` the dtypes of tensors and
    arrays, and the classes of Python's numbers. ValueError for lists within more lists than there
    are dimensions, as those that hold themselves."""
    if isinstance(data, (list, tuple)):
        if depth == _MOST_DIMENSIONS:
            raise value_error(f"too many dimensions '{type(data).__name__}'")
        kinds = set(map(type, data))
        if kinds <= _NUMBERS:
            given |= kinds
            return list(data)
        return [_plain(item, given, dtype, depth + 1) for item in data]
    if isinstance(data, TensorBase):
        tensor: Any = data
        if tensor.numel() != 1:
            raise value_error("only one element tensors can be converted to Python scalars")
        values = materializing.values_of(tensor)
        is_of_integers = dtype is not None and dtypes.numpy_dtype(dtype).kind in "iu"
        if is_of_integers and values.dtype.kind not in "biu":
            raise type_error(
                "only integer tensors of a single element can be converted to an index"
            )
        given.add(values.dtype)
        return values.item()
    if isinstance(data, (np.ndarray, np.generic, LazyTensor)):
        given.add(data.dtype)
    else:
        given.update(kind for kind in _NUMBERS if isinstance(data, kind))
    return data


def _uneven(data: Any, dim: int = 0) -> str | None:
    """What PyTorch says of lists whose lengths differ, if it is that."""
    if not isinstance(data, list) or not data or not isinstance(data[0], list):
        return None
    length = len(data[0])
    for item in data:
        if isinstance(item, list) and len(item) != length:
            return f"expected sequence of length {length} at dim {dim + 1} (got {len(item)})"
    return next((text for item in data if (text := _uneven(item, dim + 1))), None)


def constant(array: Any) -> LazyTensor:
    """A leaf of an array's values, copied."""
    return _core.constant(array)
