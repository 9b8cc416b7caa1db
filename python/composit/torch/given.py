"""What users give as data: numbers, lists of them, arrays and tensors."""

from __future__ import annotations

from typing import Any

import numpy as np

import composit._core as _core
from composit import numpy as cnp
from composit._core import LazyTensor
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
        array = _core.host_values(data) if hasattr(data, "__dlpack__") else None
        array = _of_numbers(data, dtype) if array is None else array
    return array if dtype is None else _core.aten.converted_array(array, dtypes.numpy_dtype(dtype))


def _of_numbers(data: Any, dtype: Any) -> Any:
    """The array of a number or of nested lists. Tensors of one element count as numbers in them,
    NumPy's arrays as lists; both have their own dtypes, unlike Python's numbers."""
    of_integers = dtype is not None and dtypes.numpy_dtype(dtype).kind in "iu"
    array, given = _core.array_of_data(data, of_integers)
    if dtype is not None:
        return array
    found = {kind for kind in given if isinstance(kind, np.dtype)}
    if not found:
        return array.astype(dtypes.from_numbers(array))
    found |= {dtypes.from_numbers(np.empty(0, kind)) for kind in given - found}
    return array.astype(result_dtype(*(cnp.empty((1,), kind) for kind in found)))


_core.provide("torch_values", materializing.values_of)


def constant(array: Any) -> LazyTensor:
    """A leaf of an array's values, copied."""
    return _core.constant(array)
