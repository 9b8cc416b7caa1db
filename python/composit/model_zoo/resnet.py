"""ResNet-18 to ResNet-152 (He et al. 2015): images to logits, stride in the 3 x 3 convolutions."""

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
    convert,
    convolution,
    dense,
    draw,
    linear,
    per_channel,
    state_of,
)

EPSILON = 1e-5
KINDS = ("running_mean", "running_var", "weight", "bias")


def resnet(image: Any, parameters: Mapping[str, Any], *, channels_last: bool) -> LazyTensor:
    """(batch, 3, height, width), or (batch, height, width, 3) with channels last, to (batch,
    classes). Parameters by torchvision's names; they say how many blocks there are, and whether
    these are of two convolutions (18, 34 layers) or of three (50, 101, 152)."""
    p = Parameters(parameters)
    x = nn.relu(_normalised(image, p / "conv1", p / "bn1", channels_last, strides=2))
    x = nn.max_pool(x, kernel_size=3, strides=2, padding=1, channels_last=channels_last)
    for stage in range(1, 5):
        for block in range((p / f"layer{stage}").count()):
            strides = 2 if stage > 1 and block == 0 else 1
            x = _block(x, p / f"layer{stage}" / block, channels_last, strides)
    return linear(cnp.mean(x, axis=(1, 2) if channels_last else (2, 3)), p / "fc")


def _block(x: Any, p: Parameters, channels_last: bool, strides: int) -> LazyTensor:
    shortcut = x
    if p.has("downsample"):
        place = p / "downsample"
        shortcut = _normalised(x, place / 0, place / 1, channels_last, strides)
    is_bottleneck = "conv3.weight" in p
    steps = (1, strides, 1) if is_bottleneck else (strides, 1)
    for i, step in enumerate(steps, 1):
        x = _normalised(x, p / f"conv{i}", p / f"bn{i}", channels_last, step)
        x = nn.relu(x if i < len(steps) else x + shortcut)
    return x


def _normalised(
    x: Any, filters: Parameters, norm: Parameters, channels_last: bool, strides: int
) -> LazyTensor:
    x = convolution(x, filters, channels_last=channels_last, strides=strides)
    values = (per_channel(norm[kind], channels_last) for kind in KINDS)
    return nn.batch_norm(x, *values, epsilon=EPSILON)


def convert_parameters_to_numpy(model: Any, channels_last: bool) -> dict[str, np.ndarray]:
    """Of torchvision's ResNet, transformers' ResNetForImageClassification, or the state_dict of
    either: arrays by torchvision's names, the last weight as (in, out), filters as (out, height,
    width, in) with channels last."""
    state = {torchvision_name(name): value for name, value in state_of(model).items()}
    return convert(state, lambda *_: True, channels_last)


def torchvision_name(name: str) -> str:
    """What torchvision calls a parameter that transformers calls `name`; torchvision's names stay
    as they are."""
    for pattern, replacement in (
        (r"^resnet\.", ""),
        (r"^embedder\.embedder\.", "stem."),
        (r"^stem\.convolution", "conv1"),
        (r"^stem\.normalization", "bn1"),
        (r"shortcut\.convolution", "downsample.0"),
        (r"shortcut\.normalization", "downsample.1"),
        (r"layer\.(\d)\.convolution", lambda m: f"conv{int(m[1]) + 1}"),
        (r"layer\.(\d)\.normalization", lambda m: f"bn{int(m[1]) + 1}"),
        (r"^encoder\.stages\.(\d)\.layers", lambda m: f"layer{int(m[1]) + 1}"),
        (r"^classifier\.1", "fc"),
    ):
        name = re.sub(pattern, replacement, name)
    return name


def parameter_shapes(
    depth: int = 50, *, num_classes: int = 1000, width: int = 64, num_channels: int = 3
) -> Shapes:
    """Names and shapes of a ResNet of 18, 34, 50, 101 or 152 layers, channels first. ValueError:
    another depth."""
    if depth not in BLOCKS:
        raise ValueError(f"parameter_shapes: depth is {depth}. It must be one of {list(BLOCKS)}.")
    shapes: Shapes = {}

    def convolution_and_norm(filters: str, norm: str, outputs: int, inputs: int, size: int) -> None:
        shapes[f"{filters}.weight"] = (outputs, inputs, size, size)
        for kind in KINDS:
            shapes[f"{norm}.{kind}"] = (outputs,)

    convolution_and_norm("conv1", "bn1", width, num_channels, 7)
    inputs = width
    for stage, count in enumerate(BLOCKS[depth], 1):
        narrow = width * 2 ** (stage - 1)
        for block in range(count):
            place = f"layer{stage}.{block}"
            layers = [(narrow, 1), (narrow, 3), (4 * narrow, 1)]
            layers = layers if depth >= 50 else [(narrow, 3), (narrow, 3)]
            before, outputs = inputs, layers[-1][0]
            for i, (after, size) in enumerate(layers, 1):
                convolution_and_norm(f"{place}.conv{i}", f"{place}.bn{i}", after, before, size)
                before = after
            if inputs != outputs:
                shortcut = f"{place}.downsample"
                convolution_and_norm(f"{shortcut}.0", f"{shortcut}.1", outputs, inputs, 1)
            inputs = outputs
    dense(shapes, "fc", inputs, num_classes)
    return shapes


def create_parameters(
    depth: int = 50, *, num_classes: int = 1000, channels_last: bool = False, seed: int = 0
) -> dict[str, np.ndarray]:
    """Random parameters of a ResNet of this depth."""
    drawn = draw(parameter_shapes(depth, num_classes=num_classes), seed)
    return convert(drawn, lambda *_: False, channels_last)


# How many blocks the four stages have.
BLOCKS = {
    18: (2, 2, 2, 2), 34: (3, 4, 6, 3), 50: (3, 4, 6, 3), 101: (3, 4, 23, 3), 152: (3, 8, 36, 3),
}  # fmt: skip
