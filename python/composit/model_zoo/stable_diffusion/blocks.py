"""What the U-Net and the autoencoder are made of."""

from __future__ import annotations

from typing import Any

import numpy as np

import composit.numpy as cnp
from composit import nn
from composit._core import LazyTensor
from composit.model_zoo.parameters import Parameters, convert, convolution, group_norm, state_of

NUM_GROUPS = 32


def convert_parameters_to_numpy(model: Any, channels_last: bool) -> dict[str, np.ndarray]:
    """Of diffusers' AutoencoderKL or UNet2DConditionModel, or a state_dict: arrays by name, dense
    weights as (in, out), filters as (out, height, width, in) with channels last."""
    return convert(state_of(model), lambda *_: True, channels_last)


def interpolate(image: Any, *, channels_last: bool) -> LazyTensor:
    """Twice the height and width, each pixel four times."""
    axes = (1, 2) if channels_last else (2, 3)
    return cnp.repeat(cnp.repeat(image, 2, axis=axes[0]), 2, axis=axes[1])


def resnet_block(
    x: Any,
    parameters: Parameters,
    *,
    channels_last: bool,
    epsilon: float,
    num_groups: int = NUM_GROUPS,
    embedded_time: Any = None,
) -> LazyTensor:
    """Two convolutions of normalised images, added to x; between them, where the block has weights
    for it, the time, (batch, width)."""
    p = parameters
    norm: dict[str, Any] = {
        "num_groups": num_groups,
        "channels_last": channels_last,
        "epsilon": epsilon,
    }
    y = nn.silu(group_norm(x, p / "norm1", **norm))
    y = convolution(y, p / "conv1", channels_last=channels_last)
    if p.has("time_emb_proj"):
        weight, bias = p["time_emb_proj.weight"], p["time_emb_proj.bias"]
        time = nn.silu(embedded_time) @ weight + bias
        y = y + (time[:, None, None, :] if channels_last else time[:, :, None, None])
    y = nn.silu(group_norm(y, p / "norm2", **norm))
    y = convolution(y, p / "conv2", channels_last=channels_last)
    if p.has("conv_shortcut"):
        x = convolution(x, p / "conv_shortcut", channels_last=channels_last)
    return x + y


def tokens_of(image: LazyTensor, channels_last: bool) -> LazyTensor:
    """(batch, height * width, channels): each pixel a token."""
    image = image if channels_last else cnp.transpose(image, (0, 2, 3, 1))
    batch, _, _, channels = image.shape
    return cnp.reshape(image, (batch, -1, channels))


def image_of(tokens: LazyTensor, like: LazyTensor, channels_last: bool) -> LazyTensor:
    """The tokens as pixels of an image as high and wide as `like`."""
    height, width = like.shape[1:3] if channels_last else like.shape[2:]
    batch, _, channels = tokens.shape
    image = cnp.reshape(tokens, (batch, height, width, channels))
    return image if channels_last else cnp.transpose(image, (0, 3, 1, 2))
