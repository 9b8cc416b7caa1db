"""Named results of functions: the classes of torch.return_types."""

from __future__ import annotations

import functools
from collections import namedtuple
from typing import Any

# The functions' names, and the fields of their results where they are not values and indices.
_FIELDS = {
    "_ASMoutput": "output loss", "aminmax": "min max", "cummax": "", "cummin": "",
    "frexp": "mantissa exponent", "geqrf": "a tau", "histogram": "hist bin_edges",
    "histogramdd": "hist bin_edges", "kthvalue": "", "linalg_cholesky_ex": "L info",
    "linalg_eig": "eigenvalues eigenvectors", "linalg_eigh": "eigenvalues eigenvectors",
    "linalg_inv_ex": "inverse info", "linalg_ldl_factor": "LD pivots",
    "linalg_ldl_factor_ex": "LD pivots info",
    "linalg_lstsq": "solution residuals rank singular_values", "linalg_lu": "P L U",
    "linalg_lu_factor": "LU pivots", "linalg_lu_factor_ex": "LU pivots info",
    "linalg_qr": "Q R", "linalg_slogdet": "sign logabsdet", "linalg_solve_ex": "result info",
    "linalg_svd": "U S Vh", "lu_unpack": "P L U", "max": "", "median": "", "min": "", "mode": "",
    "nanmedian": "", "qr": "Q R", "sort": "", "svd": "U S V",
    "topk": "", "triangular_solve": "solution cloned_coefficient",
}  # fmt: skip
__all__ = [name for name in _FIELDS if name != "_ASMoutput"]


@functools.cache
def named(name: str) -> Any:
    """The class of named results of one of torch's functions."""
    fields = _FIELDS[name].split() or ["values", "indices"]
    made = namedtuple(name, fields)  # type: ignore[misc]

    def text(self: Any) -> str:
        lines = ",\n".join(f"{field}={value!r}" for field, value in zip(fields, self))
        return f"torch.return_types.{name}(\n{lines})"

    made.__repr__ = text  # type: ignore[method-assign]
    made.__module__ = "composit.torch.return_types"
    return made


def __getattr__(name: str) -> Any:
    if name not in _FIELDS:
        raise AttributeError(f"module 'torch.return_types' has no attribute {name!r}")
    return named(name)
