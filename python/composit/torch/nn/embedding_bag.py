"""embedding_bag: rows of a matrix, summed by bags."""

from __future__ import annotations

from typing import Any

import composit._core as _core
from composit._core import not_implemented
from composit.torch.calling import torch_function


@torch_function("embedding_bag", is_function=False, is_method=False, is_neural=True)
def _embedding_bag(
    input: Any, weight: Any, offsets: Any = None, max_norm: float | None = None,
    norm_type: float = 2, scale_grad_by_freq: bool = False, mode: str = "mean",
    sparse: bool = False, per_sample_weights: Any = None, include_last_offset: bool = False,
    padding_idx: int | None = None,
) -> Any:  # fmt: skip
    """Sums, means or largest elements of rows of weight, by bags."""
    if max_norm is not None or scale_grad_by_freq or sparse:
        raise not_implemented(
            "embedding_bag: max_norm, scale_grad_by_freq and sparse are not built."
        )
    return _core.aten.embedding_bag(
        input, weight, offsets, mode, per_sample_weights, include_last_offset, padding_idx
    )
