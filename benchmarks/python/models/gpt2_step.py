"""GPT-2 small for one token after others, whose keys and values are known: for JAX and PyTorch."""

import numpy as np

from models.weights import Weights

LAYERS, HEADS, SIZE, WIDTH, EPSILON = 12, 12, 64, 768, 1e-5


def empty_cache(capacity: int) -> list[tuple[np.ndarray, np.ndarray]]:
    shape = (1, HEADS, capacity, SIZE)
    return [(np.zeros(shape, "float32"), np.zeros(shape, "float32")) for _ in range(LAYERS)]


def jax_model(ids, position, cache, weights):
    """(logits, the cache with the token) with the cache and position that composit has."""
    import jax
    import jax.numpy as jnp

    w = weights

    def norm(x, name):
        deviation = x - jnp.mean(x, -1, keepdims=True)
        variance = jnp.mean(deviation**2, -1, keepdims=True)
        scaled = deviation * jax.lax.rsqrt(variance + EPSILON)
        return scaled * w[f"{name}.weight"] + w[f"{name}.bias"]

    def linear(x, name):
        return x @ w[f"{name}.weight"] + w[f"{name}.bias"]

    x = w["transformer.wte.weight"][ids] + w["transformer.wpe.weight"][position]
    is_seen = jnp.arange(cache[0][0].shape[2]) <= position
    updated = []
    for layer in range(LAYERS):
        place = f"transformer.h.{layer}"
        projected = linear(norm(x, f"{place}.ln_1"), f"{place}.attn.c_attn")
        query, key, value = (
            part.reshape(1, 1, HEADS, SIZE).swapaxes(1, 2) for part in jnp.split(projected, 3, -1)
        )
        keys, values = (
            jax.lax.dynamic_update_slice(known, new, (0, 0, position, 0))
            for known, new in zip(cache[layer], (key, value))
        )
        updated.append((keys, values))
        scores = query @ keys.swapaxes(-1, -2) / np.float32(np.sqrt(SIZE))
        likely = jax.nn.softmax(jnp.where(is_seen, scores, -jnp.inf), -1)
        mixed = (likely @ values).swapaxes(1, 2).reshape(x.shape)
        x = x + linear(mixed, f"{place}.attn.c_proj")
        wide = jax.nn.gelu(linear(norm(x, f"{place}.ln_2"), f"{place}.mlp.c_fc"), approximate=True)
        x = x + linear(wide, f"{place}.mlp.c_proj")
    return norm(x, "transformer.ln_f") @ w["transformer.wte.weight"].T, updated


def jax_call(ids, position, cache, weights: Weights):
    """A call of jax.jit, until the logits are there; the cache is donated, as it changes in one row
    only."""
    import jax

    ids, position, cache, weights = jax.device_put((ids, position, cache, weights))
    compiled = jax.jit(jax_model, donate_argnums=2)

    def call():
        nonlocal cache
        logits, cache = jax.block_until_ready(compiled(ids, position, cache, weights))
        return logits

    return call


def torch_model(weights: Weights):
    """A module of (ids, keys and values of each layer): logits, then the token's own keys and
    values."""
    import torch
    from torch.nn import functional as F

    class Model(torch.nn.Module):
        def __init__(self):
            super().__init__()
            for name, value in weights.items():
                self.register_buffer(name.replace(".", "_"), torch.from_numpy(value))

        def weight(self, name):
            return getattr(self, name.replace(".", "_"))

        def norm(self, x, name):
            scale, bias = self.weight(f"{name}.weight"), self.weight(f"{name}.bias")
            return F.layer_norm(x, (WIDTH,), scale, bias, EPSILON)

        def linear(self, x, name):
            return x @ self.weight(f"{name}.weight") + self.weight(f"{name}.bias")

        def forward(self, ids, *known):
            words, places = (self.weight(f"transformer.{n}.weight") for n in ("wte", "wpe"))
            x = F.embedding(ids, words) + places[known[0].shape[2]]
            new = []
            for layer in range(LAYERS):
                place = f"transformer.h.{layer}"
                projected = self.linear(self.norm(x, f"{place}.ln_1"), f"{place}.attn.c_attn")
                query, key, value = (
                    part.view(1, 1, HEADS, SIZE).transpose(1, 2) for part in projected.chunk(3, -1)
                )
                keys = torch.cat((known[2 * layer], key), 2)
                values = torch.cat((known[2 * layer + 1], value), 2)
                new += [key, value]
                mixed = F.scaled_dot_product_attention(query, keys, values)
                mixed = mixed.transpose(1, 2).reshape(1, 1, WIDTH)
                x = x + self.linear(mixed, f"{place}.attn.c_proj")
                wide = self.linear(self.norm(x, f"{place}.ln_2"), f"{place}.mlp.c_fc")
                wide = F.gelu(wide, approximate="tanh")
                x = x + self.linear(wide, f"{place}.mlp.c_proj")
            return self.norm(x, "transformer.ln_f") @ words.T, *new

    return Model().eval()


def transformers_call(weights: Weights, text: np.ndarray, last: np.ndarray):
    """transformers' own model and cache; the token is forgotten again after each call."""
    import torch
    from transformers import GPT2Config, GPT2LMHeadModel

    model = GPT2LMHeadModel(GPT2Config()).eval()
    state = {name: torch.from_numpy(value) for name, value in weights.items()}
    model.load_state_dict({**state, "lm_head.weight": state["transformer.wte.weight"]})
    ids = torch.from_numpy(last)
    with torch.inference_mode():
        cache = model(torch.from_numpy(text), use_cache=True).past_key_values

    def call():
        with torch.inference_mode():
            logits = model(ids, past_key_values=cache, use_cache=True).logits
            cache.crop(-1)
            return logits

    return call
