"""What derivatives compute once, and do not do: parts of values, versions of variables, rows."""

# ruff: noqa: F821

import math
from typing import NamedTuple

import numpy as np
import pytest

from composit import _core, knossos
from composit.knossos import Tensor

RANDOM = np.random.default_rng(0)


@knossos.register
def powers(x: "Tensor[float, n]", a: float, b: float) -> float:
    total = 0.0
    for i in range(len(x)):
        total += max(0.0, x[i] * a ** (i + 1) * b ** (i + 2) - 1.0)
    return total


def test_functions_of_one_iteration_are_called_once():
    back = powers.vjp.procedure().source.rpartition("for (")[2]
    assert back.count("power_float64(") == 2 and back.count("power_slope(") == 2, back
    assert back.count(" > ") == 1 and "bits_as" not in back, back


class Pair(NamedTuple):
    re: float
    im: float


def product(a: Pair, b: Pair) -> Pair:
    return Pair(a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re)


@knossos.register
def turned(a: Pair, x: "Tensor[float, 2]") -> "Tensor[float, 2]":
    """A helper of two results, called twice: its results are variables, not calls."""
    size = math.sqrt(a.re * a.re + a.im * a.im)
    a = Pair(a.re / size, a.im / size)
    made = product(product(a, Pair(x[0], x[1])), a)
    return np.array([made.re, made.im])


def test_helpers_of_several_results_are_statements():
    source = turned.vjp.procedure().source
    assert "product_" not in source and "_before" not in source, source
    assert len(source.splitlines()) <= 24, source


@knossos.register
def filtered(x: "Tensor[float, n]", q: float) -> "Tensor[float, n]":
    out = np.zeros(len(x))
    p = 1.0
    for i in range(len(x)):
        p = p + q
        gain = p / (p + x[i])
        p = (1 - gain) * p
        out[i] = p * gain
    return out


def test_values_on_the_way_are_their_own():
    source = filtered.vjp.procedure().source
    assert "_before" not in source and "p_2 += " not in source, source


@knossos.register
def summed(x: "Tensor[float, n]") -> "Tensor[float, n]":
    y = x.copy()
    for i in range(1, len(y)):
        y[i] = y[i] + 0.5 * y[i - 1]
    return y


def test_gradients_are_accumulated_where_they_end():
    source = summed.vjp.procedure().source
    assert "dy_rest" not in source and "std::vector" not in source, source


@knossos.register
def stepped(c0: "Tensor[float, 3]", k: float, n: int) -> "Tensor[float, 3]":
    c = c0
    for _ in range(n):
        s = np.array([-k * c[0], k * c[0] - c[1] * c[1], c[1] * c[2]])
        c = c + 0.1 * s
    return c


def test_small_arrays_are_logged_at_once():
    source = stepped.vjp.procedure().source
    assert "push_back" not in source and "take_last" not in source, source
    assert "{\n        }" not in source, source


@knossos.register
def layers(a: "Tensor[float, n, m]", b: "Tensor[float, k, n]", x: "Tensor[float, m]") -> float:
    return np.sum(np.tanh(b @ np.tanh(a @ x)))


def test_stored_values_of_functions_are_read():
    source = layers.vjp.procedure().source
    assert source.count("tanh_float64(") == 2, source


@knossos.register
def added_to(x: "Tensor[float, n]", y: "Tensor[float, m]") -> float:
    """What a loop that runs again finds written is no value of the function."""
    total = 0.0
    for i in range(len(x)):
        for j in range(len(y)):
            near = np.zeros(2)
            for k in range(2):
                near[k] = math.tanh(x[i] * y[j] + k)
            for k in range(2):
                near[k] += math.sin(x[i]) * y[j]
            total += near[0] * near[1]
    return total


@knossos.register
def recurring(x: "Tensor[float, n]", w: float) -> float:
    h = np.zeros(len(x) + 1)
    for t in range(len(x)):
        h[t + 1] = math.tanh(w * h[t] + x[t])
        h[t + 1] += w * x[t]
    return np.sum(h * h)


@knossos.register
def written_twice(x: "Tensor[float, n]", w: float) -> float:
    y = np.zeros(2)
    total = 0.0
    for t in range(len(x)):
        y[0] = math.exp(w * x[t])
        y[1] = y[0] * x[t]
        total += y[1] * y[1]
    return total + y[0]


def test_stored_values_that_change_are_computed_again():
    """Else the slope of tanh is asked of what was added to it, too."""
    assert " = tanh_float64(" in added_to.vjp.procedure().source.rpartition("for (int64_t i")[2]


@knossos.register
def rated(x: "Tensor[float, n]", k: float, winners: "Tensor[int, m]") -> "Tensor[float, n]":
    y = x.copy()
    for i in winners:
        change = k / (1 + math.exp(y[i] - y[i - 1]))
        y[i] += change
        y[i - 1] -= change
    return y


def test_elements_that_nobody_reads_until_they_are_put_back_stay():
    source = rated.vjp.procedure().source
    assert "_before" not in source, source


@knossos.register
def either(x: "Tensor[float, n]", y: float) -> float:
    total = 0.0
    for i in range(len(x)):
        if x[i] > y:
            v = y + x[i]
            total += x[i] * v
        else:
            v = y + x[i]
            total += y * v
    return total


CALLS = [
    (powers, (RANDOM.normal(size=5), 1.3, 0.9)), (powers, (np.ones(3), 0.0, 0.0)),
    (turned, (Pair(0.3, -0.4), RANDOM.normal(size=2))),
    (filtered, (np.abs(RANDOM.normal(size=6)), 0.2)), (summed, (RANDOM.normal(size=6),)),
    (summed, (np.empty(0),)), (stepped, (np.array([1.0, 0.5, 0.2]), 0.7, 4)),
    (stepped, (np.array([1.0, 0.5, 0.2]), 0.7, 0)),
    (layers, (RANDOM.normal(size=(4, 3)), RANDOM.normal(size=(2, 4)), RANDOM.normal(size=3))),
    (either, (RANDOM.normal(size=5), 0.1)),
    (added_to, (RANDOM.normal(size=4), RANDOM.normal(size=3))),
    (recurring, (RANDOM.normal(size=5), 0.7)), (written_twice, (RANDOM.normal(size=5), 0.7)),
    (rated, (RANDOM.normal(size=5), 0.3, np.array([0, 3, 3, -1, 2]))),
]  # fmt: skip


def numbers(values):
    values = values if isinstance(values, tuple) else (values,)
    out = []
    for each in values:
        out += numbers(each) if isinstance(each, tuple) else [np.asarray(each)]
    return out


@pytest.mark.parametrize(("kernel", "arguments"), CALLS)
def test_both_modes_and_both_ways(kernel, arguments):
    value = kernel(*arguments)
    np.testing.assert_allclose(value, kernel.__wrapped__(*arguments), rtol=1e-15)
    received = RANDOM.normal(size=np.shape(value))
    received = received if np.ndim(value) else float(received)
    found = numbers(kernel.vjp(*arguments, received))
    other = knossos.register(kernel.__wrapped__)
    other.vjp._use(_core.procedure.interpreted(other.vjp.procedure()))
    for a, b in zip(found, numbers(other.vjp(*arguments, received)), strict=True):
        assert a.tobytes() == b.tobytes()
    floats = [
        each
        for each in arguments
        if not isinstance(each, int) and getattr(each, "dtype", None) != np.dtype(int)
    ]
    directions = [
        Pair(*RANDOM.normal(size=2))
        if isinstance(each, Pair)
        else RANDOM.normal(size=np.shape(each))
        for each in floats
    ]
    directions = [each if np.ndim(each) else float(each) for each in directions]
    forward = np.sum(np.asarray(kernel.jvp(*arguments, *directions)) * received)
    reverse = sum(np.sum(a * b) for a, b in zip(found, numbers(tuple(directions)), strict=True))
    assert math.isclose(forward, reverse, rel_tol=1e-11, abs_tol=1e-13)
