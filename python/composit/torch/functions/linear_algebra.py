"""Functions of linear algebra under torch's own names: decompositions, norms, distances."""

from __future__ import annotations

from typing import Any

import numpy as np

from composit import numpy as cnp
from composit.flashlight.operators.table import function_of
from composit.torch import linalg
from composit.torch.calling import define, torch_function
from composit.torch.named_results import named


@torch_function("logdet")
def _logdet(input: Any) -> Any:
    """The logarithm of the determinant; NaN where it is negative."""
    sign, size = cnp.linalg.slogdet(input)
    return cnp.where(sign < 0, cnp.full((), np.nan, size.dtype), size)


for _name, _function in (("matrix_exp", linalg.matrix_exp_of), ("slogdet", linalg.slogdet_of)):
    define(_function, _name)


@torch_function("pinverse")
def _pinverse(input: Any, rcond: float = 1e-15) -> Any:
    """The pseudo-inverse."""
    return linalg.pinv_of(input, rcond)


@torch_function("qr")
def _qr(input: Any, some: bool = True) -> Any:
    """Q and R with Q @ R = input."""
    return named("qr")(*cnp.linalg.qr(input, "reduced" if some else "complete"))


@torch_function("svd")
def _svd(input: Any, some: bool = True, compute_uv: bool = True) -> Any:
    """U, S and V with U @ diag(S) @ V^H = input."""
    u, s, vh = cnp.linalg.svd(input, full_matrices=not some)
    return named("svd")(u, s, linalg.adjoint(vh))


@torch_function("cholesky")
def _cholesky(input: Any, upper: bool = False) -> Any:
    """L with L @ L^H = input, or its adjoint."""
    return cnp.linalg.cholesky(input, upper=upper)


def _whole(factor: Any, upper: bool) -> Any:
    half = cnp.triu(factor) if upper else cnp.tril(factor)
    other = linalg.adjoint(half)
    return cnp.matmul(other, half) if upper else cnp.matmul(half, other)


@torch_function("cholesky_inverse")
def _cholesky_inverse(input: Any, upper: bool = False) -> Any:
    """The inverse of the matrix whose Cholesky factor is given."""
    return cnp.linalg.inv(_whole(input, upper))


@torch_function("cholesky_solve")
def _cholesky_solve(input: Any, input2: Any, upper: bool = False) -> Any:
    """X with A @ X = input, of the matrix A whose Cholesky factor is given."""
    return cnp.linalg.solve(_whole(input2, upper), input)


@torch_function("triangular_solve")
def _triangular_solve(
    input: Any, A: Any, upper: bool = True, transpose: bool = False, unitriangular: bool = False
) -> Any:
    """X with A @ X = input, of A's triangle, and A."""
    matrix = linalg.turned(A) if transpose else A
    found = linalg.solve_triangular_of(
        matrix, input, upper=upper != transpose, unitriangular=unitriangular
    )
    return named("triangular_solve")(found, A)


@torch_function("vander", is_method=False)
def _vander(x: Any, N: int | None = None, increasing: bool = False) -> Any:
    """Powers, the highest first."""
    made = linalg.vander_of(x, N)
    return made if increasing else cnp.flip(made, -1)


@torch_function("pdist", is_method=False, is_neural=True)
def _pdist(input: Any, p: float = 2.0) -> Any:
    """Distances of all pairs of different rows."""
    rows, columns = np.triu_indices(input.shape[0], 1)
    return function_of("linalg_vector_norm")(input[rows] - input[columns], p, -1)


@torch_function("frobenius_norm", is_method=False)
def _frobenius_norm(input: Any, dim: Any = (), keepdim: bool = False) -> Any:
    return function_of("linalg_vector_norm")(input, 2, tuple(dim) or None, keepdim)


@torch_function("nuclear_norm", is_method=False)
def _nuclear_norm(input: Any, dim: Any = (-2, -1), keepdim: bool = False) -> Any:
    """The sum of singular values; the dimensions may be left out."""
    if isinstance(dim, bool):
        dim, keepdim = (-2, -1), dim
    return cnp.linalg.norm(input, "nuc", axis=tuple(dim), keepdims=keepdim)


@torch_function("renorm", is_inplace=True)
def _renorm(input: Any, p: float, dim: int, maxnorm: float) -> Any:
    """Parts along a dimension whose p-norm is above maxnorm scaled to it."""
    axes = tuple(i for i in range(input.ndim) if i != dim % input.ndim)
    size = function_of("linalg_vector_norm")(input, p, axes, True)
    return cnp.where(size > maxnorm, input * (maxnorm / (size + 1e-7)), input)
