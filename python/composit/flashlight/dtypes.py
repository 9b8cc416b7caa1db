"""torch's dtypes as NumPy's."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from composit._core import dtype_of, dtype_table, not_supported

_names = [traits.name for traits in dtype_table()]
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
