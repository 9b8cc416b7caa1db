"""Loops that read one array, fill another and exchange them: loaded reverse sweeps keep a state for
each iteration, in place of two arrays and a log. Always the interpreter's bits."""

# ruff: noqa: F821

import math

import numpy as np
import pytest
from as_python import anew, interpreted

from composit import _core
from composit.knossos import Tensor


def diffusion(u: "Tensor[float, n, m]", k: "Tensor[float, n, m]", steps: int) -> float:
    """Two axes, whose ends stay."""
    u = u.copy()
    new = u.copy()
    for _ in range(steps):
        for i in range(1, u.shape[0] - 1):
            for j in range(1, u.shape[1] - 1):
                around = u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1]
                new[i, j] = u[i, j] + k[i, j] * (around - 4 * u[i, j])
        u, new = new, u
    return np.sum(u * u)


def other_ends(u: "Tensor[float, n]", v: "Tensor[float, n]", steps: int) -> float:
    """The ends of the two arrays differ, so they take turns."""
    u, new = u * 1.0, v * 2.0
    for t in range(3, 3 + steps):
        for i in range(1, len(u) - 2):
            new[i] = u[i] * u[i] * 0.25 + u[i - 1] * u[i + 2] * t
        u, new = new, u
    return np.sum(u * u) + np.sum(new)


def all_of_it(x: "Tensor[float, n]", steps: int) -> float:
    """Every element has a new value."""
    a, b = x.copy(), np.zeros(len(x))
    for _ in range(steps):
        for i in range(len(x)):
            b[i] = math.sin(a[i]) + a[(i + 1) % len(x)]
        a, b = b, a
    return np.sum(a * a)


def read_before_and_behind(u: "Tensor[float, n, m]", steps: int) -> float:
    """What the loop begins with, and ends with, is read outside of it."""
    u = u * 1.5
    new = u.copy()
    total = np.sum(u * u)
    for _ in range(steps):
        for i in range(u.shape[0]):
            for j in range(1, u.shape[1]):
                new[i, j] = u[i, j] * u[i, j - 1]
        u, new = new, u
    return total + np.sum(u * u) + np.sum(new * new * new)


def two_pairs(u: "Tensor[float, n]", v: "Tensor[float, n]", steps: int) -> float:
    """A wave: two exchanges in a loop."""
    a, b, c, d = u.copy(), u.copy(), v.copy(), v.copy()
    for _ in range(steps):
        for i in range(1, len(u) - 1):
            b[i] = a[i] + 0.1 * c[i]
            d[i] = c[i] + 0.1 * (a[i - 1] - 2 * a[i] + a[i + 1]) * a[i]
        a, b = b, a
        c, d = d, c
    return np.sum(a * a) + np.sum(c * c)


def some_elements(x: "Tensor[float, n]", steps: int) -> float:
    """Only some elements are filled: the log stays."""
    a, b = x.copy(), x.copy()
    for _ in range(steps):
        for i in range(len(x)):
            if x[i] > 0.0:
                b[i] = a[i] * a[i - 1]
        a, b = b, a
    return np.sum(a * a)


def both_read(x: "Tensor[float, n]", steps: int) -> float:
    """What is filled is read as well: the log stays."""
    a, b = x.copy(), x * 0.5
    for _ in range(steps):
        for i in range(1, len(x)):
            b[i] = a[i] * b[i - 1] + 0.5
        a, b = b, a
    return np.sum(a * a)


def that_ends(x: "Tensor[float, n]", steps: int) -> float:
    """A loop that may break: the log stays."""
    a, b = x.copy(), x.copy()
    for _ in range(steps):
        for i in range(len(x)):
            b[i] = a[i] * a[i] + 0.25
        a, b = b, a
        if a[0] > 3.0:
            break
    return np.sum(a * a)


def twice(x: "Tensor[float, n]", steps: int) -> float:
    """An iteration fills the array in two loops: the log stays."""
    a, b = x.copy(), x.copy()
    for _ in range(steps):
        for i in range(len(x)):
            b[i] = a[i] * a[i]
        for i in range(1, len(x)):
            b[i] = a[i] * a[i - 1]
        a, b = b, a
    return np.sum(a * a)


KEPT = (diffusion, other_ends, all_of_it, read_before_and_behind, two_pairs)
LOGGED = (some_elements, both_read, that_ends, twice)


def cases(function):
    random = np.random.default_rng(0)
    of_rows = function in (diffusion, read_before_and_behind)
    sizes = [(1, 1), (2, 3), (3, 2), (3, 3), (5, 40), (20, 7)] if of_rows else [1, 2, 3, 5, 40]
    for size in sizes:
        for steps in (0, 1, 2, 5):
            u, v = random.random(size), 0.2 * random.random(size)
            yield (u, v, steps) if function in (diffusion, other_ends, two_pairs) else (u, steps)


@pytest.mark.parametrize("function", KEPT + LOGGED)
def test_gradients_are_those_of_the_interpreter_and_of_tangents(function):
    kernel, other = anew(function), interpreted(anew(function).vjp)
    random = np.random.default_rng(1)
    for given in cases(function):
        floats = given[:-1]
        found = kernel.vjp(*given, 0.75)
        found = found if isinstance(found, tuple) else (found,)
        wanted = other(*given, 0.75)
        wanted = wanted if isinstance(wanted, tuple) else (wanted,)
        for one, same in zip(found, wanted):
            np.testing.assert_array_equal(one, same)
        along = [random.normal(size=each.shape) for each in floats]
        tangent = 0.75 * kernel.jvp(*given, *along)
        whole = sum(np.sum(one * d) for one, d in zip(found, along))
        np.testing.assert_allclose(whole, tangent, rtol=1e-9, atol=1e-12)


def loaded(function):
    return _core.procedure.print_loadable("loaded", [[anew(function).vjp.procedure()]])


@pytest.mark.parametrize("function", KEPT)
def test_states_take_the_place_of_logs(function):
    text = loaded(function)
    body = text[text.index("namespace kernels") :]
    assert "_states[" in body and "std::swap(u" not in body, text
    assert "_states.data() + " in body
    assert "_log" not in body, text


@pytest.mark.parametrize("function", LOGGED)
def test_logs_stay_where_states_are_not_known(function):
    text = loaded(function)
    assert "_states[" not in text and "_log" in text, text


def test_text_that_is_read_has_the_log():
    source = anew(diffusion).vjp.procedure().source
    assert "new_log" in source and "_states[" not in source
