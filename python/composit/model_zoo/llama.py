"""A decoder in the manner of Llama (Touvron et al. 2023): rotary positions, grouped heads, gated
networks, root mean square norms."""

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
    convert,
    dense,
    draw,
    join_heads,
    layers,
    linear,
    split_heads,
    state_of,
)

EPSILON = 1e-6


def llama(
    input_ids: Any,
    parameters: Mapping[str, Any],
    *,
    num_heads: int,
    cache: Cache | None = None,
    position: Any = 0,
    theta: float = 10000.0,
    epsilon: float = EPSILON,
) -> Any:
    """(batch, tokens) ids to (batch, tokens, vocabulary). With a cache, the tokens are those at
    `position`, `position` + 1 …, they see those before them in the cache, and the result is
    (logits, the cache with them). `num_heads` are those of queries; the parameters, by
    transformers' names, tell how many heads keys have. theta: of the rotary positions."""
    p = Parameters(parameters) / "model"
    x = nn.embedding(input_ids, p["embed_tokens.weight"])
    tokens = x.shape[1]
    head_size = p["layers.0.self_attn.q_proj.weight"].shape[1] // num_heads
    places = cnp.asarray(position) + cnp.arange(tokens)
    turns = nn.rotary_angles(places, head_size, base=theta)
    updated = []
    for layer in range((p / "layers").count()):
        place, before = p / "layers" / layer, None if cache is None else cache[layer]
        y = nn.rms_norm(x, place["input_layernorm.weight"], epsilon=epsilon)
        y, after = attention(y, turns, place / "self_attn", num_heads, before, position)
        x = x + y
        y = nn.rms_norm(x, place["post_attention_layernorm.weight"], epsilon=epsilon)
        x = x + gated(y, place / "mlp")
        updated.append(after)
    logits = nn.rms_norm(x, p["norm.weight"], epsilon=epsilon) @ _head(parameters)
    return logits if cache is None else (logits, updated)


def attention(
    x: Any,
    turns: tuple[LazyTensor, LazyTensor],
    parameters: Parameters,
    num_heads: int,
    cache: Any,
    position: Any,
) -> tuple[LazyTensor, Any]:
    """Several heads of queries share a head of keys and values (Ainslie et al. 2023)."""
    p = parameters
    head_size = p["q_proj.weight"].shape[1] // num_heads
    num_key_heads = p["k_proj.weight"].shape[1] // head_size
    query = nn.rotary_embedding(split_heads(linear(x, p / "q_proj"), num_heads), *turns)
    key = nn.rotary_embedding(split_heads(linear(x, p / "k_proj"), num_key_heads), *turns)
    value = split_heads(linear(x, p / "v_proj"), num_key_heads)
    mixed, cache = attend(query, key, value, cache, position)
    return linear(join_heads(mixed), p / "o_proj"), cache


def gated(x: Any, parameters: Parameters) -> LazyTensor:
    """Two layers, the first of which another one opens and closes (Shazeer 2020)."""
    p = parameters
    return linear(nn.silu(linear(x, p / "gate_proj")) * linear(x, p / "up_proj"), p / "down_proj")


def _head(parameters: Mapping[str, Any]) -> LazyTensor:
    p = Parameters(parameters)
    return p["lm_head.weight"] if "lm_head.weight" in p else p["model.embed_tokens.weight"].T


def convert_parameters_to_numpy(model: Any) -> dict[str, np.ndarray]:
    """Of transformers' LlamaForCausalLM (and models of the same form, as Mistral's) or its
    state_dict: arrays by name, dense weights as (in, out)."""
    state = state_of(model)
    words, head = state["model.embed_tokens.weight"], state.get("lm_head.weight")
    if head is not None and np.shares_memory(words, head):
        del state["lm_head.weight"]
    state = {n: v for n, v in state.items() if not n.endswith("rotary_emb.inv_freq")}
    return convert(state, lambda name, _: "embed_tokens" not in name, channels_last=False)


def parameter_shapes(
    *,
    num_layers: int = 8,
    width: int = 512,
    num_heads: int = 8,
    num_key_heads: int = 4,
    hidden_width: int = 1408,
    vocab_size: int = 32000,
) -> Shapes:
    """Names and shapes, by default those of a small model."""
    narrow = width // num_heads * num_key_heads
    shapes: Shapes = {"model.embed_tokens.weight": (vocab_size, width)}
    matrices = {
        "self_attn.q_proj": (width, width),
        "self_attn.k_proj": (width, narrow),
        "self_attn.v_proj": (width, narrow),
        "self_attn.o_proj": (width, width),
        "mlp.gate_proj": (width, hidden_width),
        "mlp.up_proj": (width, hidden_width),
        "mlp.down_proj": (hidden_width, width),
    }
    norms = dict.fromkeys(("input_layernorm", "post_attention_layernorm"), width)
    layers(shapes, "model.layers", num_layers, matrices, norms, bias=False)
    shapes["model.norm.weight"] = (width,)
    dense(shapes, "lm_head", width, vocab_size, bias=False)
    return shapes


def create_parameters(*, seed: int = 0, **sizes: int) -> dict[str, np.ndarray]:
    """Random parameters; sizes as those of `parameter_shapes`."""
    return draw(parameter_shapes(**sizes), seed)
