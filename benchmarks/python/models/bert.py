"""BERT-base (Devlin et al. 2019) without its pooler: token ids and a mask to hidden states."""

import numpy as np

from models.weights import Shapes, Weights

LAYERS, WIDTH, HEADS, WIDE, VOCABULARY, POSITIONS = 12, 768, 12, 3072, 30522, 512
EPSILON = 1e-12


def shapes(
    layers: int = LAYERS, width: int = WIDTH, wide: int = WIDE, vocabulary: int = VOCABULARY
) -> Shapes:
    found: Shapes = {
        "words": (vocabulary, width), "positions": (POSITIONS, width), "types": (2, width),
        "norm.scale": (width,), "norm.bias": (width,),
    }  # fmt: skip
    widths = {
        "query": (width, width), "key": (width, width), "value": (width, width),
        "output": (width, width), "wide": (width, wide), "narrow": (wide, width),
    }  # fmt: skip
    for layer in range(layers):
        for name, shape in widths.items():
            found[f"{layer}.{name}.weight"] = shape
            found[f"{layer}.{name}.bias"] = shape[1:]
        for name in ("norm1", "norm2"):
            found[f"{layer}.{name}.scale"] = found[f"{layer}.{name}.bias"] = (width,)
    return found


def inputs(
    batch: int, length: int = 128, vocabulary: int = VOCABULARY
) -> tuple[np.ndarray, np.ndarray]:
    """Token ids, and a mask that is 0 at the end of each text."""
    ids = np.random.default_rng(batch).integers(0, vocabulary, (batch, length))
    mask = np.ones((batch, length), np.int64)
    mask[:, length - 8 :] = 0
    return ids, mask


def flops(batch: int, length: int = 128) -> float:
    """Of the products."""
    dense = 2 * batch * length * WIDTH * (4 * WIDTH + 2 * WIDE)
    return LAYERS * (dense + 4 * batch * length * length * WIDTH)


def sizes_of(weights) -> tuple[int, int]:
    """Layers and the width of a head."""
    layers = sum(name.endswith("query.bias") for name in weights)
    return layers, weights["norm.scale"].shape[0] // HEADS


def composit_model(ids, mask, weights, wrapped=lambda layer: layer):
    """In composit.numpy and composit.nn. `wrapped(layer)` is called in place of each layer."""
    import composit.numpy as cnp
    from composit import nn

    w, (layers, head_size) = weights, sizes_of(weights)

    def norm(x, scale, bias):
        return nn.layer_norm(x, scale, bias, axis=-1, epsilon=EPSILON)

    def parameters(names, *kinds):
        return [w[f"{name}.{kind}"] for name in names for kind in kinds]

    def layer(x, mask, projections, norm1, wide, norm2):
        attended = nn.multi_head_attention(x, mask, *projections, head_size=head_size)
        x = norm(x + attended, *norm1)
        return norm(x + nn.feedforward(x, *wide), *norm2)

    attention_mask = (1 - cnp.astype(mask, "float32")[:, None, None, :]) * -1e9
    x = nn.embedding(ids, w["words"]) + w["positions"][: ids.shape[1]] + w["types"][0]
    x = norm(x, *parameters(["norm"], "scale", "bias"))
    for i in range(layers):
        projections = [f"{i}.{name}" for name in ("query", "key", "value", "output")]
        x = wrapped(layer)(
            x, attention_mask,
            parameters(projections, "weight", "bias"),
            parameters([f"{i}.norm1"], "scale", "bias"),
            parameters([f"{i}.wide", f"{i}.narrow"], "weight", "bias"),
            parameters([f"{i}.norm2"], "scale", "bias"),
        )  # fmt: skip
    return x


def jax_model(ids, mask, weights):
    """In jax.numpy."""
    import jax
    import jax.numpy as jnp

    w, (layers, head_size) = weights, sizes_of(weights)

    def norm(x, name):
        deviation = x - jnp.mean(x, -1, keepdims=True)
        variance = jnp.mean(deviation**2, -1, keepdims=True)
        scale, bias = w[f"{name}.scale"], w[f"{name}.bias"]
        return deviation * jax.lax.rsqrt(variance + EPSILON) * scale + bias

    def linear(x, name):
        return x @ w[f"{name}.weight"] + w[f"{name}.bias"]

    def heads(x, name):
        x = linear(x, name).reshape(*x.shape[:2], HEADS, head_size)
        return jnp.transpose(x, (0, 2, 1, 3))

    def attention(x, layer):
        query, key, value = (heads(x, f"{layer}.{name}") for name in ("query", "key", "value"))
        scores = query @ jnp.swapaxes(key, -1, -2) / np.sqrt(head_size) + attention_mask
        mixed = jnp.transpose(jax.nn.softmax(scores, -1) @ value, (0, 2, 1, 3))
        return linear(mixed.reshape(x.shape), f"{layer}.output")

    attention_mask = (1 - mask.astype("float32")[:, None, None, :]) * -1e9
    x = norm(w["words"][ids] + w["positions"][: ids.shape[1]] + w["types"][0], "norm")
    for layer in range(layers):
        x = norm(x + attention(x, layer), f"{layer}.norm1")
        wide = jax.nn.gelu(linear(x, f"{layer}.wide"), approximate=False)
        x = norm(x + linear(wide, f"{layer}.narrow"), f"{layer}.norm2")
    return x


def torch_names(weights) -> dict[str, str]:
    """By our names: those of transformers' BertModel."""
    names = {
        "words": "embeddings.word_embeddings.weight",
        "positions": "embeddings.position_embeddings.weight",
        "types": "embeddings.token_type_embeddings.weight",
        "norm.scale": "embeddings.LayerNorm.weight",
        "norm.bias": "embeddings.LayerNorm.bias",
    }
    parts = {
        "query": "attention.self.query", "key": "attention.self.key",
        "value": "attention.self.value", "output": "attention.output.dense",
        "norm1": "attention.output.LayerNorm", "wide": "intermediate.dense",
        "narrow": "output.dense", "norm2": "output.LayerNorm",
    }  # fmt: skip
    for name in weights:
        if name not in names:
            layer, part, kind = name.split(".")
            kind = "weight" if kind == "scale" else kind
            names[name] = f"encoder.layer.{layer}.{parts[part]}.{kind}"
    return names


def torch_layout(name: str, value):
    """PyTorch keeps dense weights as (out, in)."""
    return value.T if value.ndim == 2 and name.endswith("weight") else value


def empty_bert():
    """transformers' BertModel, its weights without values."""
    import torch
    from transformers import BertConfig, BertModel

    config = BertConfig(  # its other defaults are BERT-base
        attn_implementation="eager", hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0
    )
    with torch.device("meta"):
        bert = BertModel(config, add_pooling_layer=False)
    bert = bert.to_empty(device="cpu")
    for kind in ("position_ids", "token_type_ids"):
        is_place = kind == "position_ids"
        values = torch.arange(POSITIONS) if is_place else torch.zeros(POSITIONS).long()
        setattr(bert.embeddings, kind, values[None])
    return bert


def torch_model(weights: Weights):
    """transformers' BertModel with these weights: a module of ids and mask."""
    import torch

    names, bert = torch_names(weights), empty_bert()
    bert.load_state_dict(
        {
            names[name]: torch.from_numpy(np.ascontiguousarray(torch_layout(name, value)))
            for name, value in weights.items()
        }
    )

    class Model(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.bert = bert

        def forward(self, ids, mask):
            return self.bert(input_ids=ids, attention_mask=mask).last_hidden_state

    return Model().eval()


def logits_of(hidden_states):
    """Ten classes: what a classifier without weights of its own makes of the first token."""
    return hidden_states[:, 0, :10]


def composit_classifier(ids, weights, wrapped=lambda layer: layer):
    return logits_of(composit_model(ids, np.ones(ids.shape, np.int64), weights, wrapped))


def jax_classifier(ids, weights):
    return logits_of(jax_model(ids, np.ones(ids.shape, np.int64), weights))


def torch_classifier():
    """A function of ids and weights, by transformers' BertModel."""
    import torch

    bert = empty_bert().train()

    def model(ids, weights):
        names = torch_names(weights)
        state = {names[name]: torch_layout(name, value) for name, value in weights.items()}
        return logits_of(torch.func.functional_call(bert, state, (ids,)).last_hidden_state)

    return model
