"""numpy.linalg, lazily: products, powers and norms of matrices, solutions and decompositions.

Leading axes are a batch of matrices. Decompositions are LAPACK's, from the library that NumPy uses.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.linalg import LinAlgError, _umath_linalg

import composit._core as _core
from composit._core import LazyTensor, value_error
from composit._mismatch import wrong
from composit.numpy import _arguments, linear

_c = _core.linalg
_c.use_lapack(_umath_linalg.__file__ or "")

__all__ = [
    "EigResult", "EighResult", "LinAlgError", "QRResult", "SVDResult", "SlogdetResult",
    "cholesky", "cond", "cross", "det", "diagonal", "eig", "eigh", "eigvals", "eigvalsh", "inv",
    "lstsq", "matmul", "matrix_norm", "matrix_power", "matrix_rank", "matrix_transpose",
    "multi_dot", "norm", "outer", "pinv", "qr", "slogdet", "solve", "svd", "svdvals", "tensordot",
    "tensorinv", "tensorsolve", "trace", "vecdot", "vector_norm",
]  # fmt: skip


class EigResult(NamedTuple):
    """What eig returns."""

    eigenvalues: LazyTensor
    eigenvectors: LazyTensor


class EighResult(NamedTuple):
    """What eigh returns."""

    eigenvalues: LazyTensor
    eigenvectors: LazyTensor


class QRResult(NamedTuple):
    """What qr returns in its modes 'reduced' and 'complete'."""

    Q: LazyTensor
    R: LazyTensor


class SlogdetResult(NamedTuple):
    """What slogdet returns."""

    sign: LazyTensor
    logabsdet: LazyTensor


class SVDResult(NamedTuple):
    """What svd returns."""

    U: LazyTensor
    S: LazyTensor
    Vh: LazyTensor


# ----- products


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
    return linear._exactly("multi_dot", _c.multi_dot(list(arrays)), out)


def outer(x1: Any, x2: Any, /) -> LazyTensor:
    """Products of all pairs of two vectors."""
    return _c.outer(x1, x2)


def tensordot(x1: Any, x2: Any, /, *, axes: Any = 2) -> LazyTensor:
    """Sum over the last `axes` axes of x1 and the first of x2, or over listed pairs."""
    return linear.tensordot(x1, x2, axes)


def trace(x: Any, /, *, offset: int = 0, dtype: Any = None) -> LazyTensor:
    """Sums of the diagonals of the last two axes."""
    _arguments.check_known(dtype)
    if getattr(x, "ndim", 2) < 2:
        message = "trace: diag requires an array of at least two dimensions, not"
        raise value_error(f"{message} {x.shape}.")
    return _c.trace(x, offset, dtype)


def vecdot(x1: Any, x2: Any, /, *, axis: int = -1) -> LazyTensor:
    """Products of vectors along an axis, summed; the first is conjugated."""
    return _c.vecdot(x1, x2, axis)


def matrix_power(a: Any, n: Any) -> LazyTensor:
    """The product of n matrices a; of the inverse for n < 0."""
    return _c.matrix_power(a, n)


# ----- solutions


def cholesky(a: Any, /, *, upper: bool = False) -> LazyTensor:
    """The lower L of a = L L^H, or the upper U of a = U^H U."""
    return _c.cholesky(a, bool(upper))


def det(a: Any) -> LazyTensor:
    """The determinants of matrices."""
    return _c.det(a)


def slogdet(a: Any) -> SlogdetResult:
    """Sign and logarithm of the magnitude of the determinants of matrices."""
    return SlogdetResult(*_c.slogdet(a))


def inv(a: Any) -> LazyTensor:
    """The inverses of matrices."""
    return _c.inv(a)


def solve(a: Any, b: Any) -> LazyTensor:
    """x of a x = b; b is one vector, or matrices."""
    return _c.solve(a, b)


def tensorsolve(a: Any, b: Any, axes: Any = None) -> LazyTensor:
    """x of tensordot(a, x, x.ndim) = b, with the axes moved to the end of a before."""
    if axes is not None and not hasattr(axes, "__iter__"):
        raise TypeError(wrong(axes, "A sequence of axes"))
    return _c.tensorsolve(a, b, axes)


def tensorinv(a: Any, ind: int = 2) -> LazyTensor:
    """The inverse with respect to tensordot(., ., ind)."""
    return _c.tensorinv(a, ind)


_not_given: Any = np._NoValue


def pinv(
    a: Any, rcond: Any = None, hermitian: bool = False, *, rtol: Any = _not_given
) -> LazyTensor:
    """The Moore-Penrose inverse; small singular values count as zero."""
    return _c.pinv(a, rcond, hermitian, rtol)


def lstsq(a: Any, b: Any, rcond: Any = None) -> tuple[LazyTensor, ...]:
    """(x, residuals, rank, singular values) of the x that minimises the norm of a x - b."""
    return tuple(_c.lstsq(a, b, None if rcond is None else _core.number(rcond)))


# ----- decompositions


def qr(a: Any, mode: str = "reduced") -> Any:
    """Orthonormal columns Q and a triangle R, a = Q R; other modes as in NumPy."""
    made = _c.qr(a, mode)
    return QRResult(*made) if isinstance(made, list) else made


def svd(
    a: Any, full_matrices: bool = True, compute_uv: bool = True, hermitian: bool = False
) -> Any:
    """Singular values S, the largest first, with vectors U and Vh unless compute_uv is False."""
    if not compute_uv:
        return _c.svdvals(a, hermitian)
    return SVDResult(*_c.svd(a, full_matrices, hermitian))


def svdvals(x: Any, /) -> LazyTensor:
    """Singular values, the largest first."""
    return _c.svdvals(x, False)


def eigh(a: Any, UPLO: str = "L") -> EighResult:
    """Eigenvalues, the smallest first, and vectors of Hermitian matrices: one triangle is read."""
    return EighResult(*_c.eigh(a, UPLO))


def eigvalsh(a: Any, UPLO: str = "L") -> LazyTensor:
    """Eigenvalues of Hermitian matrices, the smallest first."""
    return _c.eigvalsh(a, UPLO)


def eig(a: Any) -> EigResult:
    """Eigenvalues and vectors; of a real matrix real if all eigenvalues are, which is found now."""
    return EigResult(*_c.eig(a))


def eigvals(a: Any) -> LazyTensor:
    """Eigenvalues; of a real matrix real if all of them are, which is found now."""
    return _c.eigvals(a)


# ----- norms


def _order(value: Any) -> tuple[str, float | None]:
    if value is None or isinstance(value, str):
        return value or "", None
    return "", _core.number(value)


def norm(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> LazyTensor:
    """The norm of vectors (one axis), of matrices (two), or of all elements."""
    if axis is not None and not isinstance(axis, tuple):
        try:
            axis = int(axis)
        except (TypeError, ValueError):
            raise TypeError(wrong(axis, "None, an integer or a tuple of integers")) from None
    return _c.norm(x, *_order(ord), axis, keepdims)


def matrix_norm(x: Any, /, *, keepdims: bool = False, ord: Any = "fro") -> LazyTensor:
    """The norm of the matrices in the last two axes."""
    return _c.matrix_norm(x, *_order(ord), keepdims)


def vector_norm(x: Any, /, *, axis: Any = None, keepdims: bool = False, ord: Any = 2) -> LazyTensor:
    """The norm of vectors along one axis, or of all elements along several."""
    axis = int(axis) if isinstance(axis, float) else axis
    return _c.vector_norm(x, axis, *_order(ord), keepdims)


def cond(x: Any, p: Any = None) -> LazyTensor:
    """How much a matrix can magnify relative errors: norm(x, p) norm(inv(x), p)."""
    return _c.cond(x, *_order(p))


def matrix_rank(
    A: Any, tol: Any = None, hermitian: bool = False, *, rtol: Any = None
) -> LazyTensor:
    """How many singular values exceed tol, or rtol times the largest."""
    return _c.matrix_rank(A, tol, hermitian, rtol)
