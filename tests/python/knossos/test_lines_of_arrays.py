"""Rows and columns of an array that change beside others of it: no copy is made where each element
needs but those beside it."""

# ruff: noqa: F821

import numpy as np
import pytest
from as_python import check, interpreted

from composit import knossos
from composit.knossos import Tensor

random = np.random.default_rng(59)


def columns(a: Tensor[float, "n", "m"]) -> Tensor[float, "n", "m"]:
    q = a.copy()
    for j in range(1, q.shape[1]):
        q[:, j] -= (q[:, j - 1] @ q[:, j]) * q[:, j - 1]
        q[:, j] = np.sin(q[:, j]) + q[:, 0] * q[:, j]
    return q


def eliminated(a: Tensor[float, "n", "n"], b: Tensor[float, "n"]) -> Tensor[float, "n"]:
    u, y = a.copy(), b.copy()
    n = len(b)
    for k in range(n):
        for i in range(k + 1, n):
            f = u[i, k] / u[k, k]
            u[i] -= f * u[k]
            y[i] -= f * y[k]
    x = np.zeros(n)
    for i in range(n - 1, -1, -1):
        x[i] = (y[i] - u[i, i + 1 :] @ x[i + 1 :]) / u[i, i]
    return x


def shifted(x: Tensor[float, "n"]) -> Tensor[float, "n"]:
    y = x.copy()
    y[1:] = y[1:] * y[:-1]
    y[1:] *= y[1:]
    y[::2] = y[::-1][::2] + 1.0
    y[:] = y * y[::-1]
    y[:-1] += y[1:]
    return y


def diagonally(a: Tensor[float, "n", "n"]) -> Tensor[float, "n", "n"]:
    q = a.copy()
    q[0] = q[:, 0] * q[0]
    q[:, 1] = q[1] * q[:, 1] + q[2]
    q[1:] = q[:-1] + q[1:]
    q[:, 1:] *= q[:, :1]
    q[0, 1:] += q[1, 1:] * q[2, :-1]
    return q


def swapped(a: Tensor[float, "n", "m"]) -> Tensor[float, "n", "m"]:
    q = a.copy()
    t = q[0].copy()
    q[0] = q[1]
    q[1] = t
    q[0], q[1] = q[1] + q[0], q[0] - q[1]
    q[0, :] = q[-1, :] * q[0]
    return q


CALLS = [
    (columns, (random.normal(size=(4, 3)),)),
    (eliminated, (random.normal(size=(4, 4)) + 4 * np.eye(4), random.normal(size=4))),
    (shifted, (random.normal(size=7),)),
    (diagonally, (random.normal(size=(3, 3)),)),
    (swapped, (random.normal(size=(3, 3)),)),
]


@pytest.mark.parametrize("use", [lambda kernel: kernel, interpreted])
@pytest.mark.parametrize(("function", "arguments"), CALLS)
def test_values_and_derivatives_are_pythons(function, arguments, use):
    check(function, arguments, use)


@pytest.mark.parametrize("function", [columns, eliminated])
def test_no_copy_is_made_beside_the_line(function):
    source = knossos.register(function).source
    assert "new_value" not in source, source


def test_a_copy_is_made_of_what_lies_elsewhere():
    assert "new_value" in knossos.register(shifted).source
    assert "new_value" in knossos.register(diagonally).source
