"""PyTorch's functions and methods, as NumPy's that mean the same in kernels."""

from __future__ import annotations

from typing import Any

import numpy as np

import composit.numpy as cnp
from composit.knossos import functions
from composit.numpy._ufunc import Ufunc

_SAME = ("sum", "mean", "prod", "dot", "matmul", "where", "zeros_like", "ones_like", "empty_like",
         "stack", "hstack", "vstack", "outer", "einsum", "clip", "cumsum", "cumprod", "flip",
         "roll", "eye", "arange", "linspace", "trace", "zeros", "ones", "empty",
         "full")  # fmt: skip
_FUNCTIONS = {
    **{name: getattr(np, name) for name in _SAME}, "amax": np.max, "amin": np.min,
    "cat": np.concatenate, "concat": np.concatenate, "tensor": np.array, "clamp": np.clip,
    "t": np.transpose, **{f"linalg_{name}": getattr(np.linalg, name)
                          for name in ("solve", "inv", "det", "cholesky")},
}  # fmt: skip
# Beyond a limit PyTorch's is another function.
_OTHERS = ("softplus",)
_SHAPES = ("zeros", "ones", "empty")


def as_numpy(function: Any) -> Any:
    """The function that means the same; the function itself where none does, or none is needed."""
    if not _is_of_torch(function):
        return function
    name = getattr(function, "__name__", "").removeprefix("special_")
    return _FUNCTIONS.get(name) or _elementwise(name) or function


def _is_of_torch(function: Any) -> bool:
    return str(getattr(function, "__module__", None)).partition(".")[0] == "torch"


def _elementwise(name: str) -> Any:
    """composit's function of numbers of this name; None: there is none."""
    found = None if name in _OTHERS else getattr(cnp, name, None)
    return found if isinstance(found, Ufunc) else None


def elementwise_method(name: str) -> str:
    """What C++ calls a method of arrays that PyTorch has; "" for none."""
    found = _elementwise(name)
    return "" if found is None else functions.name_of(found)


def takes_extents(function: Any) -> bool:
    """Whether extents stand one by one, as in `torch.zeros(n, m)`."""
    return _is_of_torch(function) and function.__name__ in _SHAPES
