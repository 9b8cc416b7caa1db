"""torch's attention, kept as one operation where composit has it."""

from __future__ import annotations

import composit._core as _core
from composit import numpy as cnp
from composit.flashlight.operators.table import operator


@operator("_safe_softmax")
def safe_softmax(self, dim, dtype=None):
    """softmax, but zeros where all is -inf: a query that may look at nothing."""
    return _core.aten.safe_softmax(self if dtype is None else cnp.astype(self, dtype), dim)


@operator("scaled_dot_product_attention", key=True)
def _attention(
    query, key_, value, attn_mask=None, dropout_p=0.0, is_causal=False, *, scale=None,
    enable_gqa=False, key,
):  # fmt: skip
    return _core.aten.scaled_dot_product_attention(
        query, key_, value, attn_mask, dropout_p, is_causal, scale, enable_gqa, key
    )
