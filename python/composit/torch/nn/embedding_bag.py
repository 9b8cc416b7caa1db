"""embedding_bag: rows of a matrix, summed by bags."""

from __future__ import annotations

from typing import Any

import numpy as np

from composit import numpy as cnp
from composit._core import with_location
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
        raise NotImplementedError(
            with_location("embedding_bag: max_norm, scale_grad_by_freq and sparse are not built.")
        )
    if mode not in ("sum", "mean", "max"):
        raise ValueError("mode has to be one of sum, mean or max")
    if input.ndim == 2:
        bags, line = input.shape[0], cnp.reshape(input, (-1,))
        starts: Any = np.arange(bags) * input.shape[1]
    else:
        bags = offsets.shape[0] - bool(include_last_offset)
        starts, line = offsets[:bags], input
    place = np.arange(line.shape[0])
    bag = cnp.sum(cnp.astype(place[:, None] >= cnp.reshape(starts, (1, -1)), "int64"), axis=1) - 1
    member = cnp.equal(np.arange(bags)[:, None], bag[None, :])
    if padding_idx is not None:
        member = member & ~cnp.equal(line, padding_idx % weight.shape[0])[None, :]
    rows = cnp.take(weight, line, axis=0)
    if mode == "max":
        low = cnp.where(member[:, :, None], rows[None], cnp.full((), -np.inf, rows.dtype))
        found = cnp.max(low, axis=1)
        is_empty = ~cnp.any(member, axis=1)
        return cnp.where(is_empty[:, None], cnp.zeros((), rows.dtype), found)
    if per_sample_weights is not None:
        rows = rows * cnp.reshape(per_sample_weights, (-1, 1))
    shares = cnp.astype(member, rows.dtype)
    total = cnp.matmul(shares, rows)
    if mode == "sum":
        return total
    return total / cnp.maximum(cnp.sum(shares, axis=1, keepdims=True), 1)
