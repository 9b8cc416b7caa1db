"""torch.linalg: decompositions, solvers and norms, by composit.numpy.linalg."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import composit._core as _core
from composit import numpy as cnp
from composit._linear_algebra_error import LinAlgError as LinAlgError
from composit.flashlight.operators.promotion import floating
from composit.flashlight.operators.table import function_of
from composit.torch import parts
from composit.torch.calling import define
from composit.torch.named_results import named

_aten = _core.aten
_l = cnp.linalg


def _linalg(*names: str) -> Callable[[Callable[..., Any]], Any]:
    """Makes a function over LazyTensors torch.linalg's, under names."""

    def add(function: Callable[..., Any]) -> Any:
        for name in names:
            made = define(function, f"linalg_{name}", is_function=False, is_method=False)
            made.__name__ = made.__qualname__ = name
            globals()[name] = made
        return function

    return add


def turned(x: Any) -> Any:
    """Matrices transposed."""
    return cnp.swapaxes(x, -1, -2)


def adjoint(x: Any) -> Any:
    """Matrices transposed and conjugated."""
    return cnp.conj(turned(x)) if x.dtype.kind == "c" else turned(x)


def _info(x: Any) -> Any:
    """No errors: a singular matrix gives what LAPACK gives, and is not told."""
    return cnp.zeros(tuple(x.shape[:-2]), "int32")


@_linalg("cholesky")
def _cholesky(A: Any, *, upper: bool = False) -> Any:
    """L with L @ L^H = A, or its adjoint."""
    return _l.cholesky(A, upper=upper)


@_linalg("cholesky_ex")
def _cholesky_ex(A: Any, *, upper: bool = False, check_errors: bool = False) -> Any:
    """cholesky, and 0 for each matrix."""
    return named("linalg_cholesky_ex")(_l.cholesky(A, upper=upper), _info(A))


@_linalg("cond")
def _cond(A: Any, p: Any = None) -> Any:
    """The condition number."""
    return _l.cond(A, p)


@_linalg("cross")
def _cross(input: Any, other: Any, *, dim: int = -1) -> Any:
    """The cross product along a dimension of length 3."""
    return _aten.cross(input, other, dim)


@_linalg("det")
def _det(A: Any) -> Any:
    """The determinant."""
    return _l.det(A)


def diagonal(A: Any, *, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Any:
    """A diagonal of matrices: a view."""
    return A.diagonal(offset, dim1, dim2)


@_linalg("eig")
def _eig(A: Any) -> Any:
    """Eigenvalues and eigenvectors, complex."""
    values, vectors = _l.eig(A)
    to = "complex128" if A.dtype.itemsize == 8 and A.dtype.kind == "f" else None
    to = to or ("complex64" if A.dtype.kind == "f" else A.dtype)
    return named("linalg_eig")(cnp.astype(values, to), cnp.astype(vectors, to))


@_linalg("eigvals")
def _eigvals(A: Any) -> Any:
    """Eigenvalues, complex."""
    return _eig(A)[0]


@_linalg("eigh")
def _eigh(A: Any, UPLO: str = "L") -> Any:
    """Eigenvalues and eigenvectors of Hermitian matrices."""
    return named("linalg_eigh")(*_l.eigh(A, UPLO))


@_linalg("eigvalsh")
def _eigvalsh(A: Any, UPLO: str = "L") -> Any:
    """Eigenvalues of Hermitian matrices."""
    return _l.eigvalsh(A, UPLO)


@_linalg("householder_product")
def householder_product_of(input: Any, tau: Any) -> Any:
    """The first columns of the product of Householder reflections."""
    return _aten.householder_product(input, tau)[..., : input.shape[-1]]


@_linalg("inv")
def _inv(A: Any) -> Any:
    """The inverse."""
    return _l.inv(A)


@_linalg("inv_ex")
def _inv_ex(A: Any, *, check_errors: bool = False) -> Any:
    """inv, and 0 for each matrix."""
    return named("linalg_inv_ex")(_l.inv(A), _info(A))


@_linalg("lstsq")
def _lstsq(input: Any, b: Any, rcond: float | None = None, *, driver: str | None = None) -> Any:
    """What minimises |A x - b|, for matrices of full rank."""
    found, residuals = _aten.lstsq(input, b)
    empty = cnp.zeros((0,), input.dtype)
    rank = cnp.full(tuple(input.shape[:-2]), min(input.shape[-2:]), "int64")
    return named("linalg_lstsq")(found, residuals, rank, empty)


@_linalg("lu_factor")
def lu_factor_of(A: Any, *, pivot: bool = True) -> Any:
    """L and U in one matrix, and the pivots from 1."""
    return named("linalg_lu_factor")(*_aten.lu_factor(A)[:2])


@_linalg("lu_factor_ex")
def _lu_factor_ex(A: Any, *, pivot: bool = True, check_errors: bool = False) -> Any:
    """lu_factor, and 0 for each matrix."""
    return named("linalg_lu_factor_ex")(*_aten.lu_factor(A)[:2], _info(A))


@_linalg("lu")
def _lu(A: Any, *, pivot: bool = True) -> Any:
    """P, L and U with P @ L @ U = A."""
    lu, _, order = _aten.lu_factor(A)
    permutation = _aten.permutation_of(order, A.dtype)
    return named("linalg_lu")(permutation, *_aten.split_lu(lu))


@_linalg("lu_solve")
def lu_solve_of(LU: Any, pivots: Any, B: Any, *, left: bool = True, adjoint: bool = False) -> Any:
    """X with A @ X = B, or X @ A = B, from A's lu_factor."""
    return _aten.lu_solve(LU, pivots, B, left, adjoint)


@_linalg("matmul")
def _matmul(input: Any, other: Any) -> Any:
    """The product."""
    return cnp.matmul(input, other)


@_linalg("matrix_exp")
def matrix_exp_of(A: Any) -> Any:
    """e to the power of a matrix: Taylor's series of a matrix halved until it is small, squared."""
    return _aten.matrix_exp(A)


@_linalg("matrix_norm")
def _matrix_norm(
    A: Any, ord: Any = "fro", dim: Any = (-2, -1), keepdim: bool = False, *, dtype: Any = None
) -> Any:
    """A norm of matrices: "fro", "nuc", inf, 1, 2 and their negatives."""
    x = A if dtype is None else cnp.astype(A, dtype)
    return _l.norm(x, ord, axis=tuple(dim), keepdims=keepdim)


@_linalg("matrix_power")
def _matrix_power(A: Any, n: int) -> Any:
    """A matrix to an integer's power."""
    return _l.matrix_power(A, n)


@_linalg("matrix_rank")
def _matrix_rank(
    A: Any, tol: Any = None, *, atol: Any = None, rtol: Any = None, hermitian: bool = False
) -> Any:
    """How many singular values are above the tolerance."""
    return _aten.matrix_rank(A, tol, atol, rtol)


@_linalg("multi_dot")
def _multi_dot(tensors: Any) -> Any:
    """The product of several matrices, in the cheapest order."""
    return _l.multi_dot(list(tensors))


@_linalg("norm")
def _norm(
    A: Any, ord: Any = None, dim: Any = None, keepdim: bool = False, *, dtype: Any = None
) -> Any:
    """A norm of vectors or matrices, as NumPy's; of all elements without ord and dim."""
    x = floating(A if dtype is None else cnp.astype(A, dtype))
    axes = tuple(dim) if isinstance(dim, (tuple, list)) else dim
    if ord is None:
        return function_of("linalg_vector_norm")(x, 2, axes, keepdim)
    return _l.norm(x, ord, axis=axes, keepdims=keepdim)


@_linalg("pinv")
def pinv_of(
    A: Any, rcond: Any = None, *, atol: Any = None, rtol: Any = None, hermitian: bool = False
) -> Any:
    """The pseudo-inverse."""
    return _aten.pinv(A, atol, rcond if rtol is None else rtol)


@_linalg("qr")
def qr_of(A: Any, mode: str = "reduced") -> Any:
    """Q and R with Q @ R = A; mode: "reduced", "complete" or "r"."""
    if mode == "r":
        return named("linalg_qr")(cnp.zeros((0,), A.dtype), _l.qr(A, "r"))
    return named("linalg_qr")(*_l.qr(A, mode))


@_linalg("slogdet")
def slogdet_of(A: Any) -> Any:
    """The determinant's sign, and the logarithm of its absolute value."""
    return named("linalg_slogdet")(*_l.slogdet(A))


@_linalg("solve")
def solve_of(A: Any, B: Any, *, left: bool = True) -> Any:
    """X with A @ X = B; with left=False X @ A = B. Vectors in batches as torch takes them."""
    return _aten.solve(A, B, left)


@_linalg("solve_ex")
def _solve_ex(A: Any, B: Any, *, left: bool = True, check_errors: bool = False) -> Any:
    """solve, and 0 for each matrix."""
    return named("linalg_solve_ex")(solve_of(A, B, left=left), _info(A))


@_linalg("solve_triangular")
def solve_triangular_of(
    A: Any, B: Any, *, upper: bool, left: bool = True, unitriangular: bool = False
) -> Any:
    """X with A @ X = B, of A's upper or lower triangle."""
    return _aten.solve_triangular(A, B, upper, left, unitriangular)


@_linalg("svd")
def svd_of(A: Any, full_matrices: bool = True, *, driver: str | None = None) -> Any:
    """U, S and Vh with U @ diag(S) @ Vh = A."""
    return named("linalg_svd")(*_l.svd(A, full_matrices))


@_linalg("svdvals")
def _svdvals(A: Any, *, driver: str | None = None) -> Any:
    """The singular values."""
    return _l.svd(A, False)[1]


@_linalg("tensorinv")
def _tensorinv(A: Any, ind: int = 2) -> Any:
    """The inverse of a tensor as a linear map."""
    return _l.tensorinv(A, ind)


@_linalg("tensorsolve")
def _tensorsolve(A: Any, B: Any, dims: Any = None) -> Any:
    """x with tensordot(A, x) = B."""
    return _l.tensorsolve(A, B, dims)


@_linalg("vander")
def vander_of(x: Any, N: int | None = None) -> Any:
    """Powers from 0 along a new last dimension."""
    return _aten.vander(x, N)


@_linalg("vecdot")
def _vecdot(x: Any, y: Any, *, dim: int = -1) -> Any:
    """Sums of conj(x) * y."""
    return cnp.sum((cnp.conj(x) if x.dtype.kind == "c" else x) * y, axis=dim)


@_linalg("vector_norm")
def _vector_norm(
    x: Any, ord: Any = 2, dim: Any = None, keepdim: bool = False, *, dtype: Any = None
) -> Any:
    """The norm of vectors, or of all elements."""
    return function_of("linalg_vector_norm")(x, ord, dim, keepdim, dtype=dtype)


def __getattr__(name: str) -> Any:
    """What loads when it is first used; what is not built says so."""
    if name in ("ldl_factor", "ldl_factor_ex", "ldl_solve"):
        return getattr(parts.load("ldl"), name)
    raise AttributeError(
        f"composit.torch.linalg.{name} is not built yet; docs/torch.md lists what is."
    )
