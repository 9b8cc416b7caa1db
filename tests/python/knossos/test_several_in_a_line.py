"""Several values of one line of the source, of which some are stored where others are read: the
interpreter and C++ compute the same, derivatives too."""

# ruff: noqa: F821, E702

import numpy as np
import pytest
from complex_steps import check_gradients

from composit import _core, knossos
from composit.knossos import Tensor


def butterfly(x: "Tensor[float, n]") -> "Tensor[float, n]":
    y = x.copy()
    for k in range(1, len(y)):
        y[k], y[k - 1] = y[k - 1] + y[k], y[k] - y[k - 1]
    return y


def crossed(x: "Tensor[float, n]") -> "Tensor[float, n]":
    y = x.copy()
    for k in range(1, len(y)):
        y[k], y[0] = y[0] * 3.0, y[k] * y[0]
    return y


def exchanged(x: "Tensor[float, n]") -> "Tensor[float, n]":
    y = x * x
    for end in range(len(y) - 1, 0, -1):
        y[0], y[end] = y[end], y[0]
    return y


def turned(x: "Tensor[float, n]") -> "Tensor[float, n]":
    y = np.sin(x)
    for k in range(2, len(y)):
        y[k], y[k - 1], y[k - 2] = y[k - 2], y[k] * y[k - 1], y[k - 1]
    return y


def on_one_line(x: "Tensor[float, n]") -> float:
    y, s = x.copy(), 0.0
    for i in range(1, len(y)):
        a = y[i - 1]; b = y[i]; y[i] = a * b; s += b * b  # fmt: skip
    return s * y[-1]


def counted(x: "Tensor[float, n]") -> float:
    places = np.arange(len(x))
    for i in range(len(x) - 1, -1, -1):
        j = (i * 2 + 1) % len(x); places[j] = j  # fmt: skip
    return x[places[1]] * x[0]


KERNELS = [butterfly, crossed, exchanged, turned, on_one_line, counted]
X = np.array([0.3, 0.5, -0.7, 1.1, 0.9])


@pytest.mark.parametrize("function", KERNELS)
def test_values(function):
    made = knossos.register(function)(X)
    np.testing.assert_allclose(made, function(X), rtol=1e-15)


def interpreted(kernel):
    kernel._use(_core.procedure.interpreted(kernel.procedure()))
    return kernel


@pytest.mark.parametrize("function", KERNELS)
def test_derivatives(function):
    kernel, random = knossos.register(function), np.random.default_rng(0)
    shape = np.shape(function(X))
    dy, ddy = (random.normal(size=shape) if shape else 1.5 for _ in range(2))
    dx, w = random.normal(size=(2, len(X)))
    check_gradients(kernel, (X,), dy)
    again = kernel.vjp.vjp(X, dy, w)
    moved = kernel.vjp.jvp(X, dy, dx, ddy)
    backward = np.sum(again[0] * dx) + np.sum(again[1] * ddy)
    np.testing.assert_allclose(backward, np.sum(moved * w), rtol=1e-10)
    slow = knossos.register(function)
    for made, bits in (
        (interpreted(slow.vjp.jvp)(X, dy, dx, ddy), moved),
        (interpreted(slow.vjp.vjp)(X, dy, w)[0], again[0]),
    ):
        assert made.tobytes() == bits.tobytes()
