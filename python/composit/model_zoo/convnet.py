"""A small network for digits of 28 x 28 pixels: two convolutions, a pooling, two dense layers."""

from __future__ import annotations

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
    state_of,
)


def convnet(images: Any, parameters: Mapping[str, Any]) -> LazyTensor:
    """(batch, 1, 28, 28) to (batch, 10) logits: `conv1`, `conv2`, `fc1`, `fc2`, as PyTorch's
    example for MNIST names them."""
    p = Parameters(parameters)
    x = nn.relu(convolution(images, p / "conv1", channels_last=False, padding=(0, 0)))
    x = nn.relu(convolution(x, p / "conv2", channels_last=False, padding=(0, 0)))
    x = nn.max_pool(x, kernel_size=2, strides=2, padding=0, channels_last=False)
    x = nn.relu(linear(cnp.reshape(x, (x.shape[0], -1)), p / "fc1"))
    return linear(x, p / "fc2")


def convert_parameters_to_numpy(model: Any) -> dict[str, np.ndarray]:
    """Of a torch module with these layers, or its state_dict: dense weights as (in, out)."""
    return convert(state_of(model), lambda *_: True, channels_last=False)


def parameter_shapes() -> Shapes:
    """Names and shapes."""
    shapes: Shapes = {
        "conv1.weight": (32, 1, 3, 3), "conv1.bias": (32,),
        "conv2.weight": (64, 32, 3, 3), "conv2.bias": (64,),
    }  # fmt: skip
    dense(shapes, "fc1", 64 * 12 * 12, 128)
    dense(shapes, "fc2", 128, 10)
    return shapes


def create_parameters(*, seed: int = 0) -> dict[str, np.ndarray]:
    """Random parameters."""
    return draw(parameter_shapes(), seed)
