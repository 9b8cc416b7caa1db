"""torch's histograms, and products of rows with the matrix of their group: mixtures of experts."""

from __future__ import annotations

from typing import Any

import composit._core as _core
from composit.flashlight.operators.table import operator

_aten = _core.aten


@operator("histc")
def _histc(self, bins=100, min=0, max=0):
    return _aten.histc(self, bins, min, max)


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
    return _aten.grouped_product(self, mat2, offs)


@operator("transformers::grouped_mm_fallback")
def _grouped_mm_fallback(input, weight, offs):
    return _aten.grouped_product(input, weight, offs)


@operator("renorm")
def _renorm(self, p, dim, maxnorm):
    return _aten.renorm(self, p, dim, maxnorm)
