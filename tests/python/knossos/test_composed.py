"""NumPy's functions that kernels make of others: values and derivatives are NumPy's."""

# ruff: noqa: F821

import numpy as np
import pytest

from composit import knossos
from composit.knossos import Tensor


def deviation(x: "Tensor[float, n]") -> float:
    return np.std(x) + x.var(ddof=1)


def skewness(x: "Tensor[float, n]") -> float:
    return np.mean((x - x.mean()) ** 3) / x.std() ** 3


def normalised(a: "Tensor[float, n, m]") -> "Tensor[float, n, m]":
    return (a - a.mean(axis=0)) / np.sqrt(np.var(a, axis=0) + 1e-5)


def normalised_rows(a: "Tensor[float, n, m]") -> "Tensor[float, n, m]":
    return (a - a.mean(axis=-1, keepdims=True)) / (a.std(axis=-1, keepdims=True) + 0.1)


def spread_of_products(a: "Tensor[float, n, m]") -> "Tensor[float, m]":
    return np.std(a * np.sin(a), 0, ddof=1)


def spread_of_integers(k: "Tensor[int, n]") -> float:
    return np.var(k) + np.std(k > 1)


def joined(x: "Tensor[float, n]") -> "Tensor[float, p]":
    return np.concatenate([x[1:], np.exp(x[:1]), np.zeros(2), x[-1:]])


def by_columns(a: "Tensor[float, n, m]") -> "Tensor[float, n, p]":
    return np.concatenate((a, a * a), axis=1)


def by_rows(a: "Tensor[float, n, m]") -> "Tensor[float, p, m]":
    return np.vstack([a, np.flip(a)])


def stacked(x: "Tensor[float, n]") -> "Tensor[float, n, 3]":
    return np.stack([x, np.roll(x, 1), x**2], axis=-1)


def piled(x: "Tensor[float, n]") -> "Tensor[float, 2, n]":
    return np.vstack((x, np.flip(x)))


def beside(x: "Tensor[float, n]") -> "Tensor[float, p]":
    y = np.hstack([x, x])
    y[0] = 3.0
    return y * y


def mixed_kinds(k: "Tensor[int, n]") -> "Tensor[float, p]":
    return np.concatenate([k, k / 2])


def own_again(x: "Tensor[float, n]") -> "Tensor[float, n]":
    y = np.sin(x)
    for i in range(3):
        y = np.roll(y, i + 1) * x + np.flip(y)
        y = np.concatenate([y[1:], y[:1]])
    return y


def turned(a: "Tensor[float, n, m]") -> "Tensor[float, n, m]":
    return np.roll(np.flip(a, axis=1), -2, axis=1) + np.roll(a, 5, 0) * np.flip(a, 0)


def products(x: "Tensor[float, n]") -> "Tensor[float, n]":
    return np.cumprod(x) + x.cumprod()[::-1]


def inner(x: "Tensor[float, n]") -> float:
    return np.inner(x, x) * np.vdot(np.sin(x), x)


VECTOR, MATRIX = np.array([0.3, -1.2, 0.7, 2.1, -0.4]), np.random.RandomState(0).randn(4, 3)
INTEGERS = np.array([3, 1, -2, 7])
FLOATS = [(deviation, VECTOR), (skewness, VECTOR), (normalised, MATRIX), (normalised_rows, MATRIX),
          (spread_of_products, MATRIX), (joined, VECTOR), (by_columns, MATRIX), (by_rows, MATRIX),
          (stacked, VECTOR), (piled, VECTOR), (beside, VECTOR), (own_again, VECTOR),
          (turned, MATRIX), (products, VECTOR), (inner, VECTOR)]  # fmt: skip
IDS = [function.__name__ for function, _ in FLOATS]


@pytest.mark.parametrize(
    "function, x", [*FLOATS, (spread_of_integers, INTEGERS), (mixed_kinds, INTEGERS)]
)
def test_values_are_numpys(function, x):
    made = knossos.register(function)(x)
    np.testing.assert_allclose(made, function(x), rtol=2e-15, atol=1e-15)
    assert np.shape(made) == np.shape(function(x))


@pytest.mark.parametrize("extent", [1, 2, 3])
@pytest.mark.parametrize("function", [joined, stacked, piled, beside, own_again, products])
def test_short_arrays(function, extent):
    x = VECTOR[:extent]
    np.testing.assert_allclose(knossos.register(function)(x), function(x), rtol=2e-15)


def slope(function, x, dx, step=1e-6):
    return (function(x + step * dx) - function(x - step * dx)) / (2 * step)


@pytest.mark.long_tail
@pytest.mark.parametrize("function, x", FLOATS, ids=IDS)
def test_derivatives(function, x):
    kernel, random = knossos.register(function), np.random.RandomState(1)
    dx = random.randn(*x.shape)
    expected = slope(function, x, dx)
    np.testing.assert_allclose(kernel.jvp(x, dx), expected, rtol=1e-6, atol=1e-8)
    dy = random.randn(*np.shape(expected)) if np.ndim(expected) else 1.5
    gradient = kernel.vjp(x, dy)
    assert np.isclose(np.sum(gradient * dx), np.sum(dy * expected), rtol=1e-6)
    directions = random.randn(*x.shape)
    again = kernel.vjp.jvp(x, dy, directions, np.zeros_like(dy) if np.ndim(dy) else 0.0)
    wanted = slope(lambda at: kernel.vjp(at, dy), x, directions)
    np.testing.assert_allclose(again, wanted, rtol=1e-5, atol=1e-6)


def joined_numbers(x: "Tensor[float, n]") -> "Tensor[float, n]":
    return np.concatenate([x, 3.0])


def joined_ranks(a: "Tensor[float, n, m]") -> "Tensor[float, n, m]":
    return np.concatenate([a, a[0]])


def joined_extents(x: "Tensor[float, n]") -> "Tensor[float, n]":
    return np.stack([x, x[1:]])[0]


def along_no_axis(x: "Tensor[float, n]") -> "Tensor[float, n]":
    return np.flip(x, axis=1)


def rolled_all(a: "Tensor[float, n, m]") -> "Tensor[float, n, m]":
    return np.roll(a, 1)


def out_given(x: "Tensor[float, n]") -> float:
    return np.var(x, out=x)


def inner_of_matrices(a: "Tensor[float, n, m]") -> "Tensor[float, n, n]":
    return np.inner(a, a)


@pytest.mark.parametrize(
    "function, x, message",
    [
        (joined_numbers, VECTOR, "what is joined is no list of arrays"),
        (joined_ranks, MATRIX, "arrays of several numbers of axes are joined"),
        (along_no_axis, VECTOR, "the axis 1"),
        (rolled_all, MATRIX, "roll of several axes at once"),
        (out_given, VECTOR, "var of other arguments"),
        (inner_of_matrices, MATRIX, "an inner product of others than vectors"),
    ],
)
def test_what_is_refused(function, x, message):
    with pytest.raises(TypeError) as refusal:
        knossos.register(function)(x)
    assert str(refusal.value).startswith(f"{function.__name__}: {message}, in `np.")


def test_extents_that_do_not_fit():
    with pytest.raises(ValueError, match=r"extents 5 and 4 do not fit, in `np\.stack"):
        knossos.register(joined_extents)(VECTOR)
