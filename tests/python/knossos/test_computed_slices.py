"""Slices whose bounds are computed: beside NumPy's, with derivatives, and what is refused."""

# ruff: noqa: F821

import numpy as np
import pytest
from complex_steps import check_gradients

from composit import knossos
from composit.knossos import Tensor


def windows(x: "Tensor[float, n]", w: "Tensor[float, m]") -> "Tensor[float, n]":
    y = np.zeros(len(x))
    for i in range(len(x) - len(w) + 1):
        y[i] = x[i : i + len(w)] @ w
    return y


def three(x: "Tensor[float, n]", w: "Tensor[float, 3]") -> float:
    s = 0.0
    for i in range(len(x) - 2):
        s += x[i : i + 3] @ w
    return s


def halves(x: "Tensor[float, n]", k: int) -> float:
    return np.sum(x[:k] * 2.0) + np.prod(x[k:]) + np.sum(x[-k:])


def strided(x: "Tensor[float, n]", a: int, b: int) -> float:
    return np.sum(x[a:b:2] * x[a:b:2])


def assigned(x: "Tensor[float, n]", a: int, b: int) -> "Tensor[float, n]":
    y = x.copy()
    y[a:b] = y[a:b] * y[a:b] + 1.0
    y[:b] += 0.5 * x[:b]
    return y


def solved(a: "Tensor[float, n, n]", b: "Tensor[float, n]") -> "Tensor[float, n]":
    x = np.zeros(len(b))
    for i in range(len(b)):
        x[i] = (b[i] - a[i, :i] @ x[:i]) / a[i, i]
    return x


RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=7)
CASES = [
    (windows, (X, X[:3])), (windows, (X, np.ones(9))), (three, (X, X[:3])),
    *((halves, (X, k)) for k in (0, 1, 3, 7, -2)),
    *((each, (X, a, b)) for each in (strided, assigned)
      for a, b in ((0, 7), (1, 6), (2, 2), (-5, -1), (7, 7))),
    (solved, (np.tril(RANDOM.normal(size=(5, 5))) + 3 * np.eye(5), X[:5])),
]  # fmt: skip


@pytest.mark.parametrize("function, given", CASES)
def test_values_and_gradients(function, given):
    kernel = knossos.register(function)
    value = kernel(*given)
    np.testing.assert_allclose(value, function(*given), rtol=1e-14, atol=1e-14)
    received = RANDOM.normal(size=np.shape(value))
    check_gradients(kernel, given, received if received.ndim else float(received))


def test_windows_of_a_known_extent_are_sums_of_products():
    source = knossos.register(three).procedure().source
    assert "s += dot_product(x + i, w, 3);" in source
    assert "assert" not in source


@pytest.mark.parametrize("bounds, text", [
    ((3, 2), "a slice from 3 to 2 of an axis of 7, in `x[a:b:2]`"),
    ((0, 8), "a slice from 0 to 8 of an axis of 7, in `x[a:b:2]`"),
    ((-8, 2), "a slice from -1 to 2 of an axis of 7, in `x[a:b:2]`"),
])  # fmt: skip
def test_bounds_lie_within(bounds, text):
    kernel = knossos.register(strided)
    line = strided.__code__.co_firstlineno + 1
    with pytest.raises(ValueError) as caught:
        kernel(X, *bounds)
    assert str(caught.value).startswith(
        f"strided: {text}. Bounds within it, in order, are required. "
        f"[test_computed_slices.py:{line}]"
    )


def down(x: "Tensor[float, n]", k: int) -> float:
    return np.sum(x[k::-1])


def stepped(x: "Tensor[float, n]", k: int) -> float:
    return np.sum(x[::k])


def halved(x: "Tensor[float, n]", t: float) -> float:
    return np.sum(x[:t])


@pytest.mark.parametrize("function, given, text", [
    (down, (X, 2), "down: a slice to smaller indices whose bounds are computed, in `x[k::-1]`. "
                   "Write a loop."),
    (stepped, (X, 2), "stepped: a slice whose step is not literal, in `x[::k]`. Write a loop."),
    (halved, (X, 2.0), "halved: a slice whose bounds are no integers, in `x[:t]`. Integers are "
                       "required."),
])  # fmt: skip
def test_refused(function, given, text):
    with pytest.raises(TypeError) as caught:
        knossos.register(function)(*given)
    assert str(caught.value).startswith(text)
