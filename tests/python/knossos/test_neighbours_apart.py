"""Loops that add to neighbouring elements, as gradients of stencils do: where they are loaded,
loops behind them add to all but one of these. The order of each sum stays: the bits are the
interpreter's, and those of the exported text."""

# ruff: noqa: F821

import ctypes
import subprocess

import numpy as np
import pytest
from complex_steps import check_gradients

from composit import _core, knossos
from composit.knossos import Tensor


def three_points(x: "Tensor[float, n]", w: "Tensor[float, n]") -> "Tensor[float, n]":
    y = np.zeros(len(x))
    for i in range(1, len(x) - 1):
        y[i] = w[i] * (x[i - 1] - 2.0 * x[i] * x[i] + 3.0 * x[i + 1])
    return y


def going_down(x: "Tensor[float, n]", w: "Tensor[float, n]") -> "Tensor[float, n]":
    """The derivative goes up."""
    y = np.zeros(len(x))
    total = 0.0
    for i in range(len(x) - 3, -1, -1):
        total = 0.5 * total + x[i + 2] * w[i]
        y[i] = total * x[i] + x[i + 2] * x[i + 1]
    return y


def five_points(x: "Tensor[float, n, n]", w: "Tensor[float, n, n]") -> float:
    total = 0.0
    for i in range(1, len(x) - 1):
        for j in range(1, len(x) - 1):
            around = x[i - 1, j] + x[i + 1, j] + x[i, j - 1] + x[i, j + 1]
            total += w[i, j] * around * around - x[i, j] * x[i - 1, j + 1]
    return total


def products(x: "Tensor[float, n]", w: "Tensor[float, n]") -> float:
    total = 0.0
    for i in range(len(x) - 2):
        total += x[i] * x[i + 1] * x[i + 2] + w[i] * x[i + 1] - w[i + 1]
    return total


def columns(x: "Tensor[float, n, n]", w: "Tensor[float, n, n]") -> float:
    """The loop within goes through the first axis; as far as the one around says."""
    total = 0.0
    for j in range(len(x)):
        for i in range(1, j):
            total += (x[i - 1, j] - x[i + 1, j]) * w[i, j] * x[i, j]
    return total


def carried(x: "Tensor[float, n]", w: "Tensor[float, n]") -> "Tensor[float, n]":
    """Elements receive what is handed on, before and behind it changes."""
    y = np.zeros(len(x) + 1)
    v = 1.0
    for i in range(len(x)):
        y[i] += v
        v = 0.5 * v + x[i] * w[i]
        y[i + 1] += v
    return y[1:] * 1.0


FUNCTIONS = (three_points, going_down, five_points, products, columns, carried)
APART = (three_points, five_points, products)


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda each: each.__name__)
def test_gradients(function):
    random = np.random.default_rng(3)
    rank = 2 if function in (five_points, columns) else 1
    kernel = knossos.register(function)
    for n in (0, 1, 2, 3, 4, 5, 9, 40):
        x, w = random.normal(size=(2, *[n] * rank))
        dy = random.normal(size=np.shape(kernel(x, w)))
        check_gradients(knossos.register(function), (x, w), dy if dy.ndim else float(dy))


def test_of_float32():
    random = np.random.default_rng(4)
    kernel = knossos.register(five_points).vjp
    x, w = random.normal(size=(2, 33, 33)).astype("float32")
    found = kernel(x, w, np.float32(0.7))
    assert found[0].dtype == np.float32
    kernel._use(_core.procedure.interpreted(kernel.procedure("float32")))
    for one, same in zip(found, kernel(x, w, np.float32(0.7))):
        np.testing.assert_array_equal(one, same)


def test_which_are_apart():
    for function in FUNCTIONS:
        procedure = knossos.register(function).vjp.procedure()
        assert "terms" not in procedure.source
        loaded = _core.procedure.print_loadable("loaded", [[procedure]])
        assert ("> terms(" in loaded) == (function in APART), function


HARNESS = """#include "{name}.hpp"
extern "C" void run(const double* x, int64_t n, const double* w, const double* dy, double* dx,
                    double* dw) {{
    {name}::{name}_vjp(x, n, w, dy, dx, dw);
}}
"""


def test_exported_gradients_have_the_same_bits(tmp_path):
    kernel, random = knossos.register(three_points), np.random.default_rng(5)
    kernel.export(tmp_path)
    (tmp_path / "run.cpp").write_text(HARNESS.format(name="three_points"))
    subprocess.run(
        ["g++", "-O3", "-march=native", "-std=c++17", "-shared", "-fPIC", "run.cpp",
         "three_points.cpp", "-o", "run.so"], cwd=tmp_path, check=True,
    )  # fmt: skip
    n = 50
    x, w, dy = random.normal(size=(3, n))
    dx, dw = np.empty((2, n))
    pointers = [each.ctypes.data_as(ctypes.c_void_p) for each in (x, w, dy, dx, dw)]
    ctypes.CDLL(str(tmp_path / "run.so")).run(pointers[0], ctypes.c_int64(n), *pointers[1:])
    assert all(np.array_equal(*pair) for pair in zip((dx, dw), kernel.vjp(x, w, dy)))
