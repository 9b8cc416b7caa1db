"""Keys and values of tokens seen before, in arrays of fixed capacity: decoders read them instead of
computing them again."""

from __future__ import annotations

from typing import Any

import numpy as np

from composit import nn

Cache = list[tuple[Any, Any]]
"""For each layer its keys and its values, each (batch, heads, capacity, head size)."""


def empty_cache(
    num_layers: int, num_heads: int, head_size: int, *, capacity: int, batch: int = 1
) -> Cache:
    """A cache without tokens; num_heads are those of keys."""
    shape = (batch, num_heads, capacity, head_size)
    return [(np.zeros(shape, "float32"), np.zeros(shape, "float32")) for _ in range(num_layers)]


def attend(query: Any, key: Any, value: Any, layer: Any, position: Any) -> tuple[Any, Any]:
    """What the tokens of the queries at `position`, `position` + 1 … make of themselves and of
    those before them, which `layer`, one of a cache, holds; and the layer with them. A position,
    which may be a tensor, beyond the capacity is an IndexError. Without a cache (None) there are
    none before. Several heads of queries may share one of keys (Ainslie et al. 2023)."""
    if layer is None:
        return nn.scaled_dot_product_attention(
            query, key, value, is_causal=True, group_heads=True
        ), None
    keys, values = (nn.update_cache(*pair, position) for pair in zip(layer, (key, value)))
    mixed = nn.scaled_dot_product_attention(
        query, keys, values, group_heads=True, position=position
    )
    return mixed, (keys, values)
