"""The programs of the golden files. Moving a line here moves it in them."""

import numpy as np

import composit
import composit.numpy as cnp
from composit import nn

X, W = np.ones((8, 16), "float32"), np.ones((16, 4), "float32")
B, T = np.ones(4, "float32"), np.ones((8, 4), "float32")


def elementwise(x, b):
    scaled = 2 * x + b
    return cnp.where(scaled > 1, cnp.exp(scaled), np.tanh(x))


def loss(x, w, b, t):
    return nn.mse(nn.relu(x @ w + b), t)


gradient = composit.grad(loss, argnums=1)


@composit.wrap_as_operation()
def swish(x, scale):
    return x / (1 + np.exp(-scale * x))


def wrapped(x, b):
    return swish(x, b) + 1


def normalised(x):
    return (x - cnp.mean(x, axis=1, keepdims=True)) / cnp.std(x, axis=1, keepdims=True)


def product(x, w, b):
    return cnp.sin(x @ w) + b


def running(x):
    return cnp.cumsum(cnp.square(x), axis=1)


def looked_up(x, ids):
    return x[ids] * 2


def compiled(function, *examples, backend="interpreter"):
    return composit.compile(function, *examples, backend=backend)
