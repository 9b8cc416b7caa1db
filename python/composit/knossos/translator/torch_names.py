"""PyTorch's functions, methods and names of arguments, as NumPy's that mean the same in kernels."""

from __future__ import annotations

import ast
from typing import Any

import numpy as np

import composit.numpy as cnp
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
ARGUMENTS = {"dim": "axis", "keepdim": "keepdims"}
_SHAPES = ("zeros", "ones", "empty")


def as_numpy(function: Any) -> Any:
    """The function that means the same; the function itself where none does, or none is needed."""
    module = str(getattr(function, "__module__", None)).partition(".")[0]
    if module != "torch":
        return function
    name = getattr(function, "__name__", "").removeprefix("special_")
    return _FUNCTIONS.get(name) or elementwise(name) or function


def elementwise(name: str) -> Any:
    """composit's function of numbers of this name; None: there is none."""
    found = None if name in _OTHERS else getattr(cnp, name, None)
    return found if isinstance(found, Ufunc) else None


def with_shape(node: ast.Call, function: Any) -> ast.Call:
    """`torch.zeros(n, m)` as `zeros((n, m))`."""
    is_torch = str(getattr(function, "__module__", None)).partition(".")[0] == "torch"
    if not is_torch or function.__name__ not in _SHAPES or len(node.args) < 2:
        return node
    shape = ast.copy_location(ast.Tuple(node.args, ast.Load()), node)
    return ast.copy_location(ast.Call(node.func, [shape], node.keywords), node)
