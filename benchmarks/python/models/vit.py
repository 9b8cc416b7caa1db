"""tensorgrad's vision transformer for MNIST: patches of 4 x 4, width 128, two heads, one layer
whose two normalisations share their weights, the mean over the patches; without its dropout, so
that results can be compared."""

import numpy as np

from models.weights import Shapes

PATCH, LAYERS, WIDTH, HEADS, WIDE, CLASSES = 4, 1, 128, 2, 512, 10
SIDE, EPSILON = 28 // PATCH, 1e-5
TOKENS = SIDE * SIDE
VANISHING = ()  # gradients that are zero but for rounding
PROJECTIONS = ("query", "key", "value", "output")  # without biases


def shapes(layers: int = LAYERS, width: int = WIDTH, wide: int = WIDE) -> Shapes:
    found: Shapes = {
        "patch.weight": (PATCH * PATCH, width), "patch.bias": (width,),
        "positions": (TOKENS, width),
        "head.weight": (width, CLASSES), "head.bias": (CLASSES,),
    }  # fmt: skip
    for layer in range(layers):
        for name in PROJECTIONS:
            found[f"{layer}.{name}.weight"] = (width, width)
        for name, shape in {"wide": (width, wide), "narrow": (wide, width)}.items():
            found[f"{layer}.{name}.weight"], found[f"{layer}.{name}.bias"] = shape, shape[1:]
        found[f"{layer}.norm.scale"] = found[f"{layer}.norm.bias"] = (width,)
    return found


def flops(batch: int) -> float:
    """Of the products of a training step, forward and twice back."""
    dense = TOKENS * WIDTH * (4 * WIDTH + 2 * WIDE) + 2 * TOKENS * TOKENS * WIDTH
    ends = SIDE * SIDE * PATCH * PATCH * WIDTH + WIDTH * CLASSES
    return 3 * 2 * batch * (LAYERS * dense + ends)


def sizes_of(weights) -> tuple[int, int]:
    """Layers and width."""
    return sum(name.endswith("query.weight") for name in weights), weights["patch.bias"].shape[0]


def composit_model(images, weights):
    """In composit.numpy and composit.nn."""
    import composit.numpy as cnp
    from composit import nn

    w, batch, (layers, _) = weights, images.shape[0], sizes_of(weights)

    def linear(x, name):
        return x @ w[f"{name}.weight"] + w[f"{name}.bias"]

    def norm(x, layer):
        scale, bias = w[f"{layer}.norm.scale"], w[f"{layer}.norm.bias"]
        return nn.layer_norm(x, scale, bias, axis=-1, epsilon=EPSILON)

    def attention(x, layer):
        query, key, value = (
            cnp.swapaxes(
                cnp.reshape(x @ w[f"{layer}.{name}.weight"], (batch, TOKENS, HEADS, -1)), 1, 2
            )
            for name in PROJECTIONS[:3]
        )
        mixed = cnp.swapaxes(nn.scaled_dot_product_attention(query, key, value), 1, 2)
        return cnp.reshape(mixed, x.shape) @ w[f"{layer}.output.weight"]

    x = cnp.reshape(images, (batch, SIDE, PATCH, SIDE, PATCH))
    x = cnp.reshape(cnp.transpose(x, (0, 1, 3, 2, 4)), (batch, TOKENS, -1))
    x = linear(x, "patch") + w["positions"]
    for layer in range(layers):
        x = norm(x + attention(x, layer), layer)
        x = norm(x + linear(nn.relu(linear(x, f"{layer}.wide")), f"{layer}.narrow"), layer)
    return linear(cnp.mean(x, axis=1), "head")


def jax_model(images, weights):
    """In jax.numpy."""
    import jax
    import jax.numpy as jnp

    w, batch, (layers, width) = weights, images.shape[0], sizes_of(weights)

    def linear(x, name):
        return x @ w[f"{name}.weight"] + w[f"{name}.bias"]

    def norm(x, layer):
        deviation = x - jnp.mean(x, -1, keepdims=True)
        variance = jnp.mean(deviation**2, -1, keepdims=True)
        scale, bias = w[f"{layer}.norm.scale"], w[f"{layer}.norm.bias"]
        return deviation * jax.lax.rsqrt(variance + EPSILON) * scale + bias

    def attention(x, layer):
        query, key, value = (
            (x @ w[f"{layer}.{name}.weight"]).reshape(batch, TOKENS, HEADS, -1).swapaxes(1, 2)
            for name in PROJECTIONS[:3]
        )
        scores = query @ jnp.swapaxes(key, -1, -2) / np.sqrt(width // HEADS)
        mixed = (jax.nn.softmax(scores, -1) @ value).swapaxes(1, 2)
        return mixed.reshape(x.shape) @ w[f"{layer}.output.weight"]

    x = images.reshape(batch, SIDE, PATCH, SIDE, PATCH).transpose(0, 1, 3, 2, 4)
    x = linear(x.reshape(batch, TOKENS, -1), "patch") + w["positions"]
    for layer in range(layers):
        x = norm(x + attention(x, layer), layer)
        x = norm(x + linear(jax.nn.relu(linear(x, f"{layer}.wide")), f"{layer}.narrow"), layer)
    return linear(jnp.mean(x, 1), "head")


def torch_model(images, weights):
    """In torch.nn.functional."""
    from torch.nn import functional as F

    w, batch, (layers, width) = weights, images.shape[0], sizes_of(weights)

    def linear(x, name):
        return x @ w[f"{name}.weight"] + w[f"{name}.bias"]

    def norm(x, layer):
        scale, bias = w[f"{layer}.norm.scale"], w[f"{layer}.norm.bias"]
        return F.layer_norm(x, (width,), scale, bias, EPSILON)

    def attention(x, layer):
        query, key, value = (
            (x @ w[f"{layer}.{name}.weight"]).view(batch, TOKENS, HEADS, -1).transpose(1, 2)
            for name in PROJECTIONS[:3]
        )
        mixed = F.scaled_dot_product_attention(query, key, value).transpose(1, 2)
        return mixed.reshape(x.shape) @ w[f"{layer}.output.weight"]

    x = images.view(batch, SIDE, PATCH, SIDE, PATCH).permute(0, 1, 3, 2, 4)
    x = linear(x.reshape(batch, TOKENS, -1), "patch") + w["positions"]
    for layer in range(layers):
        x = norm(x + attention(x, layer), layer)
        x = norm(x + linear(F.relu(linear(x, f"{layer}.wide")), f"{layer}.narrow"), layer)
    return linear(x.mean(1), "head")
