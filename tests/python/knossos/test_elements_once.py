"""Elements that an iteration empties and adds to later are written once where kernels are loaded,
with the bits of the interpreter; room for what triangular loops log."""

# ruff: noqa: F821

import re

import numpy as np
import pytest
from as_python import anew, bits, interpreted

from composit import _core
from composit.knossos import Tensor


def butterflies(x: "Tensor[float, n]", c: float) -> "Tensor[float, n]":
    """Elements as far apart as there are iterations."""
    y = x.copy()
    half = 1
    while 2 * half <= len(x):
        for i in range(0, len(x) - 2 * half + 1, 2 * half):
            for k in range(half):
                t = c * y[i + k + half]
                y[i + k + half] = y[i + k] - t
                y[i + k] += t
        half *= 2
    return y


def beside(x: "Tensor[float, n]", c: float) -> "Tensor[float, n]":
    """Elements that a constant tells apart."""
    y = x.copy()
    for _ in range(3):
        for k in range(len(x) - 1):
            t = c * y[k + 1]
            y[k + 1] = y[k] - t
            y[k] += t
    return y


def perhaps_the_same(x: "Tensor[float, n]", c: float, far: int) -> "Tensor[float, n]":
    """Elements that are the same ones, if `far` is 0."""
    y = x.copy()
    for _ in range(2):
        for k in range(len(x) - far):
            t = c * y[k + far]
            y[k + far] = y[k] - t
            y[k] += t
    return y


def loaded(kernel):
    return _core.procedure.print_loadable("of", [[kernel.procedure()]])


@pytest.mark.parametrize("function", [butterflies, beside])
def test_bits(function):
    kernel, other = anew(function).vjp, interpreted(anew(function).vjp)
    random = np.random.default_rng(0)
    for n in (0, 1, 2, 3, 8, 31, 64, 129):
        given = random.normal(size=n), 0.7, random.normal(size=n)
        assert bits(kernel(*given)) == bits(other(*given)), n


@pytest.mark.parametrize("far", [0, 1, 5])
def test_bits_where_distances_are_given(far):
    kernel = anew(perhaps_the_same).vjp
    other = interpreted(anew(perhaps_the_same).vjp)
    given = (*np.random.default_rng(0).normal(size=(2, 40)),)
    given = given[0], 0.7, far, given[1]
    assert bits(kernel(*given)) == bits(other(*given))


def test_negative_zeros():
    """An element that becomes 0 and receives -0 is 0."""
    kernel, other = (anew(butterflies).vjp for _ in range(2))
    given = np.ones(4), 0.0, -np.ones(4)
    assert bits(kernel(*given)) == bits(interpreted(other)(*given))


def test_what_is_written_once():
    once = re.compile(r"\] = 0\.0\s+\+ ")
    assert once.search(loaded(anew(butterflies).vjp))
    assert not once.search(loaded(anew(perhaps_the_same).vjp))


def triangle(x: "Tensor[float, n]", c: float) -> float:
    """Loops that log, of which the inner one runs as often as the outer one counts."""
    v = x.copy()
    for i in range(len(x) - 1, -1, -1):
        for j in range(i):
            v[j] = c * v[j] * v[j] + v[j + 1]
    return v[0]


def test_room_for_triangles():
    source = anew(triangle).vjp.procedure().source
    assert "room_for<double>(n, n - 1)" in source, source
    x = np.random.default_rng(0).normal(size=20)
    kernel, other = (anew(triangle).grad for _ in range(2))
    assert bits(kernel(x, 0.1)) == bits(interpreted(other)(x, 0.1))
