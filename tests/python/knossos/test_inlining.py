"""Kernels with arrays, and such that call themselves, as parts of other kernels."""

# ruff: noqa: F821

import inspect
import math

import numpy as np
import pytest

from composit import knossos
from composit.knossos import Tensor


def softmax(x: "Tensor[float, n]") -> "Tensor[float, n]":
    e = np.exp(x - np.max(x))
    return e / np.sum(e)


@knossos.register
def dot(a: "Tensor[float, n]", b: "Tensor[float, n]") -> float:
    total = 0.0
    for i in range(len(a)):
        total += a[i] * b[i]
    return total


def clipped(x: "Tensor[float, n]", limit: float) -> float:
    """Branches that return."""
    e = np.sum(x)
    if e > limit:
        return limit + 0.1 * (e - limit)
    if e < -limit:
        return -limit
    return e


def attention(q: "Tensor[float, n]", k: "Tensor[float, m, n]", limit: float) -> float:
    total = 0.0
    scores = np.zeros(len(k))
    for i in range(len(k)):
        scores[i] = dot(q, k[i])
    p = softmax(scores * 0.5)
    e = clipped(p * scores, limit) + clipped(softmax(q), limit)
    total += dot(p, scores) * e
    return total


def numpy_attention(q, k, limit):
    scores = k @ q
    p = np.exp(scores * 0.5 - np.max(scores * 0.5))
    p = p / p.sum()
    s = np.exp(q - q.max())
    e = clipped(p * scores, limit) + clipped(s / s.sum(), limit)
    return p @ scores * e


@pytest.mark.parametrize("limit", [0.01, 1.5, 100.0])
def test_kernels_with_arrays(limit):
    kernel = knossos.register(attention)
    random = np.random.default_rng(0)
    q, dq = random.normal(size=(2, 3))
    k, dk = random.normal(size=(2, 4, 3))
    np.testing.assert_allclose(kernel(q, k, limit), numpy_attention(q, k, limit), rtol=1e-13)
    gq, gk, gl = kernel.grad(q, k, limit)
    forward = kernel.jvp(q, k, limit, dq, dk, 0.5)
    np.testing.assert_allclose(np.sum(gq * dq) + np.sum(gk * dk) + 0.5 * gl, forward, rtol=1e-11)
    step = 1e-6
    above = numpy_attention(q + step * dq, k + step * dk, limit + step * 0.5)
    below = numpy_attention(q - step * dq, k - step * dk, limit - step * 0.5)
    np.testing.assert_allclose(forward, (above - below) / (2 * step), rtol=1e-7)


def power(x: float, n: int) -> float:
    if n == 0:
        return 1.0
    half = power(x, n // 2)
    if n % 2 == 1:
        return half * half * x
    return half * half


def even(x: float, n: int) -> float:
    return x if n == 0 else odd(x * 0.5, n - 1)


def odd(x: float, n: int) -> float:
    return -x if n == 0 else even(math.sin(x), n - 1)


def tree_sum(x: "Tensor[float, n]", begin: int, depth: int) -> float:
    if depth == 0:
        return x[begin] * x[begin]
    half = 2 ** (depth - 1)
    return tree_sum(x, begin, depth - 1) + math.tanh(tree_sum(x, begin + half, depth - 1))


def uses_power(x: float) -> float:
    return power(x, 5) + 2.0 * power(x, 2)


def uses_even(x: float) -> float:
    return even(x, 5)


def uses_tree(x: "Tensor[float, n]") -> float:
    return tree_sum(x, 0, 3)


def test_recursion_of_a_known_depth():
    kernel = knossos.register(uses_power)
    assert kernel(1.5) == uses_power(1.5)
    np.testing.assert_allclose(kernel.grad(1.5), 5 * 1.5**4 + 4 * 1.5, rtol=1e-14)
    assert knossos.register(uses_even)(0.7) == uses_even(0.7)
    x, dx = np.random.default_rng(2).normal(size=(2, 8))
    kernel = knossos.register(uses_tree)
    np.testing.assert_allclose(kernel(x), uses_tree(x), rtol=1e-14)
    np.testing.assert_allclose(kernel.grad(x) @ dx, kernel.jvp(x, dx), rtol=1e-12)


def squares(x: "Tensor[float, n]") -> float:
    s = 0.0
    for v in halves(x):
        s += v * v
    return s


def halves(x: "Tensor[float, n]"):
    return np.array([0.5 * v for v in x])


def test_comprehensions_of_called_functions():
    x = np.random.default_rng(3).normal(size=5)
    kernel = knossos.register(squares)
    np.testing.assert_allclose(kernel(x), squares(x), rtol=1e-14)
    np.testing.assert_allclose(kernel.grad(x), 0.5 * x, rtol=1e-14)


def unknown_depth(x: float, n: int) -> float:
    return x if n <= 0 else unknown_depth(0.5 * x, n - 1)


def growing(x: float, n: int) -> float:
    return x if n > 100 else growing(0.5 * x, n + 1)


def uses_growing(x: float) -> float:
    return growing(x, 0)


def changes(x: "Tensor[float, n]") -> float:
    x[0] = 1.0
    return x[0] + x[1]


def uses_changes(x: "Tensor[float, n, m]") -> float:
    return changes(x[0])


@pytest.mark.parametrize(
    ("function", "place", "offset", "wrong"),
    [
        (unknown_depth, unknown_depth, 1, "it calls itself, to a depth that depends on values"),
        (uses_growing, growing, 1, "it calls itself, to a depth that depends on values"),
        (uses_changes, changes, 1, "an element of a part of x is assigned"),
    ],
)
def test_refused_by_line(function, place, offset, wrong):
    with pytest.raises((NotImplementedError, TypeError)) as caught:
        knossos.register(function).procedure()
    assert wrong in str(caught.value)
    line = inspect.getsourcelines(place)[1] + offset
    assert str(caught.value).endswith(f"[{__file__}:{line}]")


def last_of(x: "Tensor[float, n]", k: int) -> float:
    k = ~(k + k) if x[0] > 0 else k
    return x[k] + k % 7


@knossos.register
def fourth(x: "Tensor[float, 5]") -> float:
    return last_of(x, 4)


def test_an_argument_that_is_assigned_is_not_the_number_it_was():
    x = np.arange(-1.0, 4)
    assert fourth(x) == x[4] + 4
    with pytest.raises(IndexError):
        fourth(-x)
    x[0] = 2.0
    with pytest.raises(IndexError):
        fourth(x)


def both_of(n: int) -> tuple[float, float]:
    n = ~(n + n)
    return float(n), float((n * 3) % 1009)


@knossos.register
def remainder(x: float) -> float:
    return x * both_of(20)[1]


def test_its_remainder_is_that_of_its_value():
    assert remainder(0.5) == remainder.__wrapped__(0.5) == 443.0


def test_a_given_derivative_is_not_lost():
    @knossos.register
    def total(x: "Tensor[float, n]") -> float:
        return np.sum(x)

    @total.derivative
    def total_vjp(x: "Tensor[float, n]", dy: float) -> "Tensor[float, n]":
        return np.ones(len(x)) * (2.0 * dy)

    @knossos.register
    def outer(x: "Tensor[float, n]") -> float:
        return total(x) + 1.0

    with pytest.raises(NotImplementedError, match="total has arrays and a derivative that was"):
        outer(np.ones(3))


def test_text_of_what_became_part():
    text = knossos.register(attention).procedure().source
    own = text.replace("__restrict", "").replace("__builtin_inf", "")
    assert "test_inlining.py:" in text and "__" not in own
