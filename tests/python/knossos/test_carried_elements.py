"""Loops that keep in variables what they store, and what iterations hand on, where they are
loaded: the bits of the interpreter, however few iterations there are."""

# ruff: noqa: F821

import math

import numpy as np
import pytest
from as_python import anew
from test_loops_in_blocks import interpreted, loaded, parts

from composit.knossos import Tensor


def alignment(x: "Tensor[float, n]", y: "Tensor[float, m]", gap: float) -> float:
    """What the last iteration stored, and what this one did."""
    best = 0.0
    e, h = np.zeros((len(x) + 1, len(y) + 1)), np.zeros((len(x) + 1, len(y) + 1))
    for i in range(1, len(x) + 1):
        for j in range(1, len(y) + 1):
            e[i, j] = max(h[i, j - 1] - gap, e[i, j - 1] - 0.1)
            h[i, j] = max(0.0, h[i - 1, j - 1] + x[i - 1] * y[j - 1], e[i, j])
            best = max(best, h[i, j])
    return best


def resonance(x: "Tensor[float, n]", y: "Tensor[float, m]", gap: float) -> "Tensor[float, n]":
    """Of the last two iterations, counted down."""
    z = x.copy()
    for i in range(len(x) - 3, -1, -1):
        z[i] = x[i] + gap * z[i + 1] - 0.4 * z[i + 2]
    return z


def two_ago(x: "Tensor[float, n]", y: "Tensor[float, m]", gap: float) -> "Tensor[float, n]":
    """Of the last iteration but one alone, whose element the first one may not have."""
    z = x.copy()
    for i in range(2, len(x)):
        z[i] = x[i] + gap * z[i - 2]
    return z


def stored_twice(x: "Tensor[float, n]", y: "Tensor[float, m]", gap: float) -> "Tensor[float, n]":
    """An element that another statement changes between."""
    z = x.copy()
    for i in range(1, len(x)):
        z[i] = gap * z[i - 1]
        z[0] += x[i]
    return z


def variances(x: "Tensor[float, n]", y: "Tensor[float, m]", gap: float) -> float:
    """A value that is read before an iteration gives it its next one."""
    variance, total = 1.0 + gap, 0.0
    for i in range(len(x)):
        total += 0.5 * (math.log(variance) + x[i] ** 2 / variance)
        variance = 0.1 + 0.2 * x[i] ** 2 + 0.6 * variance
    return total + variance


def eliminated(x: "Tensor[float, n]", y: "Tensor[float, m]", gap: float) -> "Tensor[float, n, n]":
    """Rows from which another one is taken, by an element that stays."""
    n = len(x)
    a = np.outer(x, x) + 3.0 * np.eye(n)
    for k in range(n):
        for i in range(k + 1, n):
            a[i, k] /= a[k, k]
            for j in range(k + 1, n):
                a[i, j] -= a[i, k] * a[k, j]
    return a


def undone(x: "Tensor[float, n]", y: "Tensor[float, m]", gap: float) -> "Tensor[float, n, n]":
    """The element changes on the way: the loop begins before it."""
    n = len(x)
    a = np.outer(x, x)
    for k in range(n):
        for i in range(n):
            for j in range(k, n):
                a[i, j] -= 0.1 * a[i, k]
            for j in range(k, -1, -1):
                a[i, j] += 0.1 * a[i, k]
    return a


FUNCTIONS = (alignment, resonance, two_ago, stored_twice, variances, eliminated, undone)


@pytest.mark.parametrize("function", FUNCTIONS)
def test_bits_are_those_of_the_interpreter(function):
    kernel, other, slow = (anew(function), interpreted(anew(function)),
                           interpreted(anew(function).vjp))  # fmt: skip
    random = np.random.default_rng(2)
    for n in (1, 2, 3, 17, 150):
        given = random.normal(size=n), random.normal(size=5 if n > 2 else 0), 0.3
        value = kernel(*given)
        np.testing.assert_array_equal(value, other(*given))
        np.testing.assert_allclose(value, function(*given), rtol=1e-12, atol=1e-12)
        dy = random.normal(size=np.shape(value)) if np.shape(value) else 1.0
        for one, same in zip(parts(kernel.vjp(*given, dy)), parts(slow(*given, dy))):
            np.testing.assert_array_equal(one, same)


def test_what_is_kept():
    text = loaded(anew(alignment))
    assert "e_value" in text and "h_value" in text, text
    assert "z_value" in loaded(anew(resonance))
    for function in (two_ago, stored_twice):
        assert "z_value_" not in loaded(anew(function))
    assert "block + 64" in loaded(anew(variances))


def test_what_stays_is_read_before_the_loop():
    text = loaded(anew(eliminated))
    assert "#pragma GCC ivdep" in text and "if (k + 1 < n)" in text, text
    assert "#pragma GCC ivdep" not in loaded(anew(undone))


def rows(x: "Tensor[float, n, m]") -> float:
    total = 0.0
    for i in range(len(x)):
        for j in range(x.shape[1]):
            total += x[i, j]
    return total


def again(x: "Tensor[float, n, m]") -> float:
    total = 0.0
    for _ in range(len(x)):
        for j in range(x.shape[1]):
            total += x[j, j]
    return total


def test_loops_that_go_through_a_matrix_need_not_ask():
    assert "++turns" not in loaded(anew(rows)) and "++turns" in loaded(anew(again))
