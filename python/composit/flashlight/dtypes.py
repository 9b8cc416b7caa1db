"""torch's dtypes as NumPy's."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from composit._core import dtype_of, not_supported

_names = (
    "bool", "uint8", "uint16", "uint32", "uint64", "int8", "int16", "int32", "int64", "float16",
    "bfloat16", "float32", "float64", "complex64", "complex128",
)  # fmt: skip
_of_torch = {getattr(torch, name): name for name in _names if hasattr(torch, name)}
_of_numpy = {name: dtype for dtype, name in _of_torch.items()}


def numpy_dtype(dtype: torch.dtype) -> Any:
    """NumPy's dtype for one of torch's; NotImplementedError for those that composit lacks."""
    name = _of_torch.get(dtype)
    if name is None:
        raise not_supported(f"flashlight: {dtype} is not supported.")
    return dtype_of(name)


def torch_dtype(dtype: Any) -> torch.dtype:
    """torch's dtype for one of NumPy's."""
    return _of_numpy[np.dtype(dtype).name]
