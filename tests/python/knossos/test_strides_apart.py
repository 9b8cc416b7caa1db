"""Every k-th element, which inner loops read again and again, is copied to neighbours where kernels
are loaded: the bits of the interpreter, and the errors."""

# ruff: noqa: F821

import math
import re

import numpy as np
import pytest
from as_python import anew, bits, interpreted

from composit import _core
from composit.knossos import Tensor


def tree(x: "Tensor[float, m]", n: int) -> float:
    """Elements that begin elsewhere in each turn of the outer loop."""
    v = [max(x[2 * j], 0.0) for j in range(n + 1)]
    for i in range(n - 1, -1, -1):
        for j in range(i + 1):
            v[j] = max(0.5 * v[j + 1] + 0.4 * v[j], x[2 * j + n - i])
    return v[0]


def turned(x: "Tensor[float, n]", w: "Tensor[float, m]", k: int) -> "Tensor[float, n]":
    """The same elements in each turn, as far apart as an argument says."""
    y = np.zeros(len(x))
    half = 1
    while 2 * half <= len(x):
        for i in range(0, len(x) - 2 * half + 1, 2 * half):
            for j in range(half):
                at = j * (k // half)
                y[i + j] += w[at] * x[i + j + half]
                y[i + j + half] -= w[at] * x[i + j]
        half *= 2
    return y


def thirds(x: "Tensor[float, n]", c: float) -> float:
    """Three phases, from the last to the first, by literals and by what moves."""
    total = 0.0
    for i in range(len(x) // 2):
        for j in range(len(x) // 6 - 1, 0, -1):
            total = 0.9 * total + c * x[3 * j] * x[3 * j + i - 1] + x[j * 3 - 2]
    return total


def changing(x: "Tensor[float, n]") -> "Tensor[float, n]":
    """An array that the outer loop changes is read where it is."""
    y = x.copy()
    for _ in range(len(x) // 2):
        for j in range(len(x) // 2):
            y[j] += 0.1 * y[2 * j] * x[2 * j]
    return y


def of_places(p: "Tensor[int, n]", x: "Tensor[float, n]") -> float:
    """Integers that are looked up."""
    total = 0.0
    for i in range(len(x)):
        for j in range(len(x) // 2):
            total += math.exp(x[i] * p[2 * j]) / (1.0 + x[2 * j] * x[2 * j])
    return total


def given(kernel, n, random):
    x = random.normal(size=n)
    if kernel is tree:
        return random.normal(size=2 * n + 1), n
    if kernel is turned:
        return x, random.normal(size=max(n, 1)), n // 2
    if kernel is thirds:
        return x, 0.3
    if kernel is of_places:
        return random.integers(-2, 3, size=n), 0.3 * x
    return (x,)


def text_of(kernel):
    made = kernel.procedure()
    return _core.procedure.print_loadable("of", [[made]])


@pytest.mark.parametrize("function", [tree, turned, thirds, changing, of_places])
@pytest.mark.parametrize("mode", ["value", "vjp"])
def test_bits(function, mode):
    """Also of short loops, which copy nothing."""
    kernel, other = anew(function), anew(function)
    if mode == "vjp":
        kernel, other = kernel.vjp, other.vjp
    other = interpreted(other)
    random = np.random.default_rng(0)
    for n in (0, 1, 2, 3, 6, 7, 16, 31, 64, 97, 128):
        arguments = given(function, n, random)
        if mode == "vjp":
            value = np.asarray(anew(function)(*arguments))
            arguments += (random.normal(size=value.shape),) if value.shape else (0.7,)
        found, wanted = kernel(*arguments), other(*arguments)
        assert bits(found) == bits(wanted), n


@pytest.mark.parametrize(
    ("function", "copies"),
    [(tree, 1), (turned, 1), (thirds, 3), (changing, 1), (of_places, 2)],
)
def test_what_is_copied(function, copies):
    text = text_of(anew(function))
    assert len(re.findall(r"_apart(_\d+)?\(", text)) == copies, text


def test_elements_that_are_not_there():
    """They are an error where they are read, and none where nothing is read."""
    kernel = anew(tree)
    x = np.random.default_rng(0).normal(size=41)
    assert kernel(x, 20) == tree(x, 20)
    with pytest.raises(IndexError):
        kernel(x, 30)
    turns = anew(turned)
    assert np.array_equal(turns(np.ones(1), np.zeros(0), 4), np.zeros(1))
    with pytest.raises(IndexError):
        turns(np.ones(64), np.ones(8), 32)


def test_of_float32():
    x = np.random.default_rng(0).normal(size=81).astype(np.float32)
    kernel, other = anew(tree), interpreted(anew(tree), "float32")
    assert kernel(x, 40) == other(x, 40)
