"""A layer of long short-term memory as operators one after the other: products of matrices and
vectors, sums, sigmoids and hyperbolic tangents, step by step."""

# ruff: noqa: F821

import numpy as np

import composit.numpy as cnp
from composit import knossos
from composit.knossos import Tensor


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
    for t in range(len(inputs)):
        gates = weight @ inputs[t] + recurrent @ hidden[t] + bias
        forget = cnp.sigmoid(gates[0])
        write = cnp.sigmoid(gates[1])
        change = np.tanh(gates[2])
        read = cnp.sigmoid(gates[3])
        cell[t + 1] = forget * cell[t] + write * change
        hidden[t + 1] = read * np.tanh(cell[t + 1])
    return hidden[1:]


def example(random: np.random.Generator, n: int, d: int, m: int) -> list[np.ndarray]:
    """Arguments: a layer, what it begins with, and n inputs."""
    shapes = [(4, d, m), (4, d, d), (4, d), (d,), (d,), (n, m)]
    return [random.normal(size=shape) / (1 + len(shape[1:])) for shape in shapes]


if __name__ == "__main__":
    given = example(np.random.default_rng(0), 20, 8, 4)
    print(lstm_layer(*given)[-1])
    for gradient in lstm_layer.vjp(*given, np.ones((20, 8))):
        print(gradient.shape, float(np.abs(gradient).max()))
