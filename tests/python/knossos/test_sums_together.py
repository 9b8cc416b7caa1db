"""Sums in order of four iterations, which run together where kernels are loaded: the bits of the
interpreter."""

# ruff: noqa: F821

import re

import numpy as np
import pytest
from as_python import anew, bits, interpreted

from composit import _core
from composit.knossos import Tensor


def products(a: "Tensor[float, n, m]", x: "Tensor[float, m]") -> "Tensor[float, n]":
    """A sum for each row, counted up."""
    y = np.zeros(len(a))
    for i in range(len(a)):
        total = x[0]
        for j in range(len(x)):
            total += a[i, j] * x[j]
        y[i] = total / 3.0
    return y


def filtered(a: "Tensor[float, n, m]", x: "Tensor[float, m]") -> "Tensor[float, n]":
    """Steps of products and quotients, whose gradient takes factors from a log, counted down."""
    v = x.copy()
    y = np.zeros(len(a))
    for i in range(len(a)):
        scale = 1.0 + np.sum(v * v)
        v = (v / scale) @ (np.outer(x, x) + a[i, 0])
        y[i] = v[0]
    return y


def handed_on(a: "Tensor[float, n, m]", x: "Tensor[float, m]") -> "Tensor[float, n]":
    """Each row reads what the one before it wrote: none runs beside another one."""
    y = np.zeros(len(a) + 1)
    for i in range(len(a)):
        total = y[i]
        for j in range(len(x)):
            total = total - 0.1 * a[i, j] * x[j]
        y[i + 1] = total
    return y[1:]


def shared(a: "Tensor[float, n, m]", x: "Tensor[float, m]") -> "Tensor[float, n]":
    """Rows that write to one element."""
    y, last = np.zeros(len(a)), np.zeros(len(x))
    for i in range(len(a)):
        total = 0.0
        for j in range(len(x)):
            total += a[i, j] * last[j]
            last[j] = total
        y[i] = total + x[0]
    return y


@pytest.mark.parametrize("function", [products, filtered, handed_on, shared])
@pytest.mark.parametrize("mode", ["value", "vjp"])
def test_bits(function, mode):
    random = np.random.default_rng(0)
    for n, m in ((0, 1), (1, 1), (2, 3), (3, 8), (4, 0), (5, 17), (9, 2), (18, 20), (70, 33)):
        if m == 0 and function in (products, shared):
            continue
        kernel, other = anew(function), anew(function)
        given = random.normal(size=(n, m)), random.normal(size=m)
        if function is filtered and m == 0:
            continue
        if mode == "vjp":
            kernel, other = kernel.vjp, other.vjp
            given += (random.normal(size=n),)
        assert bits(kernel(*given)) == bits(interpreted(other)(*given)), (n, m)


@pytest.mark.parametrize(
    ("function", "is_together"), [(products, True), (handed_on, False), (shared, False)]
)
def test_what_runs_together(function, is_together):
    text = _core.procedure.print_loadable("of", [[anew(function).procedure()]])
    found = re.search(r"for \(int64_t i = 0; i < behind", text)
    assert bool(found) == is_together, text
