"""Jumps within several conditions, and grids with conditions, of loops that change arrays after
they were read: derivatives beside complex steps, second derivatives beside forward mode."""

# ruff: noqa: F821, SIM102

import numpy as np
import pytest
from complex_steps import check_gradients

from composit import knossos
from composit.knossos import Tensor


def continued(x: "Tensor[float, n]", k: int) -> float:
    u = x.copy()
    for v in x:
        if k > 1:
            if k > 2:
                continue
        u[1] = u[1] * v
    return u[1]


def at_places(x: "Tensor[float, n]", k: int) -> float:
    u = x.copy()
    for j in range(len(x)):
        i = (j * 3 + 1) % len(x)
        if k > 1:
            if u[i] > 100.0:
                break
            else:
                if k > 3:
                    u[0] = u[0] * 0.5
                    continue
        u[1] = u[1] * u[i] + x[i]
    return u[1] * u[0]


def returned(x: "Tensor[float, n]", k: int) -> float:
    u = x * 2.0
    for v in x:
        w = v * u[0]
        for i in range(len(x)):
            if k > 0:
                if i > k:
                    if w > 1e3:
                        return u[1]
                    continue
            u[i] = u[i] * w + v
    return np.sum(u)


def chosen_and_left(x: "Tensor[float, n]", k: int) -> float:
    t = 0.0
    for i in range(len(x)):
        if i == k:
            if x[i] > 0.2:
                t = 3 * x[i] * x[0]
            else:
                t = 5 * x[i] * x[0]
            break
        t = x[i] * x[i]
    return t * x[1]


def searched(x: "Tensor[float, n]", k: int) -> float:
    best = x[0]
    i = 0
    while i < len(x):
        if i > k:
            for j in range(i, len(x)):
                best = x[j] * x[i]
            break
        best = x[i] * x[1]
        i += 1
    return best


def of_rows(x: "Tensor[float, n]", k: int) -> float:
    total = 0.0
    for v in x:
        t = v
        for i in range(len(x)):
            if i == k:
                for j in range(2):
                    t = x[j] * v
                if v > 1e9:
                    continue
                break
            t = x[i] * x[i]
        total += t * v
    return total


def filled_again(x: "Tensor[float, n]", k: int) -> float:
    b = x[0]
    for _ in range(2):
        for v in x:
            w = np.zeros(len(x))
            for j in range(len(x)):
                w[j:] += x[j:] * v
            t = x.copy()
            c = 0.0
            for _ in range(k):
                t = x[::-1]
                c = np.sum(w)
            b = t[0] * c
    return b


def early(x: "Tensor[float, n]", k: int) -> float:
    s = x[0] * x[1]
    for _ in range(len(x)):
        for j in range(k):
            if k > 2:
                if j == 1:
                    if j < 2:
                        return 0.5
            return s
    return 0.25


def grid(c: "Tensor[float, n, n]", k: int) -> float:
    d = c * c
    for i in range(len(c)):
        for j in range(c.shape[1]):
            if i > 0 and j > 0:
                d[i, j] += d[i - 1, j] * d[i, j - 1]
            elif k > 1:
                d[i, j] = d[i, j] * c[0, 0]
    return d[-1, -1]


def cheapest(c: "Tensor[float, n, n]", k: int) -> float:
    d = c * 1.0
    for i in range(len(c)):
        for j in range(c.shape[1]):
            if i > 0 and j > 0:
                d[i, j] = c[i, j] * min(d[i - 1, j], d[i, j - 1])
            elif i > 0:
                d[i, j] = c[i, j] * d[i - 1, j]
            elif j > 0 and k < 2:
                d[i, j] = c[i, j] * d[i, j - 1]
    return d[-1, -1]


FIVE = np.array([1.5, 0.5, 1.25, -0.75, 2.0])
SQUARE = np.arange(1.0, 17).reshape(4, 4) / 7


@pytest.mark.long_tail
@pytest.mark.parametrize("k", [0, 1, 2, 4])
@pytest.mark.parametrize(
    ("function", "x"),
    [
        (continued, FIVE),
        (at_places, FIVE),
        (returned, FIVE),
        (early, FIVE),
        (chosen_and_left, FIVE),
        (searched, FIVE),
        (of_rows, FIVE),
        (filled_again, FIVE),
        (grid, SQUARE),
        (cheapest, SQUARE),
    ],
)
def test_derivatives(function, x, k):
    kernel = knossos.register(function)
    check_gradients(kernel, (x, k), 1.5)
    w = np.random.default_rng(0).normal(size=x.shape)
    dx = np.random.default_rng(1).normal(size=x.shape)
    again = kernel.vjp.vjp(x, k, 1.5, w)
    moved = kernel.vjp.jvp(x, k, 1.5, dx, 0.25)
    backward = np.sum(again[0] * dx) + again[1] * 0.25
    np.testing.assert_allclose(backward, np.sum(moved * w), rtol=1e-10)
