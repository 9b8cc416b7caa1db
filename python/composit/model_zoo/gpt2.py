"""GPT-2 (Radford et al. 2019): token ids to the logits of the next ones."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

import composit.numpy as cnp
from composit import nn
from composit._core import LazyTensor
from composit.model_zoo.caching import Cache, attend
from composit.model_zoo.parameters import (
    Parameters,
    Shapes,
    draw,
    join_heads,
    layer_norm,
    layers,
    linear,
    scale,
    split_heads,
    state_of,
)

EPSILON = 1e-5


def gpt2(
    input_ids: Any,
    parameters: Mapping[str, Any],
    *,
    num_heads: int,
    cache: Cache | None = None,
    position: Any = 0,
) -> Any:
    """(batch, tokens) ids to (batch, tokens, vocabulary). With a cache, the tokens are those at
    `position`, `position` + 1 …, they see those before them in the cache, and the result is
    (logits, the cache with them). Parameters by transformers' names."""
    p = Parameters(parameters) / "transformer"
    tokens = cnp.asarray(input_ids).shape[1]
    places = cnp.asarray(position) + cnp.arange(tokens)
    x = nn.embedding(input_ids, p["wte.weight"]) + nn.embedding(places, p["wpe.weight"])
    updated = []
    for layer in range((p / "h").count()):
        layer_cache = None if cache is None else cache[layer]
        x, layer_cache = gpt2_layer(x, p / "h" / layer, num_heads, layer_cache, position)
        updated.append(layer_cache)
    logits = layer_norm(x, p / "ln_f", EPSILON) @ _head(parameters)
    return logits if cache is None else (logits, updated)


def gpt2_layer(
    x: Any, parameters: Parameters, num_heads: int, cache: Any, position: Any
) -> tuple[LazyTensor, Any]:
    """Attention and a network of two layers, each reading normalised tokens, added to them; and the
    layer's cache with these tokens."""
    p = parameters
    projected = linear(layer_norm(x, p / "ln_1", EPSILON), p / "attn.c_attn")
    query, key, value = (split_heads(part, num_heads) for part in cnp.split(projected, 3, axis=-1))
    mixed, cache = attend(query, key, value, cache, position)
    x = x + linear(join_heads(mixed), p / "attn.c_proj")
    wide = linear(layer_norm(x, p / "ln_2", EPSILON), p / "mlp.c_fc")
    wide = nn.gelu(wide, approximate="tanh")
    return x + linear(wide, p / "mlp.c_proj"), cache


def _head(parameters: Mapping[str, Any]) -> LazyTensor:
    """(width, vocabulary): the embeddings of words, unless the file has other weights."""
    p = Parameters(parameters)
    return p["lm_head.weight" if "lm_head.weight" in p else "transformer.wte.weight"].T


def convert_parameters_to_numpy(model: Any) -> dict[str, np.ndarray]:
    """Of transformers' GPT2LMHeadModel, GPT2Model, or the state_dict of either: arrays by the names
    of the former. Its dense weights are (in, out) already; the last layer is the embeddings of
    words again, and left out, where it shares their memory or values."""
    state = state_of(model)
    if not any(name.startswith("transformer.") for name in state):
        state = {f"transformer.{name}": value for name, value in state.items()}
    words, head = state["transformer.wte.weight"], state.get("lm_head.weight")
    if head is not None and (np.shares_memory(words, head) or np.array_equal(words, head)):
        del state["lm_head.weight"]
    masks = (".attn.bias", ".attn.masked_bias")  # which older files hold
    return {name: value for name, value in state.items() if not name.endswith(masks)}


def parameter_shapes(
    *, num_layers: int = 12, width: int = 768, vocab_size: int = 50257, max_length: int = 1024
) -> Shapes:
    """Names and shapes, by default those of the smallest GPT-2."""
    shapes: Shapes = {
        "transformer.wte.weight": (vocab_size, width),
        "transformer.wpe.weight": (max_length, width),
    }
    matrices = {
        "attn.c_attn": (width, 3 * width),
        "attn.c_proj": (width, width),
        "mlp.c_fc": (width, 4 * width),
        "mlp.c_proj": (4 * width, width),
    }
    layers(shapes, "transformer.h", num_layers, matrices, {"ln_1": width, "ln_2": width})
    scale(shapes, "transformer.ln_f", width)
    return shapes


def create_parameters(*, seed: int = 0, **sizes: int) -> dict[str, np.ndarray]:
    """Random parameters; sizes as those of `parameter_shapes`."""
    return draw(parameter_shapes(**sizes), seed)
