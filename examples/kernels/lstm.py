"""A long short-term memory that predicts the characters of a text: ADBench's, with its gradient.

Each of the layers has four gates with one weight and one bias for each of d units (no matrices);
what goes in is scaled, and what comes out is scaled and moved. The loss is the mean of the
characters' log probabilities, less a 2 that keeps the logarithm away from zero.
"""

# ruff: noqa: F821

import math

import numpy as np

import composit.numpy as cnp
from composit import knossos
from composit.knossos import Tensor


@knossos.register
def lstm(
    weight: "Tensor[float, layers, 4, d]", bias: "Tensor[float, layers, 4, d]",
    scale_in: "Tensor[float, d]", scale_out: "Tensor[float, d]", move_out: "Tensor[float, d]",
    first_hidden: "Tensor[float, layers, d]", first_cell: "Tensor[float, layers, d]",
    text: "Tensor[float, n, d]",
) -> float:  # fmt: skip
    """The loss of predicting each row of the text from those before it."""
    layers, _, d = weight.shape
    # Of each step what goes into each layer, and out of the last; that of layer k is at k + 1.
    hidden = np.zeros((len(text), layers + 1, d))
    cell = np.zeros((len(text), layers, d))
    for k in range(layers):
        for j in range(d):
            hidden[0, k + 1, j] = first_hidden[k, j]
            cell[0, k, j] = first_cell[k, j]
    total = 0.0
    for i in range(1, len(text)):
        for j in range(d):
            hidden[i, 0, j] = text[i - 1, j] * scale_in[j]
        for k in range(layers):
            for j in range(d):
                x = hidden[i, k, j]
                h = hidden[i - 1, k + 1, j]
                forget = cnp.sigmoid(x * weight[k, 0, j] + bias[k, 0, j])
                write = cnp.sigmoid(h * weight[k, 1, j] + bias[k, 1, j])
                read = cnp.sigmoid(x * weight[k, 2, j] + bias[k, 2, j])
                change = math.tanh(h * weight[k, 3, j] + bias[k, 3, j])
                c = cell[i - 1, k, j] * forget + write * change
                out = read * math.tanh(c)
                cell[i, k, j] = c
                hidden[i, k + 1, j] = out
        logits = hidden[i, layers] * scale_out + move_out
        total += np.sum(text[i] * (logits - math.log(np.sum(np.exp(logits)) + 2)))
    return -total / ((len(text) - 1) * d)


def example(random: np.random.Generator, n: int, layers: int, d: int) -> list[np.ndarray]:
    """Arguments: a network, and a text of n characters, of d."""
    shapes = [(layers, 4, d), (layers, 4, d), (d,), (d,), (d,), (layers, d), (layers, d)]
    return [*(random.normal(size=shape) for shape in shapes), np.eye(d)[random.integers(0, d, n)]]
