"""A convolutional network."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from composit.cg import op
from composit.cg.models.fcn import linear
from composit.cg.module import Module
from composit.cg.template import Parameter, Variable


class Convolution(Module):
    """Filters of 3 x 3 over images (batch, channels, height, width) of the same size, and relu."""

    def __init__(self, random: np.random.RandomState, channels: int, filters: int) -> None:
        weights = random.standard_normal((filters, channels, 3, 3)) * np.sqrt(2 / (9 * channels))
        super().__init__(
            inputs=(Variable("images"),),
            params=(
                Parameter("filters", weights.astype(np.float32)),
                Parameter("bias", np.zeros((filters, 1, 1), np.float32)),
            ),
        )

    def call(self, images: Any) -> Any:
        made = op.convolution(images, self.param("filters"), padding=(1, 1))
        return op.relu(op.add(made, self.param("bias")))


class Convolutional(Module):
    """Scores (batch, classes) of images (batch, 1, size, size): convolutions of so many filters,
    each with maxima over 2 x 2, then a linear layer."""

    def __init__(
        self, size: int = 8, filters: Sequence[int] = (16, 32), classes: int = 10, seed: int = 0
    ) -> None:
        super().__init__(inputs=(Variable("images"),))
        random = np.random.RandomState(seed)
        channels = [1, *filters]
        self.convolutions = [Convolution(random, a, b) for a, b in pairwise(channels)]
        side = size // 2 ** len(filters)
        self.features = channels[-1] * side * side
        self.last = linear(random, self.features, classes)

    def call(self, images: Any) -> Any:
        x = images
        for convolution in self.convolutions:
            x = op.max_pool(convolution(x), kernel_size=(2, 2), strides=(2, 2))
        return self.last(op.reshape(x, shape=(x.tensor.shape[0], self.features)))
