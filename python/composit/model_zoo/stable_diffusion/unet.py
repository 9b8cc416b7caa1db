"""Stable Diffusion's U-Net: noisy latents, a time and a text to the noise in the latents."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

import composit.numpy as cnp
from composit import nn
from composit._core import LazyTensor
from composit.model_zoo.parameters import (
    Parameters,
    attention,
    convolution,
    group_norm,
    layer_norm,
    linear,
)
from composit.model_zoo.stable_diffusion.blocks import (
    NUM_GROUPS,
    convert_parameters_to_numpy,
    image_of,
    interpolate,
    resnet_block,
    tokens_of,
)

__all__ = ["convert_parameters_to_numpy", "embed_time", "transformer", "unet"]

EPSILON, ATTENTION_EPSILON, TOKEN_EPSILON = 1e-5, 1e-6, 1e-5
PROJECTIONS = ("to_q", "to_k", "to_v", "to_out.0")


def unet(
    latents: Any,
    time: Any,
    text: Any,
    parameters: Mapping[str, Any],
    *,
    num_heads: int = 8,
    channels_last: bool = False,
    num_groups: int = NUM_GROUPS,
) -> LazyTensor:
    """latents (batch, 4, height, width), or with channels last; time: one number; text (batch,
    tokens, width) -> the noise, shaped as the latents. Parameters by diffusers' names; they tell
    how many blocks there are, and which of them attend to the text."""
    p = Parameters(parameters)
    block = _Blocks(text, num_heads, channels_last, num_groups)
    block.time = embed_time(time, p)
    x = convolution(latents, p / "conv_in", channels_last=channels_last)
    skipped = [x]  # what the way up reads beside what comes from below
    for i in range((p / "down_blocks").count()):
        place = p / "down_blocks" / i
        for j in range((place / "resnets").count()):
            x = block(x, place, j)
            skipped.append(x)
        if place.has("downsamplers"):
            filters = place / "downsamplers.0.conv"
            x = convolution(x, filters, channels_last=channels_last, strides=2)
            skipped.append(x)
    x = block(x, p / "mid_block", 0)
    x = block.resnet(x, p / "mid_block.resnets.1")
    for i in range((p / "up_blocks").count()):
        place = p / "up_blocks" / i
        for j in range((place / "resnets").count()):
            both = (x, skipped.pop())
            x = block(cnp.concatenate(both, axis=-1 if channels_last else 1), place, j)
        if place.has("upsamplers"):
            x = interpolate(x, channels_last=channels_last)
            x = convolution(x, place / "upsamplers.0.conv", channels_last=channels_last)
    norm: dict[str, Any] = {"channels_last": channels_last, "epsilon": EPSILON}
    x = nn.silu(group_norm(x, p / "conv_norm_out", num_groups, **norm))
    return convolution(x, p / "conv_out", channels_last=channels_last)


class _Blocks:
    """What all blocks of one call share."""

    def __init__(self, text: Any, num_heads: int, channels_last: bool, num_groups: int) -> None:
        self.text, self.num_heads, self.channels_last = text, num_heads, channels_last
        self.num_groups = num_groups
        self.time: Any = None

    def __call__(self, x: Any, place: Parameters, index: int) -> LazyTensor:
        """The residual block of this index, and the transformer after it, where there is one."""
        x = self.resnet(x, place / "resnets" / index)
        if not place.has(f"attentions.{index}"):
            return x
        return transformer(
            x,
            self.text,
            place / "attentions" / index,
            num_heads=self.num_heads,
            channels_last=self.channels_last,
            num_groups=self.num_groups,
        )

    def resnet(self, x: Any, place: Parameters) -> LazyTensor:
        return resnet_block(
            x,
            place,
            channels_last=self.channels_last,
            epsilon=EPSILON,
            num_groups=self.num_groups,
            embedded_time=self.time,
        )


def embed_time(time: Any, parameters: Parameters) -> LazyTensor:
    """(1, width): cosines and sines of the time at falling speeds, then two layers."""
    p = parameters / "time_embedding"
    half = p["linear_1.weight"].shape[0] // 2
    speeds = np.exp(-math.log(10000) * np.arange(half, dtype=np.float32) / half)
    angles = cnp.astype(cnp.asarray(time), "float32") * speeds
    waves = cnp.concatenate((cnp.cos(angles), cnp.sin(angles)))[None]
    return linear(nn.silu(linear(waves, p / "linear_1")), p / "linear_2")


def transformer(
    x: Any,
    text: Any,
    parameters: Parameters,
    *,
    num_heads: int,
    channels_last: bool,
    num_groups: int = NUM_GROUPS,
) -> LazyTensor:
    """Attention between pixels, then from pixels to the text, then a gated network; added to x."""
    p, last = parameters, channels_last
    y = group_norm(x, p / "norm", num_groups, channels_last=last, epsilon=ATTENTION_EPSILON)
    tokens = tokens_of(_projected(y, p / "proj_in", last), last)
    for i in range((p / "transformer_blocks").count()):
        block = p / "transformer_blocks" / i
        y = layer_norm(tokens, block / "norm1", TOKEN_EPSILON)
        tokens = tokens + attention(y, y, block / "attn1", PROJECTIONS, num_heads)
        y = layer_norm(tokens, block / "norm2", TOKEN_EPSILON)
        tokens = tokens + attention(y, text, block / "attn2", PROJECTIONS, num_heads)
        y = layer_norm(tokens, block / "norm3", TOKEN_EPSILON)
        wide, gate = cnp.split(linear(y, block / "ff.net.0.proj"), 2, axis=-1)
        tokens = tokens + linear(wide * nn.gelu(gate), block / "ff.net.2")
    return x + _projected(image_of(tokens, x, last), p / "proj_out", last)


def _projected(image: LazyTensor, p: Parameters, channels_last: bool) -> LazyTensor:
    """By a convolution of 1 x 1 or, in later models, by a dense layer of each pixel."""
    if p["weight"].ndim == 4:
        return convolution(image, p, channels_last=channels_last)
    return image_of(linear(tokens_of(image, channels_last), p), image, channels_last)
