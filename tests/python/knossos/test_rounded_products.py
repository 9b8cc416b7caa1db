"""Each product is rounded before it is added. g++ from 12 on fuses an addition and a subtraction
of products side by side into one instruction, whatever is said about contraction."""

# ruff: noqa: F821

from __future__ import annotations

import ctypes
import re
import subprocess

import numpy as np
import pytest

from composit import knossos
from composit.knossos import Tensor

CALLS = 200


def turned(x: float, y: float, c: float, s: float) -> tuple[float, float]:
    return c * x - s * y, s * x + c * y


def weighed(x: float, y: float, c: float, s: float) -> tuple[float, float]:
    return (c * x + y) * s, (c * y - x) * s


def all_turned(p: Tensor[float, n, 2], c: float, s: float) -> Tensor[float, n, 2]:
    q = np.zeros((len(p), 2))
    for i in range(len(p)):
        q[i, 0] = c * p[i, 0] - s * p[i, 1]
        q[i, 1] = s * p[i, 0] + c * p[i, 1]
    return q


def products(a: Tensor[float, n, 2], b: Tensor[float, n, 2]) -> Tensor[float, n, 2]:
    q = np.zeros((len(a), 2))
    for i in range(len(a)):
        re = a[i, 0] * b[i, 0] - a[i, 1] * b[i, 1]
        im = a[i, 0] * b[i, 1] + a[i, 1] * b[i, 0]
        q[i, 0] = re
        q[i, 1] = im
    return q


def by_sides(p: Tensor[float, n, 2], c: float, s: float) -> Tensor[float, n, 2]:
    q = np.zeros((len(p), 2))
    for i in range(len(p)):
        for j in range(2):
            q[i, j] = c * p[i, j] - s if j == 0 else c * p[i, j] + s
    return q


def in_place(q: Tensor[float, n], c: float, s: float) -> Tensor[float, n]:
    r = 1.0 * q
    for i in range(len(q) // 4):
        r[4 * i] = c * r[4 * i] - s
        r[4 * i + 1] = c * r[4 * i + 1] + s
        r[4 * i + 2] = c * r[4 * i + 2] - s
        r[4 * i + 3] = c * r[4 * i + 3] + s
    return r


def sums(x: Tensor[float, n], c: float, s: float) -> tuple[float, float]:
    a = 0.0
    b = 0.0
    for i in range(len(x)):
        a += c * x[i] - s
        b += c * x[i] + s
    return a, b


def carried(x: Tensor[float, n], c: float, s: float) -> tuple[float, float]:
    a = 1.0
    b = 0.0
    for i in range(len(x)):
        a, b = c * a - s * b, s * a + c * b + x[i]
    return a, b


def wanted_slopes(function, values, weights, step=1e-200j):
    """Complex steps: the slopes of sums and products of the arguments, nearly exact."""
    slopes = []
    for k in range(len(values)):
        stepped = [v + step if i == k else v for i, v in enumerate(values)]
        outputs = function(*stepped)
        slopes.append(sum(w * o.imag / 1e-200 for w, o in zip(weights, outputs, strict=True)))
    return slopes


@pytest.mark.parametrize("function", [turned, weighed])
def test_pairs(function, tmp_path):
    kernel = knossos.register(function)
    calls = np.random.default_rng(1).normal(size=(CALLS, 4)).tolist()
    wanted = [function(*call) for call in calls]
    assert [tuple(kernel(*call)) for call in calls] == wanted
    mapped = kernel(*np.array(calls).T)
    assert np.array([np.asarray(part) for part in mapped]).T.tolist() == [list(w) for w in wanted]
    assert _exported(kernel, calls, tmp_path) == wanted
    # The derivative is a function as well, of rotated weights.
    dy = (0.3, -1.7)
    for call in calls[:20]:
        np.testing.assert_allclose(
            kernel.vjp(*call, *dy), wanted_slopes(function, call, dy), rtol=1e-14, atol=1e-14
        )


def _exported(kernel, calls, folder):
    """What the exported function gives, compiled for this machine with the recommended flags."""
    name = kernel.__name__
    kernel.export(folder)
    flags = re.search(r"// Compile: c\+\+ (.*) -c", (folder / f"{name}.hpp").read_text())[1]
    (folder / "main.cpp").write_text(
        f'#include "{name}.hpp"\n'
        'extern "C" void run(const double* x, double* y, int64_t n) {\n'
        "    for (int64_t i = 0; i < n; ++i) {\n"
        "        const double* p = x + 4 * i;\n"
        f"        const auto r = {name}::{name}(p[0], p[1], p[2], p[3]);\n"
        "        y[2 * i] = r.y0;\n        y[2 * i + 1] = r.y1;\n    }\n}\n"
    )
    found = {}
    for compiler in ("g++", "clang++"):
        command = [compiler, *flags.split(), "-march=native", "-shared", "-fPIC"]
        command += [f"{name}.cpp", "main.cpp", "-o", f"{compiler}.so"]
        subprocess.run(command, cwd=folder, check=True)
        library = ctypes.CDLL(str(folder / f"{compiler}.so"))
        x, y = np.array(calls), np.empty((len(calls), 2))
        library.run(*(a.ctypes.data_as(ctypes.c_void_p) for a in (x, y)), ctypes.c_int64(len(x)))
        found[compiler] = [tuple(row) for row in y.tolist()]
    assert found["g++"] == found["clang++"]
    return found["g++"]


@pytest.mark.parametrize("function", [sums, carried])
def test_sums(function):
    kernel = knossos.register(function)
    for count in (1, 3, 64, 131):
        x = np.random.default_rng(3).normal(size=count)
        assert kernel(x, 0.7, -0.8) == function(x.tolist(), 0.7, -0.8)


@pytest.mark.parametrize("function", [all_turned, products, by_sides, in_place])
def test_loops(function):
    """Pairs of elements in loops, too."""
    kernel = knossos.register(function)
    random = np.random.default_rng(2)
    for count in (1, 3, 64, 131):
        p = random.normal(size=4 * count if function is in_place else (count, 2))
        rest = [random.normal(size=p.shape)] if function is products else [0.7, -1.3]
        assert kernel(p, *rest).tobytes() == function(p, *rest).tobytes()


@knossos.register
def added_to(x: Tensor[float, n], y: Tensor[float, n], s: float) -> Tensor[float, n]:
    made = np.cos(y)
    for i in range(1, len(x)):
        made[i] -= x[i] * s
        made[i] += y[i] * s
    return made


def test_a_sum_that_is_taken_from_a_rounded_element_is_one_term():
    random = np.random.default_rng(5)
    x, y, dx, dy = random.normal(size=(4, 6))
    s, ds = 0.7, 1.3
    wanted = dy * -np.sin(y)
    wanted[1:] += ((y - x) * ds + (dy - dx) * s)[1:]
    np.testing.assert_allclose(added_to.jvp(x, y, s, dx, dy, ds), wanted, rtol=1e-14)
    assert " = rounded(du1[i]) - (" in added_to.jvp.procedure().source.replace("dmade", "du1")
