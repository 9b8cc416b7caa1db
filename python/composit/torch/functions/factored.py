"""LU and reflections under torch's own names, decompositions of low rank, histograms of points."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import composit._core as _core
from composit import nn
from composit import numpy as cnp
from composit._core import not_implemented, runtime_error
from composit.torch import calling, dtypes, linalg
from composit.torch.calling import define, torch_function
from composit.torch.named_results import named

define(linalg.householder_product_of, "orgqr")

_aten = _core.aten

_Geqrf = named("geqrf")


@torch_function("geqrf")
def _geqrf(input: Any) -> Any:
    """The reflections below R and their factors, (a, tau): what orgqr and ormqr take. No gradient,
    as in PyTorch."""
    reflections, factors = cnp.linalg.qr(nn.stop_gradient(input), "raw")
    return _Geqrf(cnp.swapaxes(reflections, -1, -2), factors)


@torch_function("ormqr")
def _ormqr(input: Any, tau: Any, other: Any, left: bool = True, transpose: bool = False) -> Any:
    """Q @ other, or other @ Q, of the square Q whose reflections geqrf gives; or Q's adjoint."""
    q = _aten.householder_product(input, tau)
    q = linalg.adjoint(q) if transpose else q
    return cnp.matmul(q, other) if left else cnp.matmul(other, q)


@torch_function("lu")
def _lu(A: Any, pivot: bool = True, get_infos: bool = False) -> Any:
    """L and U in one matrix, the pivots from 1, and with get_infos 0 for each matrix."""
    found = tuple(linalg.lu_factor_of(A, pivot=pivot))
    return (*found, linalg._info(A)) if get_infos else found


@torch_function("lu_solve")
def _lu_solve(b: Any, LU_data: Any, LU_pivots: Any) -> Any:
    """X with A @ X = b, from A's lu."""
    return linalg.lu_solve_of(LU_data, LU_pivots, b)


@torch_function("lu_unpack", is_method=False)
def _lu_unpack(
    LU_data: Any, LU_pivots: Any, unpack_data: bool = True, unpack_pivots: bool = True
) -> Any:
    """P, L and U with P @ L @ U = A, from A's lu; empty where they are not asked for."""
    return named("lu_unpack")(*_aten.unpack_lu(LU_data, LU_pivots, unpack_data, unpack_pivots))


def _low_rank(whole: Any, count: int, steps: int) -> tuple[Any, Any, Any]:
    drawn = calling.functions["randn"](min(whole.shape[-2:]), count, dtype=whole.dtype)
    return calling.call(_aten.svd_lowrank, "svd_lowrank", False, (whole, drawn, steps), {})


def _less(A: Any, M: Any) -> Any:
    return A if M is None else A - M


def svd_lowrank(
    A: Any, q: int | None = 6, niter: int | None = 2, M: Any = None
) -> tuple[Any, Any, Any]:
    """U, S and V with U @ diag(S) @ V^H near A - M, of rank q: by products with drawn vectors
    (Halko et al., arXiv 0909.4061, algorithm 5.1)."""
    count = _aten.low_rank(q, A.shape)
    return _low_rank(_less(A, M), count, 2 if niter is None else niter)


def pca_lowrank(
    A: Any, q: int | None = None, center: bool = True, niter: int = 2
) -> tuple[Any, Any, Any]:
    """svd_lowrank of A less the mean of its rows: V's columns are the principal directions."""
    count = _aten.principal_rank(q, A.shape, niter)
    return _low_rank(A - A.mean(-2, keepdim=True) if center else A, count, niter)


def _histogramdd(input: Any, bins: Any, range: Any, weight: Any, density: bool) -> Any:
    points = cnp.reshape(input, (-1, input.shape[-1]))
    ends = None if range is None else np.reshape(range, (-1, 2)).tolist()
    found, edges = cnp.histogramdd(points, bins, ends, density, weight)
    return named("histogramdd")(
        cnp.astype(found, input.dtype), tuple(cnp.astype(x, input.dtype) for x in edges)
    )


def histogramdd(
    input: Any, bins: Any, *, range: Any = None, weight: Any = None, density: bool = False
) -> Any:
    """How many points (the last dimension are coordinates) are in each box, and the edges. bins:
    numbers of equal parts, or each dimension's edges; range: least and largest, one after the
    other."""
    shares = None if weight is None else weight.detach().reshape(-1)
    given = (input.detach(), bins, range, shares, density)
    return calling.call(_histogramdd, "histogramdd", False, given, {})


def cond(pred: Any, true_fn: Any, false_fn: Any, operands: Any = ()) -> Any:
    """true_fn(*operands) or false_fn(*operands), by a truth or a tensor of one element."""
    shape = tuple(pred._seen.shape) if isinstance(pred, calling.TensorBase) else ()
    if math.prod(shape) != 1:
        raise runtime_error(f"cond: pred is of shape {shape}. One element is required.")
    return true_fn(*operands) if bool(pred) else false_fn(*operands)


def while_loop(cond_fn: Any, body_fn: Any, carried_inputs: Any) -> Any:
    """The carried values after body_fn(*carried) as long as cond_fn(*carried) holds."""
    carried = tuple(carried_inputs)
    while bool(cond_fn(*carried)):
        made = body_fn(*carried)
        carried = tuple(made) if isinstance(made, (tuple, list)) else (made,)
        if len(carried) != len(carried_inputs):
            raise runtime_error(
                f"while_loop: body_fn returned {len(carried)} values for "
                f"{len(carried_inputs)}. As many as are carried are required."
            )
    return carried


def empty_strided(size: Any, stride: Any, **options: Any) -> Any:
    """empty(size): what is of other strides in PyTorch is contiguous here."""
    _aten.check_strides(len(tuple(size)), len(tuple(stride)))
    return calling.functions["empty"](*size, **options)


def empty_permuted(size: Any, physical_layout: Any, **options: Any) -> Any:
    """empty(size): what is laid out otherwise in PyTorch is contiguous here."""
    _aten.check_layout(len(tuple(size)), tuple(physical_layout))
    return calling.functions["empty"](*size, **options)


def from_file(
    filename: Any, shared: bool | None = None, size: int = 0, *, dtype: Any = None,
    requires_grad: bool = False, **_: Any,
) -> Any:  # fmt: skip
    """A tensor of the first `size` elements of a file, which are read at once."""
    if shared:
        raise not_implemented("from_file: shared=True, which writes into the file, is not built.")
    kind = dtypes.numpy_dtype(dtype or dtypes.default())
    array = np.fromfile(filename, kind, size)
    if array.size < size:
        raise runtime_error(
            f"from_file: {filename} has {array.size} elements of {kind}. {size} are required."
        )
    made = calling.functions["from_numpy"](array)
    return made.requires_grad_() if requires_grad else made


for _f in (svd_lowrank, pca_lowrank, histogramdd, cond, while_loop, empty_strided, empty_permuted,
           from_file):  # fmt: skip
    calling.functions[_f.__name__] = _f
