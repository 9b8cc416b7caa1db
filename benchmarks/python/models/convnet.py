"""tensorgrad's ConvNet for MNIST: 28 x 28 images to ten logits. Three times a convolution of 3 x 3,
batch normalisation, relu and average pooling, then one dense layer; without its dropout, so that
results can be compared. Normalisation is by the batch, no running statistics are kept."""

import numpy as np

from models.weights import Shapes

CHANNELS, CLASSES, SIDE = (8, 16, 32), 10, 28
PADDING = (1, 2, 1)  # of the convolutions: sides of 28, 16 and 8
EPSILON = 1e-5
# Gradients that are zero but for rounding: normalisation takes the biases away again.
VANISHING = tuple(f"{i}.bias" for i in range(len(CHANNELS)))


def shapes(channels: tuple[int, ...] = CHANNELS) -> Shapes:
    """With the numbers of filters."""
    found: Shapes = {}
    for i, (before, after) in enumerate(zip((1, *channels), channels)):
        found[f"{i}.filters"], found[f"{i}.bias"] = (after, before, 3, 3), (after,)
        found[f"{i}.norm.scale"] = found[f"{i}.norm.bias"] = (after,)
    return found | {"dense.weight": (channels[-1] * 4 * 4, CLASSES), "dense.bias": (CLASSES,)}


def flops(batch: int) -> float:
    """Of the products of a training step: forward, and for each weight and hidden layer back."""
    first, second, third = CHANNELS
    image = 28 * 28 * 9 * first
    hidden = 16 * 16 * 9 * first * second + 8 * 8 * 9 * second * third + 16 * third * CLASSES
    return 2 * batch * (2 * image + 3 * hidden)


def composit_model(images, weights):
    """In composit.nn."""
    import composit.numpy as cnp
    from composit import nn

    w, x = weights, images
    for i, padding in enumerate(PADDING):
        bias, scale, shift = (
            cnp.reshape(w[f"{i}.{name}"], (-1, 1, 1))
            for name in ("bias", "norm.scale", "norm.bias")
        )
        x = nn.convolution(x, w[f"{i}.filters"], channels_last=False, padding=(padding, padding))
        x = nn.relu(nn.layer_norm(x + bias, scale, shift, axis=(0, 2, 3), epsilon=EPSILON))
        x = nn.average_pool(x, kernel_size=(2, 2), strides=(2, 2), channels_last=False)
    return cnp.reshape(x, (x.shape[0], -1)) @ w["dense.weight"] + w["dense.bias"]


def jax_model(images, weights):
    """In jax.numpy and jax.lax."""
    import jax
    import jax.numpy as jnp
    from jax import lax

    def norm(x, scale, bias):
        deviation = x - jnp.mean(x, (0, 2, 3), keepdims=True)
        variance = jnp.mean(deviation**2, (0, 2, 3), keepdims=True)
        return deviation * lax.rsqrt(variance + EPSILON) * scale + bias

    w, x = weights, images
    for i, padding in enumerate(PADDING):
        bias, scale, shift = (
            w[f"{i}.{name}"][:, None, None] for name in ("bias", "norm.scale", "norm.bias")
        )
        x = lax.conv(x, w[f"{i}.filters"], (1, 1), [(padding, padding)] * 2) + bias
        x = jax.nn.relu(norm(x, scale, shift))
        x = lax.reduce_window(x, np.float32(0), lax.add, (1, 1, 2, 2), (1, 1, 2, 2), "VALID") / 4
    return x.reshape(x.shape[0], -1) @ w["dense.weight"] + w["dense.bias"]


def torch_model(images, weights):
    """In torch.nn.functional."""
    from torch.nn import functional as F

    w, x = weights, images
    for i, padding in enumerate(PADDING):
        x = F.conv2d(x, w[f"{i}.filters"], w[f"{i}.bias"], padding=padding)
        scale, shift = w[f"{i}.norm.scale"], w[f"{i}.norm.bias"]
        x = F.relu(F.batch_norm(x, None, None, scale, shift, True, eps=EPSILON))
        x = F.avg_pool2d(x, 2)
    return x.flatten(1) @ w["dense.weight"] + w["dense.bias"]
