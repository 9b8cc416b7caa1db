"""The vision transformer (Dosovitskiy et al. 2021): images to logits."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import numpy as np

import composit.numpy as cnp
from composit import nn
from composit._core import LazyTensor
from composit.model_zoo.parameters import (
    Parameters,
    Shapes,
    attention,
    convert,
    dense,
    draw,
    layer_norm,
    layers,
    linear,
    scale,
    state_of,
)

EPSILON = 1e-12
PROJECTIONS = ("q_proj", "k_proj", "v_proj", "o_proj")


def vit(images: Any, parameters: Mapping[str, Any], *, num_heads: int) -> LazyTensor:
    """(batch, channels, height, width) to (batch, classes). Parameters by transformers' names, as
    `convert_parameters_to_numpy` returns them."""
    p = Parameters(parameters)
    x = embed_patches(images, p / "vit.embeddings")
    for layer in range((p / "vit.layers").count()):
        x = vit_layer(x, p / "vit.layers" / layer, num_heads=num_heads)
    first = layer_norm(x, p / "vit.layernorm", EPSILON)[:, 0]
    return linear(first, p / "classifier")


def embed_patches(images: Any, parameters: Parameters) -> LazyTensor:
    """Each patch a token, after one token that stands for the whole image, and where each lies."""
    p, images = parameters, cnp.asarray(images)
    filters = p["patch_embeddings.projection.weight"]
    width, channels, size, _ = filters.shape
    batch, _, height, length = images.shape
    # Patches do not overlap: their convolution is a product.
    patches = cnp.reshape(images, (batch, channels, height // size, size, length // size, size))
    patches = cnp.reshape(
        cnp.transpose(patches, (0, 2, 4, 1, 3, 5)), (batch, -1, channels * size * size)
    )
    x = patches @ cnp.reshape(filters, (width, -1)).T + p["patch_embeddings.projection.bias"]
    first = cnp.broadcast_to(p["cls_token"], (batch, 1, width))
    return cnp.concatenate((first, x), axis=1) + p["position_embeddings"]


def vit_layer(x: Any, parameters: Parameters, *, num_heads: int) -> LazyTensor:
    """Attention and a network of two layers, each reading normalised tokens, added to them."""
    p = parameters
    y = layer_norm(x, p / "layernorm_before", EPSILON)
    x = x + attention(y, y, p / "attention", PROJECTIONS, num_heads)
    y = layer_norm(x, p / "layernorm_after", EPSILON)
    return x + linear(nn.gelu(linear(y, p / "mlp.fc1")), p / "mlp.fc2")


def convert_parameters_to_numpy(model: Any) -> dict[str, np.ndarray]:
    """Of transformers' ViTForImageClassification or its state_dict (older names, too): arrays by
    name, dense weights as (in, out)."""
    state = {_present_name(name): value for name, value in state_of(model).items()}
    return convert(state, lambda *_: True, channels_last=False)


def _present_name(name: str) -> str:
    """What transformers calls now what older files call otherwise."""
    for pattern, replacement in (
        (r"^vit\.encoder\.layer\.", "vit.layers."),
        (r"attention\.attention\.query", "attention.q_proj"),
        (r"attention\.attention\.key", "attention.k_proj"),
        (r"attention\.attention\.value", "attention.v_proj"),
        (r"attention\.output\.dense", "attention.o_proj"),
        (r"(layers\.\d+)\.intermediate\.dense", r"\1.mlp.fc1"),
        (r"(layers\.\d+)\.output\.dense", r"\1.mlp.fc2"),
    ):
        name = re.sub(pattern, replacement, name)
    return name


def parameter_shapes(
    *,
    num_layers: int = 12,
    width: int = 768,
    image_size: int = 224,
    patch_size: int = 16,
    num_classes: int = 1000,
    num_channels: int = 3,
) -> Shapes:
    """Names and shapes, by default those of ViT-B/16."""
    filters = (width, num_channels, patch_size, patch_size)
    shapes: Shapes = {
        "vit.embeddings.cls_token": (1, 1, width),
        "vit.embeddings.position_embeddings": (1, (image_size // patch_size) ** 2 + 1, width),
        "vit.embeddings.patch_embeddings.projection.weight": filters,
        "vit.embeddings.patch_embeddings.projection.bias": (width,),
    }
    matrices = {f"attention.{name}": (width, width) for name in PROJECTIONS}
    matrices |= {"mlp.fc1": (width, 4 * width), "mlp.fc2": (4 * width, width)}
    norms = {"layernorm_before": width, "layernorm_after": width}
    layers(shapes, "vit.layers", num_layers, matrices, norms)
    scale(shapes, "vit.layernorm", width)
    dense(shapes, "classifier", width, num_classes)
    return shapes


def create_parameters(*, seed: int = 0, **sizes: int) -> dict[str, np.ndarray]:
    """Random parameters; sizes as those of `parameter_shapes`."""
    return draw(parameter_shapes(**sizes), seed)
