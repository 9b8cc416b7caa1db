"""Comprehensions of several loops in sum, any and all; parts of arrays that change in place."""

# ruff: noqa: F821

import numpy as np
import pytest
from complex_steps import check_gradients

from composit import knossos
from composit.knossos import Tensor

X = np.array([0.3, -1.2, 2.0, 0.7])
A = np.arange(12.0).reshape(3, 4) + 0.5


def pairs(x: "Tensor[float, n]") -> float:
    return sum(x[i] * x[j] for i in range(len(x)) for j in range(i + 1, len(x)) if i != 1)


def of_names(total: "Tensor[float, n, m]") -> float:
    k = 3
    return sum([v * k for row in total for v in row]) * sum(
        a * b for a in (1.0, 2.0) for b in total[0]
    )


def far_apart(x: "Tensor[float, n]", most: float) -> bool:
    return any(x[i] > x[j] + most for i in range(len(x)) for j in range(i))


def near(x: "Tensor[float, n]", most: float) -> bool:
    return all(abs(a - b) < most for a in x for b in x)


def products(n: int) -> int:
    return sum(i * j for i in range(n) for j in range(i) if i % 2 if j % 3)


@pytest.mark.parametrize(
    "function, arguments",
    [(pairs, (X,)), (of_names, (A,)), (far_apart, (X, 2.0)), (far_apart, (X, 9.0)),
     (near, (X, 3.5)), (near, (X, 1.0)), (products, (7,))],
)  # fmt: skip
def test_as_python(function, arguments):
    assert knossos.register(function)(*arguments) == function(*arguments)


def test_slopes_of_several_loops():
    check_gradients(knossos.register(pairs), (X,), 1.0)
    check_gradients(knossos.register(of_names), (A,), 1.5)


def changed(a: "Tensor[float, n, m]", b: "Tensor[float, m]") -> "Tensor[float, n, m]":
    y = a * b
    y[:, 1:] -= b[1:] * 2
    y[1:] *= a[:-1]
    y[::-1] += a
    y[0] /= b
    y[1:] += y[:-1]
    y[:, 0] -= y[0, 0]
    y[0, 1:] += y[0, 0] * y[1, 1:]
    return y


def test_parts_that_change_in_place():
    """Nothing is copied, unless a part is read at other places."""
    kernel, b = knossos.register(changed), np.arange(4.0) + 1
    assert np.array_equal(kernel(A, b), changed(A, b))
    check_gradients(kernel, (A, b), np.ones((3, 4)))
    assert kernel.procedure().source.count("std::vector") == 1, kernel.source


def of_lists(s: float, k: float) -> float:
    return np.dot([s, k], [k, s]) + np.linalg.norm([s, k]) + np.outer((s, k), (s, 1.0))[0, 1]


def test_lists_are_arrays_for_numpy():
    kernel = knossos.register(of_lists)
    assert kernel(2.0, 3.0) == of_lists(2.0, 3.0)
    assert np.allclose(kernel.grad(2.0, 3.0), (7 + 2 / 13**0.5, 4 + 3 / 13**0.5), rtol=1e-14)


def placed(x: "Tensor[float, n]", v: float) -> int:
    return np.searchsorted(x, v)


@pytest.mark.parametrize("v", [-2.0, 0.3, 0.5, 2.0, 3.0, np.nan, np.inf])
def test_searchsorted(v):
    for x in (np.sort(X), np.array([0.3, 0.3, 0.3]), np.array([0.3, np.nan]), np.zeros(0)):
        assert knossos.register(placed)(x, v) == placed(x, v)


def constants(s: float, k: float, n: int) -> float:
    fill = lambda a: np.full(n, a)
    return (fill(s) * fill(k))[n - 1]


def test_an_array_that_is_gone_keeps_its_checks(tmp_path):
    """What is left of it is the check of an index, which files define."""
    kernel = knossos.register(constants)
    assert kernel(2.0, 3.0, 4) == 6.0 and kernel.grad(2.0, 3.0, 4) == (3.0, 2.0)
    kernel.export(tmp_path)
    assert "int64_t checked_index(" in (tmp_path / "constants.cpp").read_text()
