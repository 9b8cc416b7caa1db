"""Products of matrices and tensors."""

from __future__ import annotations

from typing import Any

import composit._core as _core
from composit._core import LazyTensor, value_error
from composit.numpy import _arguments
from composit.numpy._outputs import write_out
from composit.numpy.creation import asarray

_c = _core.numpy


def matmul(
    x1: Any, x2: Any, /, out: Any = None, *, axes: Any = None, casting: str = "same_kind",
    order: Any = "K", dtype: Any = None, subok: Any = True,
) -> LazyTensor:  # fmt: skip
    """Matrix product over the last two axes, or those that axes= names; the others broadcast."""
    return _c.product("matmul", x1, x2, axes, -1, False, out, casting, order, dtype, subok)


def dot(a: Any, b: Any, out: Any = None) -> LazyTensor:
    """Sum over the last axis of a and the last but one of b."""
    return _exactly("dot", _c.dot(asarray(a), asarray(b)), out)


def _exactly(function: str, result: LazyTensor, out: Any) -> Any:
    """The result written over an `out` of its own dtype and shape."""
    if hasattr(out, "dtype") and (out.dtype, out.shape) != (result.dtype, result.shape):
        raise value_error(
            f"{function}: out is {out.dtype} of shape {out.shape}. {result.dtype} of shape "
            f"{result.shape} is required."
        )
    return write_out(function, result, out)


def inner(a: Any, b: Any, /) -> LazyTensor:
    """Sum over the last axes of both."""
    return _c.inner(a, b)


def outer(a: Any, b: Any, out: Any = None) -> LazyTensor:
    """Products of all pairs of the flattened operands."""
    return write_out("outer", _c.outer(a, b), out, widens=True)


def vdot(a: Any, b: Any, /) -> LazyTensor:
    """Sum of conj(a) * b over the flattened operands."""
    return _c.vdot(a, b)


def tensordot(a: Any, b: Any, axes: Any = 2) -> LazyTensor:
    """Sum over the last `axes` axes of a and the first of b, or over listed pairs."""
    return _c.tensordot(a, b, axes)


def einsum(
    *operands: Any, out: Any = None, optimize: Any = False, dtype: Any = None, order: str = "K",
    casting: str = "safe",
) -> LazyTensor:  # fmt: skip
    """Einstein's summation: einsum("ij,jk->ik", a, b). Where nothing is summed or multiplied
    ("ii->i") the result is a view."""
    return _c.einsum(operands, out, dtype)


def diagonal(a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> LazyTensor:
    """The elements at equal positions of two axes, as the last axis: a view that nobody writes."""
    if isinstance(a, LazyTensor):
        return _c.diagonal_of(a, offset, axis1, axis2)
    return _c.diagonal(a, offset, axis1, axis2)


def trace(
    a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: Any = None, out: Any = None
) -> LazyTensor:
    """Sum of a diagonal."""
    _arguments.check_known(dtype)
    if dtype is not None:
        _c.trace(a, offset, axis1, axis2)  # NumPy's errors of shapes come before those of dtypes
        a = _c.astype(a, dtype)
    return write_out("trace", _c.trace(a, offset, axis1, axis2), out)


def diag(v: Any, k: int = 0) -> LazyTensor:
    """The matrix with v on its k-th diagonal, or the k-th diagonal of a matrix, as `diagonal`."""
    if isinstance(v, LazyTensor) and v.ndim == 2:
        return _c.diagonal_of(v, k, 0, 1)
    return _c.diag(v, k)
