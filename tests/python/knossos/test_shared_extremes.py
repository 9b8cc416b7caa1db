"""Largest and smallest elements: equal ones share the gradient evenly, as composit.numpy's and
PyTorch's amax have it."""

# ruff: noqa: F821

import math

import numpy as np
import pytest
import torch

from composit import _core, knossos
from composit.knossos import Tensor


def largest(x: "Tensor[float, n, m]") -> float:
    return np.max(x)


def smallest_of_rows(x: "Tensor[float, n, m]") -> "Tensor[float, n]":
    return np.min(x, axis=1)


def largest_square(x: "Tensor[float, n, m]") -> float:
    return np.max(x * x)


def largest_of_functions(x: "Tensor[float, n, m]") -> "Tensor[float, m]":
    return np.max(np.sin(x), axis=0)


def of_sums(x: "Tensor[float, n, m]") -> float:
    return np.max(x @ np.ones(x.shape[1])) * np.min(x)


def softmax_of_rows(x: "Tensor[float, n, m]") -> "Tensor[float, n, m]":
    e = np.exp(x - np.max(x, axis=1)[:, None])
    return e / np.sum(e, axis=1)[:, None]


TORCH = [
    (largest, lambda x: x.amax()),
    (smallest_of_rows, lambda x: x.amin(1)),
    (largest_square, lambda x: (x * x).amax()),
    (largest_of_functions, lambda x: x.sin().amax(0)),
    (of_sums, lambda x: x.sum(1).amax() * x.amin()),
    (softmax_of_rows, lambda x: x.softmax(1)),
]
TIED = np.array([[2.0, -1.0, 2.0, 0.5], [0.25, -1.0, 2.0, 2.25], [1.0, -1.0, 3.0, 0.5]])


@pytest.mark.parametrize("x", [TIED, np.ones((3, 4)), -TIED, TIED[:1, :1]])
@pytest.mark.parametrize(("function", "wanted"), TORCH)
@pytest.mark.parametrize("is_compiled", [True, False])
def test_beside_torch(function, wanted, x, is_compiled):
    kernel = knossos.register(function)
    members = [kernel, kernel.vjp, kernel.jvp, kernel.vjp.vjp]
    if not is_compiled:
        for member in members:
            member._use(_core.procedure.interpreted(member.procedure()))
    given = torch.tensor(x, requires_grad=True)
    result = wanted(given)
    random = np.random.default_rng(0)
    received = random.normal(size=tuple(result.shape))
    dx, w = random.normal(size=(2, *x.shape))
    v = torch.tensor(received, requires_grad=True)
    (gradient,) = torch.autograd.grad(result, given, v, create_graph=True)
    second = torch.autograd.grad(gradient, (given, v), torch.tensor(w), allow_unused=True)
    received = received if received.ndim else float(received)
    same(kernel(x), result)
    same(kernel.vjp(x, received), gradient)
    same(kernel.jvp(x, dx), torch.func.jvp(wanted, (given,), (torch.tensor(dx),))[1])
    made = kernel.vjp.vjp(x, received, w)
    same(made[0], torch.zeros(x.shape) if second[0] is None else second[0])
    same(made[1], second[1])


def same(found, wanted):
    np.testing.assert_allclose(found, wanted.detach().numpy(), rtol=1e-12, atol=1e-13)


def running(x: "Tensor[float, n]", start: float) -> float:
    m = start
    for v in x:
        m = np.maximum(m, v)
    return m


def from_zero(x: "Tensor[float, n]") -> float:
    m = 0.0
    for v in x:
        m = np.maximum(m, v)
    return m


def from_infinity(x: "Tensor[float, n]") -> float:
    m = math.inf
    for v in x:
        m = np.minimum(m, v * 2.0)
    return m


@pytest.mark.parametrize(
    ("kernel", "arguments", "gradients"),
    [
        (running, ([1.0, 3.0, 3.0], 3.0), ([0, 1 / 3, 1 / 3], 1 / 3)),
        (running, ([1.0, 2.0], 3.0), ([0, 0], 1)),
        (running, ([], 3.0), ([], 1)),
        (from_zero, ([0.0, -1.0],), ([0.5, 0],)),
        (from_zero, ([-2.0, -1.0],), ([0, 0],)),
        (from_infinity, ([3.0, 1.5, 1.5],), ([0, 1, 1],)),
        (from_infinity, ([],), ([],)),
    ],
)
def test_loops_of_users(kernel, arguments, gradients):
    kernel = knossos.register(kernel)
    x, *rest = np.asarray(arguments[0]), *arguments[1:]
    made = kernel.vjp(x, *rest, 1.0)
    for found, wanted in zip(made if rest else [made], gradients, strict=True):
        np.testing.assert_array_equal(found, wanted)
    tangents = [np.arange(1.0, len(x) + 1), *([7.0] * len(rest))]
    moved = sum(np.sum(a * b) for a, b in zip(gradients, tangents, strict=True))
    np.testing.assert_allclose(kernel.jvp(x, *rest, *tangents), moved, rtol=1e-15)


def test_nan_and_infinities_reach_the_gradient():
    kernel = knossos.register(largest)
    assert (kernel.vjp(np.array([[1.0, np.nan, 3.0]]), 3.0) == 1).all()
    np.testing.assert_array_equal(kernel.vjp(np.array([[-np.inf, -np.inf]]), 1.0), [[0.5, 0.5]])
    np.testing.assert_array_equal(kernel.vjp(np.array([[1.0, 2.0]]), np.inf), [[0, np.inf]])


def masked(x: "Tensor[float, n]", y: "Tensor[float, n]") -> float:
    """Several extremes of one loop, one under a condition, and one of loops that run less."""
    low, high, positive = math.inf, -math.inf, 0.0
    for i in range(len(x)):
        low = np.minimum(low, x[i] * y[i])
        high = np.maximum(high, x[i] + y[i])
        if y[i] > 0:
            positive = np.maximum(positive, np.sin(x[i]))
    triangle = -1.0
    for i in range(len(x)):
        for j in range(i):
            triangle = np.maximum(triangle, x[i] * x[j])
    return low * high + positive * triangle


def test_where_they_cannot_be_shared():
    kernel = knossos.register(masked)
    x, y, dx, dy = np.random.default_rng(1).normal(size=(4, 6))
    gradients = kernel.vjp(x, y, 1.0)
    moved = kernel.jvp(x, y, dx, dy)
    step = 1e-6
    difference = masked(x + step * dx, y + step * dy) - masked(x - step * dx, y - step * dy)
    np.testing.assert_allclose(moved, difference / (2 * step), rtol=1e-6)
    np.testing.assert_allclose(gradients[0] @ dx + gradients[1] @ dy, moved, rtol=1e-12)


def test_text_is_short():
    """No tape of what was the largest so far."""
    for kernel, lines in [(largest, 9), (largest_square, 13), (of_sums, 40)]:
        text = knossos.register(kernel).vjp.procedure().source
        assert len(text.strip().splitlines()) <= lines and "_at" not in text, text
