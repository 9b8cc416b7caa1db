"""torch's histograms, and products of rows with the matrix of their group: mixtures of experts."""

from __future__ import annotations

from typing import Any

import numpy as np

from composit import numpy as cnp
from composit.flashlight.operators.promotion import in_float32, only_floats
from composit.flashlight.operators.reductions import vector_norm
from composit.flashlight.operators.table import operator


@operator("histc")
def _histc(self, bins=100, min=0, max=0):
    only_floats(self, "histc")
    x = cnp.reshape(self, (-1,))
    low, high = cnp.asarray(min, dtype=x.dtype), cnp.asarray(max, dtype=x.dtype)
    if min == max and x.size:
        low, high = cnp.min(x), cnp.max(x)
    is_empty = low == high
    one = cnp.ones((), x.dtype)
    low, high = cnp.where(is_empty, low - one, low), cnp.where(is_empty, high + one, high)
    place = cnp.floor((x - low) * bins / (high - low))
    place = cnp.minimum(place, bins - 1)  # the last one has both its edges
    place = cnp.where((x >= low) & (x <= high), place, -one)
    counts = place[:, None] == cnp.arange(bins, dtype=x.dtype)
    return cnp.astype(cnp.sum(counts, axis=0), x.dtype)


def _by_groups(rows: Any, matrices: Any, ends: Any) -> Any:
    """rows (count, inputs), of which those before ends[0] are multiplied by matrices[0], those from
    there to ends[1] by matrices[1], …; those behind the last are zeros."""
    count, groups = rows.shape[0], matrices.shape[0]
    group = cnp.searchsorted(cnp.astype(ends, np.int64), cnp.arange(count), side="right")
    if count <= groups:  # fewer matrices than there are, each for its row
        chosen = cnp.take(matrices, cnp.minimum(group, groups - 1), axis=0)
        product = cnp.matmul(rows[:, None, :], chosen)[:, 0]
        return cnp.where((group < groups)[:, None], product, cnp.zeros((), rows.dtype))
    result = cnp.zeros((count, matrices.shape[2]), rows.dtype)
    for i in range(groups):
        result = cnp.where((group == i)[:, None], cnp.matmul(rows, matrices[i]), result)
    return result


def _grouped_shape(
    self: Any, mat2: Any, offs: Any = None, bias: Any = None, out_dtype: Any = None
) -> Any:
    if self.ndim != 2 or mat2.ndim != 3 or offs is None or bias is not None:
        raise NotImplementedError(
            "only groups of rows times a matrix each are traced, without bias"
        )
    return self.new_empty((self.shape[0], mat2.shape[2]), dtype=out_dtype)


@operator("_grouped_mm", meta=_grouped_shape)  # torch's says bfloat16 alone is computed
def _grouped_mm(self, mat2, offs=None, bias=None, out_dtype=None):
    return _by_groups(self, mat2, offs)


@operator("transformers::grouped_mm_fallback")
def _grouped_mm_fallback(input, weight, offs):
    return _by_groups(input, weight, offs)


@operator("renorm")
@in_float32
def _renorm(self, p, dim, maxnorm):
    axis = dim % self.ndim
    others = [i for i in range(self.ndim) if i != axis]
    norm = vector_norm(self, p, others, True)
    one = cnp.ones((), norm.dtype)
    return self * cnp.where(norm > maxnorm, maxnorm / (norm + 1e-7), one)
