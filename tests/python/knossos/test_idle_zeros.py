"""Arrays whose elements all get values are not filled with zeros before, where kernels are loaded,
with the bits of the interpreter; memory that was used before holds anything."""

# ruff: noqa: F821

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from as_python import anew, bits, interpreted

from composit import _core
from composit.knossos import Tensor


def filtered(x: "Tensor[float, n]", c: float) -> "Tensor[float, n]":
    """One loop over all elements."""
    y = np.zeros(len(x))
    last = 0.0
    for i in range(len(x)):
        last = c * last + x[i]
        y[i] = last
    return y


def upwards(x: "Tensor[float, n]", c: float) -> "Tensor[float, n]":
    """An element, then a loop that reads the one before."""
    y = np.zeros(len(x))
    y[0] = x[0]
    for i in range(1, len(x)):
        y[i] = c * y[i - 1] + x[i]
    return y


def downwards(x: "Tensor[float, n]", c: float) -> "Tensor[float, n]":
    """The last element, then a loop that reads the one behind."""
    y = np.zeros(len(x))
    y[len(x) - 1] = x[0]
    for i in range(len(x) - 2, -1, -1):
        y[i] = c * y[i + 1] + x[i]
    return y


def within(x: "Tensor[float, n]", c: float) -> float:
    """A local array, of which two loops write one half each, and a table."""
    y, table = np.zeros(2 * len(x)), np.zeros((len(x), 3))
    for i in range(len(x)):
        y[i] = c * x[i]
    for i in range(len(x), 2 * len(x)):
        y[i] = x[i - len(x)] + 1.0
    for i in range(len(x)):
        for j in range(3):
            table[i, j] = x[i] * j
    total = 0.0
    for i in range(len(x)):
        total += y[2 * len(x) - 1 - i] * table[i, i % 3]
    return total


def summed(x: "Tensor[float, n]", c: float) -> "Tensor[float, n]":
    """What receives additions first: 0 + -0 is 0."""
    y = np.zeros(len(x))
    for i in range(len(x)):
        y[i] += c * x[i]
    return y


ALL = [filtered, upwards, downwards, within, summed]


def first_missing(x: "Tensor[float, n]", c: float) -> "Tensor[float, n]":
    y = np.zeros(len(x))
    for i in range(1, len(x)):
        y[i] = c * x[i]
    return y


def last_missing(x: "Tensor[float, n]", c: float) -> "Tensor[float, n]":
    y = np.zeros(len(x))
    for i in range(len(x) - 1):
        y[i] = c * x[i]
    return y


def reads_ahead(x: "Tensor[float, n]", c: float) -> "Tensor[float, n]":
    y = np.zeros(len(x) + 1)
    for i in range(len(x)):
        y[i] = c * x[i] + y[i + 1]
    y[len(x)] = 1.0
    return y[:-1]


def perhaps(x: "Tensor[float, n]", c: float) -> "Tensor[float, n]":
    y = np.zeros(len(x))
    for i in range(len(x)):
        if x[i] > 0:
            y[i] = c * x[i]
    return y


def until(x: "Tensor[float, n]", c: float) -> "Tensor[float, n]":
    y = np.zeros(len(x))
    for i in range(len(x)):
        if x[i] > 1:
            break
        y[i] = c * x[i]
    return y


def skips(x: "Tensor[float, n]", c: float) -> "Tensor[float, n]":
    y = np.zeros(len(x))
    for i in range(len(x)):
        if x[i] > 1:
            continue
        y[i] = c * x[i]
    return y


def every_second(x: "Tensor[float, n]", c: float) -> "Tensor[float, n]":
    y = np.zeros(len(x))
    for i in range(0, len(x), 2):
        y[i] = c * x[i]
    return y


def scattered(x: "Tensor[float, n]", c: float) -> "Tensor[float, n]":
    """What the first loop stores is added to by the second one."""
    y = np.zeros(len(x))
    for i in range(len(x)):
        y[(i * 7) % len(x)] = x[i]
    for i in range(len(x)):
        y[i] += c * x[i]
    return y


def twice(x: "Tensor[float, n]", c: float) -> "Tensor[float, n]":
    """Ranges that meet: the addition finds what is there."""
    y = np.zeros(len(x))
    for i in range(1, len(x)):
        y[i] = x[i]
    for i in range(len(x)):
        y[i] += c * x[i]
    return y


def half_of_table(x: "Tensor[float, n]", c: float) -> "Tensor[float, n]":
    table = np.zeros((len(x), len(x)))
    for i in range(len(x)):
        for j in range(i):
            table[i, j] = c * x[j]
    y = np.zeros(len(x))
    for i in range(len(x)):
        for j in range(len(x)):
            y[j] += table[i, j]
    return y


KEPT = [first_missing, last_missing, reads_ahead, perhaps, until, skips, every_second, scattered,
        twice, half_of_table]  # fmt: skip


def given(n):
    x = np.random.default_rng(n).normal(size=n)
    x[::5] = -0.0
    return x, 0.7


def compare(function):
    """Values and gradients in the interpreter and compiled."""
    for n in (1, 2, 3, 8, 17, 64, 300, 9000):
        if function is half_of_table and n > 300:
            continue
        x, c = given(n)
        kernel, other = anew(function), interpreted(anew(function))
        value = other(x, c)
        for _ in range(2):
            assert bits(kernel(x, c)) == bits(value), (function.__name__, n)
        g = np.random.default_rng(1).normal(size=np.shape(value))
        g = float(g) if np.ndim(value) == 0 else g
        slope, other = anew(function).vjp, interpreted(anew(function).vjp)
        assert bits(slope(x, c, g)) == bits(other(x, c, g)), (function.__name__, n)


@pytest.mark.parametrize("function", ALL + KEPT)
def test_bits(function):
    compare(function)


def test_bits_in_used_memory():
    """The C library fills what it gives, and what it takes back, with other bytes."""
    code = "import test_idle_zeros as t\nfor each in t.ALL + t.KEPT: t.compare(each)"
    here = str(Path(__file__).parent)
    paths = os.pathsep.join([here, *sys.path])
    environment = os.environ | {"MALLOC_PERTURB_": "85", "PYTHONPATH": paths}
    subprocess.run([sys.executable, "-c", code], check=True, env=environment, cwd=here)


def loaded(function):
    return _core.procedure.print_loadable("of", [[anew(function).procedure()]])


@pytest.mark.parametrize("function", ALL)
def test_what_is_not_filled(function):
    text = loaded(function)
    body = text[text.index("namespace kernels") :]
    assert "fill_zeros(" not in body
    assert function is not within or body.count("composit_unset()") == 2, body


@pytest.mark.parametrize("function", KEPT)
def test_what_is_filled(function):
    text = loaded(function)
    body = text[text.index("namespace kernels") :]
    assert "fill_zeros(" in body or "composit_vector<double> y(" in body.replace(" table(", " y(")


def test_text():
    """Of what is read, outputs alone lose their zeros, where elements are stored."""
    assert "fill_zeros(" not in anew(filtered).procedure().source
    assert "fill_zeros(" in anew(first_missing).procedure().source
