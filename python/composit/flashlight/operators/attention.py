"""torch's attention, kept as one operation where composit has it."""

from __future__ import annotations

import math

import numpy as np

from composit import nn
from composit import numpy as cnp
from composit.flashlight.operators.table import operator


def _additive(attn_mask, dtype):
    """The mask as what is added to scores: booleans say where to look."""
    if attn_mask.dtype != np.dtype("bool"):
        return attn_mask
    return cnp.where(attn_mask, cnp.zeros((), dtype), cnp.full((), -np.inf, dtype))


@operator("_safe_softmax")
def safe_softmax(self, dim, dtype=None):
    """softmax, but zeros where all is -inf: a query that may look at nothing."""
    x = self if dtype is None else cnp.astype(self, dtype)
    sees = cnp.max(x, axis=dim, keepdims=True) > -np.inf
    zero = cnp.zeros((), x.dtype)
    return cnp.where(sees, nn.softmax(cnp.where(sees, x, zero), axis=dim), zero)


@operator("scaled_dot_product_attention", key=True)
def _attention(
    query, key_, value, attn_mask=None, dropout_p=0.0, is_causal=False, *, scale=None,
    enable_gqa=False, key,
):  # fmt: skip
    if enable_gqa:
        groups = query.shape[-3] // key_.shape[-3]
        key_, value = cnp.repeat(key_, groups, axis=-3), cnp.repeat(value, groups, axis=-3)
    length, other, size = query.shape[-2], key_.shape[-2], query.shape[-1]
    mask = None if attn_mask is None else _additive(attn_mask, query.dtype)
    if is_causal:
        seen = np.tril(np.ones((length, other), bool))
        causal = np.where(seen, 0, -np.inf).astype(query.dtype)
        mask = cnp.asarray(causal) if mask is None else mask + causal
    if scale is not None and not math.isclose(scale, 1 / math.sqrt(size), rel_tol=1e-12):
        query = query * (scale * math.sqrt(size))
    is_blind = attn_mask is not None  # a row of it may let a query look at nothing
    if dropout_p == 0 and not is_blind:
        return nn.scaled_dot_product_attention(query, key_, value, mask)
    scores = cnp.matmul(query, cnp.swapaxes(key_, -1, -2)) * (1 / math.sqrt(size))
    scores = scores if mask is None else scores + mask
    weights = safe_softmax(scores, -1) if is_blind else nn.softmax(scores, axis=-1)
    if dropout_p:
        weights = nn.dropout(weights, dropout_p, key)
    return cnp.matmul(weights, value)
