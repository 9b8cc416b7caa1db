"""torch's linear algebra: LAPACK by composit's numpy.linalg."""

from __future__ import annotations

from typing import Any

import composit._core as _core
from composit import numpy as cnp
from composit.flashlight.operators.reductions import vector_norm
from composit.flashlight.operators.table import operator

_la = cnp.linalg


def _no_errors(x: Any) -> Any:
    """LAPACK's codes: what fails is an error when it is evaluated."""
    return cnp.zeros(x.shape[:-2], "int32")


@operator("linalg_inv_ex")
def _inv_ex(A, *, check_errors=False):
    return _la.inv(A), _no_errors(A)


@operator("linalg_cholesky_ex")
def _cholesky_ex(self, *, upper=False, check_errors=False):
    lower = _la.cholesky(self)
    return (cnp.conj(cnp.swapaxes(lower, -1, -2)) if upper else lower), _no_errors(self)


@operator("linalg_solve")
def _solve(A, B, *, left=True):
    return _core.aten.solve(A, B, left)


@operator("linalg_det")
def _det(A):
    return _la.det(A)


@operator("linalg_slogdet")
def _slogdet(A):
    return tuple(_la.slogdet(A))


@operator("linalg_matrix_power")
def _matrix_power(self, n):
    return _la.matrix_power(self, n)


@operator("logcumsumexp")
def _logcumsumexp(self, dim):
    return _core.aten.logcumsumexp(self, dim)


@operator("_cdist_forward")
def _cdist(x1, x2, p, compute_mode=None):
    away = x1[..., :, None, :] - x2[..., None, :, :]
    return vector_norm(away, p, -1)


@operator("_pdist_forward")
def _pdist(self, p=2):
    rows, columns = cnp.triu_indices(self.shape[0], 1)
    away = cnp.take(self, rows, axis=0) - cnp.take(self, columns, axis=0)
    return vector_norm(away, p, -1)
