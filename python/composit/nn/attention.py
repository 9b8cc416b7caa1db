"""Attention, its cache of keys and values, rotary embeddings, and layers of transformers."""

from __future__ import annotations

from typing import Any

import composit._core as _core
from composit._core import LazyTensor

_c = _core.nn

__all__ = [
    "multi_head_attention", "rotary_angles", "rotary_embedding", "scaled_dot_product_attention",
    "transformer_decoder_layer", "transformer_encoder_layer", "update_cache",
]  # fmt: skip


def scaled_dot_product_attention(
    query: Any,
    key: Any,
    value: Any,
    mask: Any = None,
    *,
    is_causal: bool = False,
    scale: float | None = None,
    group_heads: bool = False,
    position: Any = None,
) -> LazyTensor:
    """softmax(query @ key^T * scale + mask) @ value over the last two axes.

    mask, which broadcasts to (…, queries, keys): bool, true where a query may attend, or added to
    the scores. is_causal: query i attends to keys 0, …, i. scale: 1 / sqrt(head size) unless given.
    group_heads: query has a multiple of key's and value's heads (axis -3). position, an integer
    that may be an argument of a compiled function: the queries are at position, position + 1, … of
    the keys, and attend to none behind. With a bool mask, or position, a query that may attend to
    nothing gives zeros. ValueError naming the shapes that do not fit."""
    return _c.scaled_dot_product_attention(
        query, key, value, mask, is_causal, scale, group_heads, position
    )


def update_cache(cache: Any, new: Any, position: Any) -> LazyTensor:
    """cache (…, capacity, features) with new (…, count, features) at rows position, …, position +
    count - 1. position is an integer, also an argument of a compiled function. IndexError for rows
    outside the cache, at once where position is known, else when evaluated."""
    return _c.update_cache(cache, new, position)


def rotary_angles(
    positions: Any, size: int, *, base: float = 10000.0, dtype: Any = "float32"
) -> tuple[LazyTensor, LazyTensor]:
    """Cosines and sines, positions.shape + (size / 2,), of positions * base**(-2 i / size), for
    rotary_embedding (Su et al., 2021). They are computed in float64. ValueError: size is odd."""
    cosine, sine = _c.rotary_angles(positions, size, base, dtype)
    return cosine, sine


def rotary_embedding(x: Any, cosine: Any, sine: Any, *, interleaved: bool = False) -> LazyTensor:
    """x (…, sequence, features) with pairs of features rotated by angles (sequence, pairs), which
    broadcast. Pairs are (i, i + pairs), as of Llama and GPT-NeoX, or with interleaved (2 i, 2 i +
    1), as of GPT-J; features behind the pairs stay. ValueError for more pairs than there are."""
    return _c.rotary_embedding(x, cosine, sine, interleaved)


def multi_head_attention(
    hidden_states: Any,
    attention_mask: Any,
    query_weight: Any,
    query_bias: Any,
    key_weight: Any,
    key_bias: Any,
    value_weight: Any,
    value_bias: Any,
    output_weight: Any,
    output_bias: Any,
    *,
    head_size: int,
    memory: Any = None,
    is_causal: bool = False,
) -> LazyTensor:
    """Attention by heads of width head_size of (batch, sequence, features), projected by weights
    (in, out) and biases (None: none). The mask, bool (true: may attend) or added to the scores, may
    be None. Keys and values are of `memory` where it is given."""
    parameters = [
        query_weight, query_bias, key_weight, key_bias, value_weight, value_bias, output_weight,
        output_bias,
    ]  # fmt: skip
    return _c.multi_head_attention(
        hidden_states, attention_mask, parameters, head_size, memory, is_causal
    )


def transformer_encoder_layer(
    hidden_states: Any,
    attention_mask: Any,
    *parameters: Any,
    head_size: int,
    norm_first: bool = False,
    activation: str = "relu",
    is_causal: bool = False,
    epsilon: float = 1e-5,
) -> LazyTensor:
    """Attention, then two layers with an activation ("relu", "gelu", "silu") between, each added to
    its input; the sums are normalised, or with norm_first what the parts are given. 16 parameters:
    multi_head_attention's 8, the norm's weight and bias, feedforward's 4, its norm's 2."""
    return _c.transformer_encoder_layer(
        hidden_states,
        attention_mask,
        parameters,
        head_size,
        norm_first,
        activation,
        is_causal,
        epsilon,
    )


def transformer_decoder_layer(
    hidden_states: Any,
    memory: Any,
    attention_mask: Any,
    memory_mask: Any,
    *parameters: Any,
    head_size: int,
    norm_first: bool = False,
    activation: str = "relu",
    is_causal: bool = False,
    epsilon: float = 1e-5,
) -> LazyTensor:
    """transformer_encoder_layer with attention to `memory` between. 26 parameters: those of
    attention and its norm, 8 + 2, of attention to memory and its norm, 8 + 2, feedforward's 4, its
    norm's 2. is_causal is of the first attention."""
    return _c.transformer_decoder_layer(
        hidden_states,
        memory,
        attention_mask,
        memory_mask,
        parameters,
        head_size,
        norm_first,
        activation,
        is_causal,
        epsilon,
    )
