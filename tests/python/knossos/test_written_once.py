"""Results whose elements several statements store, each once: their gradients are read where they
are given; where one element is stored twice, the first store gets none."""

# ruff: noqa: F821

import math

import numpy as np
import pytest
from as_python import check

from composit import knossos
from composit.knossos import Tensor

random = np.random.default_rng(61)


def columns(x: "Tensor[float, n]") -> "Tensor[float, n, 4]":
    y = np.empty((len(x), 4))
    for i in range(len(x)):
        y[i, 0] = math.sin(x[i])
        for k in range(1, 3):
            y[i, k] = x[i] ** 2 * k
        y[i, 3] = x[i] * x[i - 1]
    return y


def around(x: "Tensor[float, n]") -> "Tensor[float, n, 3]":
    y = np.zeros((len(x), 3))
    for i in range(len(x)):
        for k in range(2):
            y[i, k] = x[i] * (k + 1)
    for i in range(len(x)):
        y[i, 2] = math.exp(x[i])
    return y


def neighbours(x: "Tensor[float, n]") -> "Tensor[float, m]":
    y = np.zeros(len(x) + 1)
    for i in range(len(x)):
        y[i] = x[i] * x[i]
        y[i + 1] = math.sin(x[i])
    return y


def overlapping(x: "Tensor[float, n]") -> "Tensor[float, n, 3]":
    y = np.zeros((len(x), 3))
    for i in range(len(x)):
        for k in range(3):
            y[i, k] = x[i] * (k + 1)
        y[i, 2] = math.exp(x[i])
    return y


def in_both_branches(x: "Tensor[float, n]") -> "Tensor[float, n, 2]":
    y = np.zeros((len(x), 2))
    for i in range(len(x)):
        if x[i] > 0:
            y[i, 0] = x[i] * x[i]
        else:
            y[i, 1] = math.exp(x[i])
    return y


ONCE, TWICE = (columns, around, in_both_branches), (neighbours, overlapping)


@pytest.mark.parametrize("function", [*ONCE, *TWICE])
def test_values_and_derivatives_are_pythons(function):
    check(function, (random.normal(size=5),))


@pytest.mark.parametrize("function", ONCE)
def test_gradients_are_read_where_they_are_given(function):
    source = knossos.register(function).vjp.procedure().source
    assert "dy_rest" not in source and "taken(" not in source, source


@pytest.mark.parametrize("function", TWICE)
def test_elements_that_are_stored_twice_have_gradients_that_are_taken(function):
    source = knossos.register(function).vjp.procedure().source
    assert "dy_rest" in source or "taken(" in source, source
