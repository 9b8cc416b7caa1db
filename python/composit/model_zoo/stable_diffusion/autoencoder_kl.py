"""Stable Diffusion's autoencoder: from images to what their latents may be, and back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import composit.numpy as cnp
from composit import nn
from composit._core import LazyTensor
from composit.model_zoo.parameters import Parameters, attention, convolution, group_norm
from composit.model_zoo.stable_diffusion.blocks import (
    NUM_GROUPS,
    convert_parameters_to_numpy,
    image_of,
    interpolate,
    resnet_block,
    tokens_of,
)

__all__ = [
    "attention_block", "convert_parameters_to_numpy", "decoder", "encoder", "interpolate",
    "resnet_block",
]  # fmt: skip

EPSILON = 1e-6
PROJECTIONS = ("to_q", "to_k", "to_v", "to_out.0")


def attention_block(
    x: Any, parameters: Parameters, *, channels_last: bool, num_groups: int = NUM_GROUPS
) -> LazyTensor:
    """Attention of one head between the pixels of normalised images, added to x."""
    p = parameters
    y = group_norm(x, p / "group_norm", num_groups, channels_last=channels_last, epsilon=EPSILON)
    tokens = tokens_of(y, channels_last)
    return x + image_of(attention(tokens, tokens, p, PROJECTIONS, 1), x, channels_last)


def decoder(
    latents: Any,
    parameters: Mapping[str, Any],
    *,
    channels_last: bool,
    num_groups: int = NUM_GROUPS,
) -> LazyTensor:
    """(batch, 4, height, width) latents, as the encoder gives them, to images (batch, 3, 8 *
    height, 8 * width) with numbers from -1 to 1; with channels last, these are the last axis of
    both. Parameters by diffusers' names; they tell how many blocks there are."""
    p, last = Parameters(parameters), channels_last
    block: dict[str, Any] = {"channels_last": last, "epsilon": EPSILON, "num_groups": num_groups}
    x = convolution(latents, p / "post_quant_conv", channels_last=last)
    p = p / "decoder"
    x = _middle(
        convolution(x, p / "conv_in", channels_last=last), p / "mid_block", last, num_groups
    )
    for i in range((p / "up_blocks").count()):
        place = p / "up_blocks" / i
        for j in range((place / "resnets").count()):
            x = resnet_block(x, place / "resnets" / j, **block)
        if place.has("upsamplers"):
            x = interpolate(x, channels_last=last)
            x = convolution(x, place / "upsamplers.0.conv", channels_last=last)
    return _end(x, p, last, num_groups)


def encoder(
    image: Any,
    parameters: Mapping[str, Any],
    *,
    channels_last: bool,
    num_groups: int = NUM_GROUPS,
) -> LazyTensor:
    """The mean and the logarithm of the variance of an image's latents, four channels each."""
    p, last = Parameters(parameters), channels_last
    block: dict[str, Any] = {"channels_last": last, "epsilon": EPSILON, "num_groups": num_groups}
    place = p / "encoder"
    x = convolution(image, place / "conv_in", channels_last=last)
    for i in range((place / "down_blocks").count()):
        down = place / "down_blocks" / i
        for j in range((down / "resnets").count()):
            x = resnet_block(x, down / "resnets" / j, **block)
        if down.has("downsamplers"):
            sides = ((0, 1), (0, 1))  # a row below and a column to the right
            x = cnp.pad(x, ((0, 0), *sides, (0, 0)) if last else ((0, 0), (0, 0), *sides))
            filters = down / "downsamplers.0.conv"
            x = convolution(x, filters, channels_last=last, strides=2, padding=(0, 0))
    x = _end(_middle(x, place / "mid_block", last, num_groups), place, last, num_groups)
    return convolution(x, p / "quant_conv", channels_last=last)


def _middle(x: Any, p: Parameters, channels_last: bool, num_groups: int) -> LazyTensor:
    block: dict[str, Any] = {"channels_last": channels_last, "num_groups": num_groups}
    x = resnet_block(x, p / "resnets.0", epsilon=EPSILON, **block)
    x = attention_block(x, p / "attentions.0", **block)
    return resnet_block(x, p / "resnets.1", epsilon=EPSILON, **block)


def _end(x: Any, p: Parameters, channels_last: bool, num_groups: int) -> LazyTensor:
    norm: dict[str, Any] = {"channels_last": channels_last, "epsilon": EPSILON}
    x = nn.silu(group_norm(x, p / "conv_norm_out", num_groups, **norm))
    return convolution(x, p / "conv_out", channels_last=channels_last)
