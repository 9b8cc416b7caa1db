"""A layer of long short-term memory as operators one after the other: products of matrices and
vectors, sums, sigmoids and hyperbolic tangents, step by step."""

# ruff: noqa: F821

import numpy as np

from composit import knossos
from composit.knossos import Tensor


def sigmoid(x: "Tensor[float, d]") -> "Tensor[float, d]":
    return 1 / (1 + np.exp(-x))


@knossos.register
def lstm_layer(
    weight: "Tensor[float, 4, d, m]", recurrent: "Tensor[float, 4, d, d]",
    bias: "Tensor[float, 4, d]", first_hidden: "Tensor[float, d]", first_cell: "Tensor[float, d]",
    inputs: "Tensor[float, n, m]",
) -> "Tensor[float, n, d]":  # fmt: skip
    """The hidden states of d units after each of n inputs of m numbers. The gates, in this order,
    forget, write, change and read."""
    hidden = np.zeros((len(inputs) + 1, len(first_hidden)))
    cell = np.zeros((len(inputs) + 1, len(first_cell)))
    hidden[0] = first_hidden
    cell[0] = first_cell
    made = np.zeros((len(inputs), len(first_hidden)))
    for t in range(len(inputs)):
        x = inputs[t]
        h = hidden[t]
        forget = sigmoid(weight[0] @ x + recurrent[0] @ h + bias[0])
        write = sigmoid(weight[1] @ x + recurrent[1] @ h + bias[1])
        change = np.tanh(weight[2] @ x + recurrent[2] @ h + bias[2])
        read = sigmoid(weight[3] @ x + recurrent[3] @ h + bias[3])
        c = forget * cell[t] + write * change
        y = read * np.tanh(c)
        cell[t + 1] = c
        hidden[t + 1] = y
        made[t] = y
    return made


def example(random: np.random.Generator, n: int, d: int, m: int) -> list[np.ndarray]:
    """Arguments: a layer, what it begins with, and n inputs."""
    shapes = [(4, d, m), (4, d, d), (4, d), (d,), (d,), (n, m)]
    return [random.normal(size=shape) / (1 + len(shape[1:])) for shape in shapes]


if __name__ == "__main__":
    given = example(np.random.default_rng(0), 20, 8, 4)
    print(lstm_layer(*given)[-1])
    for gradient in lstm_layer.vjp(*given, np.ones((20, 8))):
        print(gradient.shape, float(np.abs(gradient).max()))
