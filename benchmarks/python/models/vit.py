"""A vision transformer (Dosovitskiy et al. 2020) for MNIST: patches of 7 x 7, six layers."""

import numpy as np

from models.weights import Shapes

PATCH, LAYERS, WIDTH, HEADS, WIDE, CLASSES = 7, 6, 64, 8, 128, 10
SIDE, EPSILON = 28 // PATCH, 1e-5
TOKENS = SIDE * SIDE + 1


def shapes(layers: int = LAYERS, width: int = WIDTH, wide: int = WIDE) -> Shapes:
    found: Shapes = {
        "patch.weight": (PATCH * PATCH, width), "patch.bias": (width,), "class": (1, 1, width),
        "positions": (TOKENS, width), "norm.scale": (width,), "norm.bias": (width,),
        "head.weight": (width, CLASSES), "head.bias": (CLASSES,),
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


def flops(batch: int) -> float:
    """Of the products of a training step, forward and twice back."""
    dense = TOKENS * WIDTH * (4 * WIDTH + 2 * WIDE) + 2 * TOKENS * TOKENS * WIDTH
    ends = SIDE * SIDE * PATCH * PATCH * WIDTH + WIDTH * CLASSES
    return 3 * 2 * batch * (LAYERS * dense + ends)


def sizes_of(weights) -> tuple[int, int]:
    """Layers and width."""
    return sum(name.endswith("query.bias") for name in weights), weights["norm.scale"].shape[0]


def composit_model(images, weights):
    """In composit.numpy and composit.nn."""
    import composit.numpy as cnp
    from composit import nn

    w, batch, (layers, width) = weights, images.shape[0], sizes_of(weights)

    def linear(x, name):
        return x @ w[f"{name}.weight"] + w[f"{name}.bias"]

    def norm(x, name):
        return nn.layer_norm(x, w[f"{name}.scale"], w[f"{name}.bias"], axis=-1, epsilon=EPSILON)

    def parameters(layer, *names):
        return [w[f"{layer}.{name}.{kind}"] for name in names for kind in ("weight", "bias")]

    x = cnp.reshape(images, (batch, SIDE, PATCH, SIDE, PATCH))
    x = linear(cnp.reshape(cnp.transpose(x, (0, 1, 3, 2, 4)), (batch, SIDE * SIDE, -1)), "patch")
    first = cnp.broadcast_to(w["class"], (batch, 1, width))
    x = cnp.concatenate([first, x], axis=1) + w["positions"]
    for layer in range(layers):
        projections = parameters(layer, "query", "key", "value", "output")
        x = x + nn.multi_head_attention(
            norm(x, f"{layer}.norm1"), None, *projections, head_size=width // HEADS
        )
        wide = parameters(layer, "wide", "narrow")
        x = x + nn.feedforward(norm(x, f"{layer}.norm2"), *wide)
    return linear(norm(x[:, 0], "norm"), "head")


def jax_model(images, weights):
    """In jax.numpy."""
    import jax
    import jax.numpy as jnp

    w, batch, (layers, width) = weights, images.shape[0], sizes_of(weights)

    def linear(x, name):
        return x @ w[f"{name}.weight"] + w[f"{name}.bias"]

    def norm(x, name):
        deviation = x - jnp.mean(x, -1, keepdims=True)
        variance = jnp.mean(deviation**2, -1, keepdims=True)
        scale, bias = w[f"{name}.scale"], w[f"{name}.bias"]
        return deviation * jax.lax.rsqrt(variance + EPSILON) * scale + bias

    def attention(x, layer):
        query, key, value = (
            linear(x, f"{layer}.{name}").reshape(batch, TOKENS, HEADS, -1).swapaxes(1, 2)
            for name in ("query", "key", "value")
        )
        scores = query @ jnp.swapaxes(key, -1, -2) / np.sqrt(width // HEADS)
        mixed = (jax.nn.softmax(scores, -1) @ value).swapaxes(1, 2)
        return linear(mixed.reshape(x.shape), f"{layer}.output")

    x = images.reshape(batch, SIDE, PATCH, SIDE, PATCH).transpose(0, 1, 3, 2, 4)
    x = linear(x.reshape(batch, SIDE * SIDE, -1), "patch")
    first = jnp.broadcast_to(w["class"], (batch, 1, width))
    x = jnp.concatenate([first, x], axis=1) + w["positions"]
    for layer in range(layers):
        x = x + attention(norm(x, f"{layer}.norm1"), layer)
        wide = jax.nn.gelu(linear(norm(x, f"{layer}.norm2"), f"{layer}.wide"), approximate=False)
        x = x + linear(wide, f"{layer}.narrow")
    return linear(norm(x[:, 0], "norm"), "head")


def torch_model(images, weights):
    """In torch.nn.functional."""
    import torch
    from torch.nn import functional as F

    w, batch, (layers, width) = weights, images.shape[0], sizes_of(weights)

    def linear(x, name):
        return x @ w[f"{name}.weight"] + w[f"{name}.bias"]

    def norm(x, name):
        return F.layer_norm(x, (width,), w[f"{name}.scale"], w[f"{name}.bias"], EPSILON)

    def attention(x, layer):
        query, key, value = (
            linear(x, f"{layer}.{name}").view(batch, TOKENS, HEADS, -1).transpose(1, 2)
            for name in ("query", "key", "value")
        )
        mixed = F.scaled_dot_product_attention(query, key, value).transpose(1, 2)
        return linear(mixed.reshape(x.shape), f"{layer}.output")

    x = images.view(batch, SIDE, PATCH, SIDE, PATCH).permute(0, 1, 3, 2, 4)
    x = linear(x.reshape(batch, SIDE * SIDE, -1), "patch")
    x = torch.cat([w["class"].expand(batch, 1, width), x], 1) + w["positions"]
    for layer in range(layers):
        x = x + attention(norm(x, f"{layer}.norm1"), layer)
        wide = F.gelu(linear(norm(x, f"{layer}.norm2"), f"{layer}.wide"))
        x = x + linear(wide, f"{layer}.narrow")
    return linear(norm(x[:, 0], "norm"), "head")
