"""What users give as data: numbers, lists of them, arrays and tensors."""

from __future__ import annotations

from typing import Any

import numpy as np

import composit._core as _core
from composit._core import LazyTensor, with_location
from composit._floating_point import in_default_state
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
        data = _plain(data)
        try:
            array = np.asarray(data)
        except ValueError as error:
            raise ValueError(with_location(f"tensor: {error}")) from None
        if array.dtype.kind in "OSU":
            raise TypeError(
                with_location(f"tensor: {data!r} holds what is no number. Numbers are required.")
            )
        if dtype is None:
            array = array.astype(dtypes.from_numbers(array))
    return array if dtype is None else array.astype(dtypes.numpy_dtype(dtype))


def _plain(data: Any) -> Any:
    """Lists with tensors in them as lists of numbers."""
    if isinstance(data, TensorBase):
        return materializing.values_of(data).tolist()
    if isinstance(data, (list, tuple)):
        return [_plain(item) for item in data]
    return data


def constant(array: Any) -> LazyTensor:
    """A leaf of an array's values, copied."""
    return _core.constant(np.array(array, order="C"), "", False)
