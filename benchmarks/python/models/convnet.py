"""The ConvNet of PyTorch's MNIST example, without dropout: 28 x 28 images to ten logits."""

import numpy as np

from models.weights import Shapes

CLASSES = 10


def shapes(first: int = 32, second: int = 64, hidden: int = 128) -> Shapes:
    """With the numbers of filters and of hidden neurons."""
    return {
        "conv1.weight": (first, 1, 3, 3), "conv1.bias": (first,),
        "conv2.weight": (second, first, 3, 3), "conv2.bias": (second,),
        "dense1.weight": (second * 12 * 12, hidden), "dense1.bias": (hidden,),
        "dense2.weight": (hidden, CLASSES), "dense2.bias": (CLASSES,),
    }  # fmt: skip


def flops(batch: int) -> float:
    """Of the products of a training step: forward, and for each weight and hidden layer back."""
    first = 2 * batch * 26 * 26 * 32 * 9
    others = 2 * batch * (24 * 24 * 64 * 32 * 9 + 9216 * 128 + 128 * CLASSES)
    return 2 * first + 3 * others


def composit_model(images, weights):
    """In composit.nn."""
    import composit.numpy as cnp
    from composit import nn

    w = weights

    def convolution(x, name):
        x = nn.convolution(x, w[f"{name}.weight"], channels_last=False)
        return nn.relu(x + cnp.reshape(w[f"{name}.bias"], (-1, 1, 1)))

    x = convolution(convolution(images, "conv1"), "conv2")
    x = nn.max_pool(x, kernel_size=(2, 2), strides=(2, 2), channels_last=False)
    x = nn.relu(cnp.reshape(x, (x.shape[0], -1)) @ w["dense1.weight"] + w["dense1.bias"])
    return x @ w["dense2.weight"] + w["dense2.bias"]


def jax_model(images, weights):
    """In jax.numpy and jax.lax."""
    import jax
    from jax import lax

    w = weights

    def convolution(x, name):
        x = lax.conv(x, w[f"{name}.weight"], (1, 1), "VALID")
        return jax.nn.relu(x + w[f"{name}.bias"][:, None, None])

    x = convolution(convolution(images, "conv1"), "conv2")
    x = lax.reduce_window(x, -np.inf, lax.max, (1, 1, 2, 2), (1, 1, 2, 2), "VALID")
    x = jax.nn.relu(x.reshape(x.shape[0], -1) @ w["dense1.weight"] + w["dense1.bias"])
    return x @ w["dense2.weight"] + w["dense2.bias"]


def torch_model(images, weights):
    """In torch.nn.functional."""
    from torch.nn import functional as F

    w = weights
    x = F.relu(F.conv2d(images, w["conv1.weight"], w["conv1.bias"]))
    x = F.relu(F.conv2d(x, w["conv2.weight"], w["conv2.bias"]))
    x = F.max_pool2d(x, 2).flatten(1)
    x = F.relu(x @ w["dense1.weight"] + w["dense1.bias"])
    return x @ w["dense2.weight"] + w["dense2.bias"]
