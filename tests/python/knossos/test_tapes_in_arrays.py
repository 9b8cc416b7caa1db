"""States that a loop keeps in an array in any case need no tape, with the bits of the interpreter,
which keeps one."""

# ruff: noqa: F821

import math

import numpy as np
import pytest
from as_python import anew, bits, interpreted

from composit.knossos import Tensor


def states(x: "Tensor[float, n]", c: float) -> float:
    """The state at the end of each step, behind the first one."""
    y = np.zeros(len(x))
    state = x[0]
    y[0] = state
    for k in range(1, len(x)):
        state = math.sin(c * state) + x[k]
        y[k] = state
    total = 0.0
    for k in range(len(x)):
        total += y[k] * y[k] * x[k]
    return total


def one_more(x: "Tensor[float, n]", c: float) -> float:
    """Of a parameter, into an array of one more."""
    y = np.zeros(len(x) + 1)
    y[0] = c
    state = c
    for k in range(len(x)):
        state = state * state * x[k]
        y[k + 1] = state
    total = 0.0
    for k in range(len(x) + 1):
        total += y[k] * y[k]
    return total


def backwards(x: "Tensor[float, n]", c: float) -> float:
    y = np.zeros(len(x) + 1)
    state = 0.5
    y[len(x)] = state
    for k in range(len(x) - 1, -1, -1):
        state = math.exp(c * state) * x[k]
        y[k] = state
    total = 0.0
    for k in range(len(x) + 1):
        total += y[k] * y[k]
    return total


WITHOUT = [states, one_more, backwards]


def other_beginning(x: "Tensor[float, n]", c: float) -> float:
    """The array begins with another number than the loop."""
    y = np.zeros(len(x) + 1)
    y[0] = 2.0 * c
    state = c
    for k in range(len(x)):
        state = state * state * x[k]
        y[k + 1] = state
    total = 0.0
    for k in range(len(x) + 1):
        total += y[k] * y[k]
    return total


def changed_behind(x: "Tensor[float, n]", c: float) -> float:
    """The array becomes another one."""
    y = np.zeros(len(x) + 1)
    y[0] = c
    state = c
    for k in range(len(x)):
        state = state * state * x[k]
        y[k + 1] = state
    total = 0.0
    for k in range(len(x) + 1):
        y[k] = y[k] * y[k] * c
        total += y[k] * y[k]
    return total


def stored_too_early(x: "Tensor[float, n]", c: float) -> float:
    """The state goes on behind the store."""
    y = np.zeros(len(x) + 1)
    y[0] = c
    state = c
    for k in range(len(x)):
        state = state * state * x[k]
        y[k + 1] = state
        state = state + math.sin(state)
    total = 0.0
    for k in range(len(x) + 1):
        total += y[k] * y[k]
    return total


def perhaps_stored(x: "Tensor[float, n]", c: float) -> float:
    y = np.zeros(len(x) + 1)
    y[0] = c
    state = c
    for k in range(len(x)):
        state = state * state * x[k]
        if x[k] > 0:
            y[k + 1] = state
    total = 0.0
    for k in range(len(x) + 1):
        total += y[k] * y[k]
    return total


def two_apart(x: "Tensor[float, n]", c: float) -> float:
    """The array has a place between the beginning and the first step."""
    y = np.zeros(len(x) + 2)
    y[0] = c
    state = c
    for k in range(len(x)):
        state = state * state * x[k]
        y[k + 2] = state
    total = 0.0
    for k in range(len(x) + 2):
        total += y[k] * y[k]
    return total


WITH = [other_beginning, changed_behind, stored_too_early, perhaps_stored, two_apart]


@pytest.mark.parametrize("function", WITHOUT + WITH)
def test_bits(function):
    kernel, other = anew(function).grad, interpreted(anew(function).grad)
    for n in (1, 2, 3, 17, 64, 200):
        x = np.random.default_rng(n).normal(size=n)
        assert bits(kernel(x, 0.7)) == bits(other(x, 0.7)), n


def keeps_states(function):
    source = anew(function).grad.procedure().source
    return "state_at" in source or "state_log" in source


@pytest.mark.parametrize("function", WITHOUT)
def test_no_tape(function):
    assert not keeps_states(function)


@pytest.mark.parametrize("function", WITH)
def test_tape(function):
    assert keeps_states(function)
