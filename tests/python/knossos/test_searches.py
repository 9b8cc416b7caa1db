"""Loops that search: derivatives go through the place that was found, not through the loop."""

# ruff: noqa: F821

import ctypes
import math
import subprocess

import numpy as np
import pytest

from composit import _core, knossos
from composit.knossos import Tensor

RANDOM = np.random.default_rng(0)


@knossos.register
def interpolated(x: "Tensor[float, n]", y: "Tensor[float, n]", t: float) -> float:
    for i in range(len(x) - 1):
        if t <= x[i + 1]:
            w = (t - x[i]) / (x[i + 1] - x[i])
            return (1 - w) * y[i] + w * y[i + 1]
    return y[-1]


@knossos.register
def first_below(x: "Tensor[float, n]", t: float) -> float:
    """What the branch reads is computed before it, and behind the loop again."""
    total = t * t
    for i in range(len(x)):
        d = x[i] - t
        if d < 0.0:
            total += math.exp(d) * x[i]
            break
    return total * t


@knossos.register
def first_root(x: "Tensor[float, n]", start: float) -> float:
    """A loop that does not count, and one that changes what its end reads."""
    k = 0
    value = start
    while k < len(x):
        value = value * 0.5 + x[k]
        if value > 2.0:
            value = value * value
            break
        k += 1
    return value * x[0]


@knossos.register
def in_each_row(x: "Tensor[float, n, m]", t: float) -> float:
    total = 0.0
    for i in range(len(x)):
        for j in range(x.shape[1]):
            if x[i, j] > t:
                total += (x[i, j] - t) * (x[i, j] - t)
                break
    return total


X = np.array([0.0, 1.0, 2.5, 3.0, 7.0])
CALLS = [
    *((interpolated, (X, RANDOM.normal(size=5), t)) for t in (-1.0, 0.5, 2.7, 7.0, 8.0)),
    *((first_below, (RANDOM.normal(size=6), t)) for t in (-9.0, 0.0, 0.5, 9.0)),
    *((first_root, (np.array([0.3, 0.9, 1.9, 0.1]), start)) for start in (0.1, 1.0, 9.0)),
    *((in_each_row, (RANDOM.normal(size=(4, 5)), t)) for t in (-0.5, 0.3, 9.0)),
]


@pytest.mark.parametrize(("kernel", "arguments"), CALLS)
def test_values_and_derivatives(kernel, arguments):
    assert kernel(*arguments) == kernel.__wrapped__(*arguments)
    found = kernel.vjp(*arguments, 1.0)
    found = found if isinstance(found, tuple) else (found,)
    directions = [RANDOM.normal(size=np.shape(each)) for each in arguments]
    forward = kernel.jvp(*arguments, *directions)
    reverse = sum(np.sum(a * b) for a, b in zip(found, directions, strict=True))
    assert math.isclose(forward, reverse, rel_tol=1e-12, abs_tol=1e-14)
    other = knossos.register(kernel.__wrapped__)
    other.vjp._use(_core.procedure.interpreted(other.vjp.procedure()))
    interpreted = other.vjp(*arguments, 1.0)
    interpreted = interpreted if isinstance(interpreted, tuple) else (interpreted,)
    for a, b in zip(found, interpreted, strict=True):
        assert np.asarray(a).tobytes() == np.asarray(b).tobytes()


def test_no_iteration_is_kept_or_runs_again():
    source = interpolated.vjp.procedure().source
    assert source.count("for (") == 1 and "std::vector" not in source, source
    assert "if (t <= x[i + 1]) break;" in source, source
    assert "if (i < n - 1) {" in source and "has_returned" not in source, source


MAIN = """#include "interpolated.hpp"
extern "C" double run(const double* x, int64_t n, const double* y, double t, double* dx,
                      double* dy) {
    return interpolated::interpolated_vjp(x, n, y, t, 1.0, dx, dy);
}
"""


@pytest.mark.parametrize("t", [-1.0, 2.7, 8.0])
def test_exported_bits(t, tmp_path):
    interpolated.export(tmp_path)
    (tmp_path / "main.cpp").write_text(MAIN)
    subprocess.run(
        ["g++", "-std=c++17", "-Wall", "-Wextra", "-Werror", "-O2", "-shared", "-fPIC",
         "interpolated.cpp", "main.cpp", "-o", "it.so"], cwd=tmp_path, check=True,
    )  # fmt: skip
    run = ctypes.CDLL(str(tmp_path / "it.so")).run
    run.restype = ctypes.c_double
    y = np.arange(5.0) ** 2
    dx, dy = np.empty(5), np.empty(5)
    pointers = [each.ctypes.data_as(ctypes.c_void_p) for each in (X, y, dx, dy)]
    dt = run(
        pointers[0], ctypes.c_int64(5), pointers[1], ctypes.c_double(t), pointers[2], pointers[3]
    )
    wanted = interpolated.vjp(X, y, t, 1.0)
    assert dx.tobytes() == wanted[0].tobytes() and dy.tobytes() == wanted[1].tobytes()
    assert dt == wanted[2]
