"""What loops become where they are loaded, so that they run faster: four rows together, arrays that
exchange, functions of what changes and what does not, gradients of 0 left out. Always the bits of
the interpreter, and of the exported text."""

# ruff: noqa: F821

import ctypes
import math
import subprocess

import numpy as np
import pytest
from as_python import anew

from composit import _core
from composit.knossos import Tensor


def weighted(x: "Tensor[float, n]", a: "Tensor[float, n, m]") -> "Tensor[float, m]":
    """A product of a vector and a matrix, by rows."""
    y = np.zeros(a.shape[1])
    for i in range(len(x)):
        w = math.tanh(x[i])
        for j in range(a.shape[1]):
            y[j] += w * a[i, j]
    return y


def chained(start: "Tensor[float, n]", a: "Tensor[float, n, n]", steps: int) -> float:
    """A recurrence of such products, what it was is logged."""
    state = start * 1.0
    total = 0.0
    for _ in range(steps):
        scale = np.sum(np.abs(state)) + 1.0
        total += math.log(scale)
        state = (state / scale) @ a
    return total + np.sum(state)


def two_sums(x: "Tensor[float, n]", a: "Tensor[float, n, m]") -> "Tensor[float, m]":
    """Rows that are added to two arrays, down from the last column."""
    y, z = np.zeros(a.shape[1]), np.zeros(a.shape[1])
    for i in range(1, len(x)):
        for j in range(a.shape[1] - 1, -1, -1):
            y[j] += x[i] * a[i, j]
            z[j] -= x[i - 1] + a[i, j]
    return y * z


def not_apart(x: "Tensor[float, n]", m: int) -> "Tensor[float, m]":
    """Rows that read what the one before added: they stay one behind the other."""
    y = np.ones(m)
    for i in range(len(x)):
        w = y[0] * x[i]
        for j in range(m):
            y[j] += w
    return y


def powers(x: "Tensor[float, n]", a: float) -> float:
    """Of one number; all are read twice."""
    n = len(x)
    p = [2.0 * a ** (k - n) for k in range(2 * n + 1)]
    total = 0.0
    for k in range(2 * n + 1):
        total += p[k] * math.cos(0.1 * k) * x[k // 2 if k < 2 * n else 0]
    return total


def roots(x: "Tensor[float, n]", e: float) -> "Tensor[float, n]":
    """Of one exponent, counted down."""
    y = np.zeros(len(x))
    for i in range(len(x) - 1, -1, -1):
        y[i] = x[i] ** e + math.atan2(x[i], e)
    return y


def diffused(u: "Tensor[float, n, m]", k: float, steps: int) -> "Tensor[float, n, m]":
    u = u.copy()
    new = u.copy()
    for _ in range(steps):
        for i in range(1, u.shape[0] - 1):
            for j in range(1, u.shape[1] - 1):
                new[i, j] = u[i, j] + k * (u[i - 1, j] + u[i, j + 1] - 2.0 * u[i, j]) * u[i + 1, j]
        u, new = new, u
    return u


def alternating(x: "Tensor[float, n]", steps: int) -> float:
    """Two arrays of their own that exchange, one of which alone changes."""
    a, b = x * 2.0, x + 1.0
    for k in range(steps):
        for i in range(1, len(x)):
            a[i] = a[i] * b[i - 1] + 0.1 * k
        a, b = b, a
    return np.sum(a) - 3.0 * np.sum(b * b)


def warped(x: "Tensor[float, n]", y: "Tensor[float, m]") -> float:
    """The least of three neighbours."""
    cost = np.full((len(x) + 1, len(y) + 1), math.inf)
    cost[0, 0] = 0.0
    for i in range(len(x)):
        for j in range(len(y)):
            d = x[i] - y[j]
            cost[i + 1, j + 1] = d * d + min(cost[i, j], cost[i, j + 1], cost[i + 1, j])
    return cost[len(x), len(y)]


def farthest(x: "Tensor[float, n]") -> float:
    """A choice between neighbours, of slopes that may be infinite."""
    best = np.zeros(len(x) + 1)
    for i in range(len(x)):
        best[i + 1] = max(best[i] + math.sqrt(abs(x[i])), best[max(i - 1, 0)] + x[i] * x[i])
    return best[len(x)]


def cases(function):
    random = np.random.default_rng(0)
    for n in (1, 2, 3, 4, 5, 8, 11):
        for m in (1, 3, 9):
            x, a = random.normal(size=n), random.normal(size=(n, m))
            yield {
                weighted: (x, a), two_sums: (x, a), not_apart: (x, m), powers: (x, 1.1),
                chained: (x, random.normal(size=(n, n)), m), roots: (np.abs(x) + 0.1, 0.5 * m),
                diffused: (random.random((n, m)), 0.1, n), alternating: (x, m),
                warped: (x, random.normal(size=m)), farthest: (np.where(x > 1, 0.0, x),),
            }[function]  # fmt: skip


FUNCTIONS = (weighted, chained, two_sums, not_apart, powers, roots, diffused, alternating, warped,
             farthest)  # fmt: skip


def interpreted(kernel):
    kernel._use(_core.procedure.interpreted(kernel.procedure()))
    return kernel


def equal(found, wanted):
    for one, other in zip(np.atleast_1d(found) if np.isscalar(found) else found, wanted):
        assert np.array_equal(one, other, equal_nan=True)


@pytest.mark.parametrize("function", FUNCTIONS)
def test_values_are_those_of_python_and_of_the_interpreter(function):
    kernel, other = anew(function), interpreted(anew(function))
    for given in cases(function):
        np.testing.assert_array_equal(kernel(*given), other(*given))
        np.testing.assert_allclose(kernel(*given), function(*given), rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize("function", FUNCTIONS)
def test_gradients_are_those_of_the_interpreter_and_of_tangents(function):
    kernel, other = anew(function), interpreted(anew(function).vjp)
    random = np.random.default_rng(1)
    for given in cases(function):
        dy = random.normal(size=np.shape(kernel(*given)))
        dy = float(dy) if dy.ndim == 0 else dy
        found, wanted = kernel.vjp(*given, dy), other(*given, dy)
        found, wanted = [each if isinstance(each, tuple) else (each,) for each in (found, wanted)]
        floats = [i for i, each in enumerate(given) if not isinstance(each, int)]
        assert len(found) == len(wanted) == len(floats)
        for one, same in zip(found, wanted):
            np.testing.assert_array_equal(one, same)
        along = [random.normal(size=np.shape(given[i])) for i in floats]
        along = [float(each) if each.ndim == 0 else each for each in along]
        tangent = np.sum(dy * kernel.jvp(*given, *along))
        if function is farthest and 0.0 in given[0]:
            continue  # a slope that is infinite
        np.testing.assert_allclose(
            sum(np.sum(one * d) for one, d in zip(found, along)), tangent, rtol=1e-9, atol=1e-9
        )


def test_what_a_gradient_of_0_leaves_out_has_a_derivative():
    """The gradient is linear in what it receives: its derivative at 0 is that at 1."""
    kernel, random = anew(warped), np.random.default_rng(2)
    x, y = random.normal(size=6), random.normal(size=8)
    zeros = np.zeros(6), np.zeros(8)
    for one, other in zip(kernel.vjp.jvp(x, y, 0.0, *zeros, 1.0), kernel.vjp(x, y, 1.0)):
        np.testing.assert_allclose(one, other, rtol=1e-12)
    back = kernel.vjp.vjp(x, y, 0.0, np.ones(6), 2.0 * np.ones(8))
    np.testing.assert_allclose(
        back[2], np.sum(kernel.vjp(x, y, 1.0)[0]) + 2.0 * np.sum(kernel.vjp(x, y, 1.0)[1])
    )
    assert "if (g != 0.0) {" in kernel.vjp.procedure().source


def test_exchanged_arrays_are_no_copies():
    kernel = anew(alternating)
    assert "std::swap(a, b);" in kernel.procedure().source
    loaded = _core.procedure.print_loadable("diffused", [[anew(diffused).procedure()]])
    assert loaded.count("std::swap(") == 1


HARNESS = """#include "{name}.hpp"
extern "C" void run(const double* x, int64_t n, const double* y, int64_t m, double* dx,
                    double* dy) {{
    {name}::{name}_vjp(x, n, y, m, 1.0, dx, dy);
}}
"""


def test_exported_gradients_have_the_same_bits(tmp_path):
    kernel, random = anew(warped), np.random.default_rng(3)
    kernel.export(tmp_path)
    (tmp_path / "run.cpp").write_text(HARNESS.format(name="warped"))
    subprocess.run(
        ["g++", "-O3", "-march=native", "-std=c++17", "-shared", "-fPIC", "run.cpp", "warped.cpp",
         "-o", "run.so"], cwd=tmp_path, check=True,
    )  # fmt: skip
    x, y = random.normal(size=30), random.normal(size=40)
    dx, dy = np.empty(30), np.empty(40)
    pointers = [each.ctypes.data_as(ctypes.c_void_p) for each in (x, y, dx, dy)]
    ctypes.CDLL(str(tmp_path / "run.so")).run(
        pointers[0], ctypes.c_int64(30), pointers[1], ctypes.c_int64(40), *pointers[2:]
    )
    wanted = kernel.vjp(x, y, 1.0)
    assert np.array_equal(dx, wanted[0]) and np.array_equal(dy, wanted[1])
