"""Keys and values of tokens seen before, in arrays of fixed capacity: decoders read them instead of
computing them again."""

from __future__ import annotations

from typing import Any

import numpy as np

import composit.numpy as cnp
from composit._core import LazyTensor

Cache = list[tuple[Any, Any]]
"""For each layer its keys and its values, each (batch, heads, capacity, head size)."""


def empty_cache(
    num_layers: int, num_heads: int, head_size: int, *, capacity: int, batch: int = 1
) -> Cache:
    """A cache without tokens; num_heads are those of keys."""
    shape = (batch, num_heads, capacity, head_size)
    return [(np.zeros(shape, "float32"), np.zeros(shape, "float32")) for _ in range(num_layers)]


def write(cached: Any, new: Any, position: Any) -> LazyTensor:
    """`cached` with the tokens `new` (batch, heads, tokens, head size) at `position`, `position` +
    1 …; the position, an integer, may be a tensor. Tokens beyond the capacity are an IndexError."""
    places = cnp.asarray(position) + cnp.arange(new.shape[2])
    return cnp.set_item(cnp.asarray(cached), (slice(None), slice(None), places), new)


def visible(position: Any, tokens: int, capacity: int) -> LazyTensor:
    """(tokens, capacity), to be added to scores: 0 where a token at `position`, `position` + 1 …
    sees a place of the cache, which is itself and what was before it, else -inf."""
    places = cnp.asarray(position) + cnp.arange(tokens)
    is_seen = cnp.arange(capacity) <= places[:, None]
    return cnp.where(is_seen, np.float32(0), np.float32(-np.inf))


def causal(tokens: int) -> LazyTensor:
    """`visible` of a text without a cache."""
    return visible(np.int64(0), tokens, tokens)
