"""Arrays that loops exchange, `u, new = new, u`: derivatives in reverse exchange them once more,
and their gradients. Beside complex steps and the interpreter, to the bit."""

# ruff: noqa: F821

import math

import numpy as np
import pytest
from complex_steps import check_gradients

from composit import knossos
from composit.knossos import Tensor


def spread(u: "Tensor[float, n, m]", k: "Tensor[float, n, m]", steps: int) -> "Tensor[float, n, m]":
    u = u + 0.1 * k
    new = u.copy()
    for _ in range(steps):
        for i in range(1, u.shape[0] - 1):
            for j in range(1, u.shape[1] - 1):
                new[i, j] = u[i, j] * u[i, j] + k[i, j] * (u[i - 1, j] - u[i, j + 1])
        u, new = new, u
    return u


def other_returned(x: "Tensor[float, n]", steps: int) -> "Tensor[float, n]":
    a, b = x.copy(), np.zeros(len(x))
    for _ in range(steps):
        for i in range(len(x)):
            b[i] = np.sin(a[len(x) - 1 - i]) + b[i] * a[i]
        a, b = b, a
    return b


def where_it_grows(x: "Tensor[float, n]", steps: int) -> float:
    """Exchanged in some iterations, twice in others."""
    a, b = x.copy(), 0.5 * x
    for s in range(steps):
        for i in range(len(x)):
            b[i] = 0.9 * a[i] * b[i] + x[i]
        if b[0] > a[0]:
            a, b = b, a
        elif s % 2 == 0:
            a, b = b, a
            a[0] *= 1.5
            a, b = b, a
    return np.sum(a * a) + np.sum(b * x)


def within(x: "Tensor[float, n]", steps: int) -> float:
    a, b = x.copy(), np.zeros(len(x))
    total = 0.0
    for _ in range(steps):
        for _ in range(2):
            for i in range(1, len(x)):
                b[i] = a[i - 1] * a[i] + 0.5 * b[i - 1]
            a, b = b, a
        total += a[len(x) - 1] * b[0]
    return total


def until(x: "Tensor[float, n]", most: int) -> float:
    a, b = x.copy(), x * x
    size = 2.0
    while size > 0.3:
        for i in range(len(x)):
            b[i] = 0.5 * a[i] + 0.1 * b[i] * a[i]
        a, b = b, a
        size = abs(a[0])
        if size > most:
            break
    return np.sum(a * b)


def around(x: "Tensor[float, n]", steps: int) -> float:
    """Three arrays take turns."""
    a, b, c = x.copy(), 2.0 * x, 0.5 * x
    for _ in range(steps):
        for i in range(len(x)):
            c[i] = math.tanh(a[i] * b[i]) + c[i]
        a, b = b, a
        b, c = c, b
    return np.sum(a * b) + c[0]


def numbers_too(x: "Tensor[float, n]", steps: int) -> float:
    """Arrays of integers are exchanged without gradients."""
    here, there = np.arange(len(x)), np.arange(len(x))
    a, b = x.copy(), x.copy()
    for _ in range(steps):
        for i in range(len(x)):
            there[i] = here[len(x) - 1 - i]
            b[i] = a[here[i]] * a[i]
        here, there = there, here
        a, b = b, a
    return np.sum(a) + b[there[0]]


def given(function):
    random = np.random.default_rng(5)
    for n in (1, 2, 5, 6):
        for steps in (0, 1, 2, 5):
            x = 0.7 * random.normal(size=n)
            y = random.random((n, 4))
            yield (y, 0.3 * y, steps) if function is spread else (x, steps)


FUNCTIONS = (spread, other_returned, where_it_grows, within, until, around, numbers_too)


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda each: each.__name__)
def test_gradients(function):
    random = np.random.default_rng(6)
    for arguments in given(function):
        kernel = knossos.register(function)
        dy = random.normal(size=np.shape(kernel(*arguments)))
        check_gradients(kernel, arguments, dy if dy.ndim else float(dy))


@pytest.mark.parametrize("function", (spread, within, around), ids=lambda each: each.__name__)
def test_second_derivatives(function):
    """The gradient's tangents along v, paired with w, are those along w paired with v."""
    kernel = knossos.register(function)
    random = np.random.default_rng(7)
    for arguments in given(function):
        floats = [each for each in arguments if not isinstance(each, int)]
        v, w = ([random.normal(size=np.shape(each)) for each in floats] for _ in range(2))
        dy = random.normal(size=np.shape(kernel(*arguments)))
        dy = float(dy) if dy.ndim == 0 else dy
        sides = []
        for one, other in ((v, w), (w, v)):
            tangents = kernel.vjp.jvp(*arguments, dy, *one, 0.0 * dy)
            tangents = tangents if isinstance(tangents, tuple) else (tangents,)
            sides.append(sum(np.sum(t * o) for t, o in zip(tangents, other)))
        np.testing.assert_allclose(*sides, rtol=1e-9, atol=1e-9)


def test_exchanges_are_no_copies():
    source = knossos.register(spread).vjp.procedure().source
    assert source.count("std::swap(") == 3, source
    assert "room_for<double>(steps, n - 2, m - 2)" in source, source
    assert "add_run(new_log, new.data() + " in source.replace("_1", "").replace("_2", ""), source
    source = knossos.register(around).vjp.procedure().source
    assert source.count("std::swap(") == 6, source


def test_what_is_logged_has_room():
    """As much memory as loops append at most; none that a branch may leave out."""
    source = knossos.register(within).vjp.procedure().source
    assert "room_for<double>(steps, 2, n - 1)" in source, source
    assert "room_for" not in knossos.register(until).vjp.procedure().source
