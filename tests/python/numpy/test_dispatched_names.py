"""NumPy's own functions of tensors are composit's: what they return is lazy."""

import numpy as np
import pytest

import composit.numpy as cnp
from composit.types import LazyTensor

X = cnp.asarray(np.arange(6.0) + 1)
K = cnp.asarray([1, 2, 2, 0])
M = cnp.asarray(np.arange(15.0).reshape(3, 5) ** 2)
CALLS = {
    "quantile": (X, 0.5), "percentile": (X, 50), "nanquantile": (X, 0.5),
    "nanpercentile": (X, 5), "nanmedian": (X,), "cov": (M,), "corrcoef": (M,), "histogram": (X,),
    "histogram_bin_edges": (X,), "histogram2d": (X, X), "histogramdd": (M, 2),
    "digitize": (X, [1, 3]), "bincount": (K,), "interp": (X, [1, 2], [3, 4]), "unique": (K,),
    "unique_all": (K,), "unique_counts": (K,), "unique_inverse": (K,), "unique_values": (K,),
    "union1d": (K, X), "intersect1d": (K, X), "setdiff1d": (K, X), "setxor1d": (K, X),
    "isin": (K, X), "polyval": (X, X), "polyadd": (X, X), "polysub": (X, X), "polymul": (X, X),
    "polydiv": (X, K[:2]), "polyint": (X,), "polyder": (X,), "poly": (X,), "polyfit": (X, X, 1),
    "roots": (X,), "resize": (X, (2, 5)), "packbits": (K,), "sort_complex": (X,),
    "unpackbits": (cnp.asarray(np.array([1], "uint8")),), "linspace": (X, 2), "logspace": (X, 2),
    "geomspace": (X, 2),
}  # fmt: skip


def tensors(made):
    return [made] if not isinstance(made, (tuple, list)) else [t for m in made for t in tensors(m)]


@pytest.mark.parametrize("name", CALLS)
def test_results_are_lazy(name):
    results = tensors(getattr(np, name)(*CALLS[name]))
    assert results and all(isinstance(tensor, LazyTensor) for tensor in results)
