"""numpy.linalg, lazily: products, powers and norms of matrices, solutions and decompositions.

Leading axes are a batch of matrices.
"""

from __future__ import annotations

from typing import Any

from numpy.linalg import LinAlgError

from composit import _core
from composit._core import LazyTensor
from composit.numpy import linear
from composit.numpy._ufunc import write_out
from composit.numpy.creation import asarray

_c = _core.linalg

__all__ = [
    "LinAlgError", "cross", "diagonal", "matmul", "matrix_transpose", "multi_dot", "outer",
    "tensordot", "trace", "vecdot",
]  # fmt: skip


def cross(x1: Any, x2: Any, /, *, axis: int = -1) -> LazyTensor:
    """The cross product of vectors of three elements along an axis."""
    return _c.cross(x1, x2, axis)


def diagonal(x: Any, /, *, offset: int = 0) -> LazyTensor:
    """The diagonals of the matrices in the last two axes."""
    return _c.diagonal(x, offset)


def matmul(x1: Any, x2: Any, /) -> LazyTensor:
    """Matrix product over the last two axes, leading axes broadcast."""
    return linear.matmul(x1, x2)


def matrix_transpose(x: Any, /) -> LazyTensor:
    """The last two axes exchanged."""
    return _core.numpy.matrix_transpose(x)


def multi_dot(arrays: Any, *, out: Any = None) -> LazyTensor:
    """The product of several matrices, in the order that takes the fewest multiplications."""
    return write_out("multi_dot", _c.multi_dot(list(arrays)), out)


def outer(x1: Any, x2: Any, /) -> LazyTensor:
    """Products of all pairs of two vectors."""
    return _c.outer(x1, x2)


def tensordot(x1: Any, x2: Any, /, *, axes: Any = 2) -> LazyTensor:
    """Sum over the last `axes` axes of x1 and the first of x2, or over listed pairs."""
    return linear.tensordot(x1, x2, axes)


def trace(x: Any, /, *, offset: int = 0, dtype: Any = None) -> LazyTensor:
    """Sums of the diagonals of the last two axes."""
    return _c.trace(x, offset, dtype)


def vecdot(x1: Any, x2: Any, /, *, axis: int = -1) -> LazyTensor:
    """Products of vectors along an axis, summed; the first is conjugated."""
    return _c.vecdot(asarray(x1), asarray(x2), axis)
