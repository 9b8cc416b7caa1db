"""Arrays whose elements change after they were read: derivatives in reverse beside complex steps,
compiled beside interpreted, to the bit."""

# ruff: noqa: F821

import inspect
import math

import numpy as np
import pytest
from complex_steps import check_gradients

import composit
from composit import knossos
from composit.knossos import Tensor


def replaced(x: "Tensor[float, n]", k: int) -> "Tensor[float, n]":
    z = x.copy()
    for _ in range(k):
        z = np.sin(z) + x
    return z


def shrunk(x: "Tensor[float, n]", y: "Tensor[float, n]") -> float:
    z = x * 1.0
    while z[0] > 0.1:
        z = z * 0.5 * y
    return np.sum(z)


def of_zeros(x: "Tensor[float, n]", k: int) -> float:
    """An array that is made of zeros once more while it lives."""
    y = x.copy()
    total = 0.0
    for t in range(k):
        for i in range(len(x)):
            total += y[i] * y[i] * (t + 1)
        y = np.zeros(len(x))
        for i in range(0, len(x), 2):
            y[i] += x[i] * total
    return total + np.sum(y)


def in_two_loops(x: "Tensor[float, n]") -> float:
    y = np.zeros(len(x)) + 1.0
    for i in range(len(x)):
        y[i] = y[i] * 0.5 + x[i]
    for i in range(len(x)):
        y[i] = y[i] * y[i] + x[i]
    return np.sum(y)


def determinant(a: "Tensor[float, n, n]") -> float:
    b = a.copy()
    product = 1.0
    for k in range(len(b)):
        for i in range(k + 1, len(b)):
            factor = b[i, k] / b[k, k]
            for j in range(k, len(b)):
                b[i, j] -= factor * b[k, j]
        product *= b[k, k]
    return product


def bubbled(x: "Tensor[float, n]") -> float:
    y = x.copy()
    n = len(y)
    for i in range(n):
        for j in range(n - 1 - i):
            if y[j] > y[j + 1]:
                t = y[j]
                y[j] = y[j + 1]
                y[j + 1] = t
    total = 0.0
    for i in range(n):
        total += y[i] * y[i] * i
    return total


def smoothed(x: "Tensor[float, n]", k: int) -> "Tensor[float, n]":
    """Gauss and Seidel's: neighbours of this step and of the one before."""
    y = x.copy()
    for _ in range(k):
        for i in range(1, len(y) - 1):
            y[i] = math.sin(y[i - 1]) * y[i] + y[i + 1] * x[i]
    return y


def permuted(x: "Tensor[float, n]", k: int) -> float:
    """Integers that change, too, a break and a branch."""
    p = [i + 0 for i in range(len(x))]
    y = x.copy()
    for t in range(k):
        for i in range(len(x)):
            p[i] = (p[i] * 3 + t) % len(x)
            if p[i] == 1:
                y[p[i]] += x[i] * x[i]
            y[p[i]] *= x[i] * 0.7
            if i + t > 5:
                break
    return np.sum(y)


def returned_early(x: "Tensor[float, n]") -> float:
    y = x.copy()
    for t in range(3):
        for i in range(len(x)):
            y[i] = y[i] * y[i] - x[i]
            if i == 2 and t == 1:
                return y[i] * y[0]
    return y[0]


RANDOM = np.random.default_rng(0)
X, Y = RANDOM.normal(size=(2, 6))
CASES = [
    (replaced, (X, 3)), (replaced, (X, 0)), (shrunk, (np.arange(1.0, 4), np.array([0.9, 0.5, 1]))),
    (of_zeros, (X, 3)), (in_two_loops, (X,)), (determinant, (RANDOM.normal(size=(4, 4)),)),
    (smoothed, (X, 4)), (permuted, (X, 5)), (returned_early, (X,)),
]  # fmt: skip


def kernel_of(function):
    return knossos.register(function)


@pytest.mark.parametrize("function, given", CASES)
def test_gradients(function, given):
    kernel = kernel_of(function)
    value = kernel(*given)
    np.testing.assert_allclose(value, function(*given), rtol=1e-13)
    received = RANDOM.normal(size=np.shape(value))
    check_gradients(kernel, given, received if received.ndim else float(received))


def test_the_gradient_of_a_sort():
    kernel = kernel_of(bubbled)
    found = kernel.grad(X)
    np.testing.assert_allclose(found, 2 * X * np.argsort(np.argsort(X)), rtol=1e-15)


def test_second_derivatives():
    kernel = kernel_of(determinant)
    a, along = np.random.default_rng(1).normal(size=(2, 3, 3))
    a += 3 * np.eye(3)  # pivots that differences can be taken of
    moved = kernel.vjp.jvp(a, 1.0, along, 0.0)
    h = 1e-6
    wanted = (kernel.grad(a + h * along) - kernel.grad(a - h * along)) / (2 * h)
    np.testing.assert_allclose(moved, wanted, rtol=1e-7, atol=1e-8)


def test_in_rows_and_graphs():
    kernel = kernel_of(in_two_loops)
    x = RANDOM.normal(size=(3, 4))
    rows = knossos.vmap(kernel)
    found = rows.vjp(x, np.ones(3))
    assert np.array_equal(found, [kernel.grad(row) for row in x])
    slope = composit.evaluate(composit.grad(kernel)(x[0]))
    assert np.array_equal(slope, kernel.grad(x[0]))


@knossos.register
def in_two_branches(x: "Tensor[float, n]", y: "Tensor[float, n]", s: float) -> float:
    a = 0.5 * s
    if a > 0.1:
        p = np.cos(y)
        a = math.sin(np.sum(p * x + a))
    if a > 0.1:
        p = np.zeros(len(x))
        p[0] = a
        a = math.sin(np.sum(p * x + a))
    return a + s


@knossos.register
def zeros_again(x: "Tensor[float, n]", y: "Tensor[float, n]", s: float) -> float:
    a = 0.5 * s
    p = y * y
    if a > 0.1:
        p = np.cos(y)
        a = math.sin(np.sum(p * x + a))
    if a > 0.1:
        p = np.zeros(len(x))
        p[0] = a
        a = math.sin(np.sum(p * x + a))
    return a + s + p[0]


@pytest.mark.parametrize("kernel", [in_two_branches, zeros_again])
def test_arrays_of_several_branches(kernel):
    for seed in range(8):
        random = np.random.default_rng(seed)
        x, y, dx, dy = random.normal(size=(4, 3))
        s, ds = abs(float(random.normal())) + 0.3, float(random.normal())
        gx, gy, gs = kernel.grad(x, y, s)
        forward = kernel.jvp(x, y, s, dx, dy, ds)
        np.testing.assert_allclose(gx @ dx + gy @ dy + gs * ds, forward, rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize("function, most", [
    (determinant, 4.0), (bubbled, 2.8), (in_two_loops, 3.2), (of_zeros, 4.2), (smoothed, 4.8),
    (replaced, 4.8), (returned_early, 6.5),
])  # fmt: skip
def test_few_lines(function, most):
    """Loops stand once forward and once backward, each store with what it takes from the log."""
    text = inspect.getsource(function).splitlines()
    written = sum(bool(line.strip()) and '"""' not in line for line in text)
    printed = kernel_of(function).vjp.procedure().source.splitlines()
    assert sum(bool(line.strip()) for line in printed) <= most * written
