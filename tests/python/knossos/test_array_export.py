"""Exported kernels with arrays: silent under both compilers, and the bits of calls from Python."""

# ruff: noqa: F821

import ctypes
import re
import shutil
import subprocess

import array_kernels
import numpy as np
import pytest

from composit import knossos
from composit.knossos import Tensor

WARNINGS = ["-std=c++17", "-Wall", "-Wextra", "-Werror"]
FUNCTIONS = {function.__name__: function for function, _ in array_kernels.examples()}


def run(*command, folder):
    finished = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert finished.returncode == 0, f"{' '.join(command)}\n{finished.stderr}"


@pytest.mark.long_tail
@pytest.mark.parametrize("compiler", ["g++", "clang++"])
def test_compiles_silently(compiler, tmp_path):
    assert shutil.which(compiler), f"{compiler} is not installed; make setup installs it"
    for name, function in FUNCTIONS.items():
        files = knossos.register(function).export(tmp_path)
        assert files == [name + ".hpp", name + ".cpp"]
        run(compiler, *WARNINGS, "-O1", "-c", name + ".cpp", "-o", "/dev/null", folder=tmp_path)
        run(compiler, *WARNINGS, "-DNDEBUG", "-O0", "-c", name + ".cpp", "-o", "/dev/null",
            folder=tmp_path)  # fmt: skip


@knossos.register
def doubled(x: "Tensor[float, n]", w: "Tensor[float, n]") -> "Tensor[float, n]":
    return x * 2.0


@pytest.mark.parametrize("compiler", ["g++", "clang++"])
def test_arrays_that_nothing_reads_have_no_name(compiler, tmp_path):
    doubled.export(tmp_path)
    text = (tmp_path / "doubled.cpp").read_text()
    assert "void doubled_vjp(const double*, int64_t n, const double*, const double* dy," in text
    run(compiler, *WARNINGS, "-O1", "-c", "doubled.cpp", "-o", "/dev/null", folder=tmp_path)
    np.testing.assert_array_equal(doubled.vjp(np.ones(3), np.ones(3), np.arange(3.0))[0], [0, 2, 4])


MAIN = """#include "recurrence.hpp"
extern "C" double run(const double* x, int64_t n, double w, const double* dh, double* dx,
                      double* h) {
    recurrence::recurrence(x, n, w, h);
    return recurrence::recurrence_vjp(x, n, w, dh, dx);
}
"""


@pytest.mark.parametrize("flags", [["-O3"], ["-O3", "-march=native"], ["-O0"]])
def test_same_bits(flags, tmp_path):
    kernel = knossos.register(array_kernels.recurrence)
    kernel.export(tmp_path)
    first = (tmp_path / "recurrence.cpp").read_bytes()
    kernel.export(tmp_path)
    assert (tmp_path / "recurrence.cpp").read_bytes() == first
    (tmp_path / "main.cpp").write_text(MAIN)
    run("g++", *WARNINGS, *flags, "-shared", "-fPIC", "recurrence.cpp", "main.cpp", "-o", "it.so",
        folder=tmp_path)  # fmt: skip
    library = ctypes.CDLL(str(tmp_path / "it.so"))
    library.run.restype = ctypes.c_double
    x, dh = np.random.default_rng(0).normal(size=(2, 100))
    dx, h = np.empty_like(x), np.empty_like(x)
    pointers = [each.ctypes.data_as(ctypes.c_void_p) for each in (x, dh, dx, h)]
    dw = library.run(pointers[0], ctypes.c_int64(100), ctypes.c_double(0.7), *pointers[1:])
    assert np.array_equal(h, kernel(x, 0.7))
    wanted_dx, wanted_dw = kernel.vjp(x, 0.7, dh)
    assert np.array_equal(dx, wanted_dx)
    assert dw == wanted_dw


def with_given_derivative(factor):
    @knossos.register
    def squares(x: "Tensor[float, n]", k: int):
        total = 0.0
        for v in x:
            total += v**3 * k
        return total, np.array([x[2 * i] * x[2 * i + 1] for i in range(len(x) // 2)])

    @squares.derivative
    def squares_vjp(
        x: "Tensor[float, n]", k: int, dt: float, dy: "Tensor[float, m]"
    ) -> "Tensor[float, n]":
        dx = factor * k * dt * x**2
        for i in range(len(dy)):
            dx[2 * i] += dy[i] * x[2 * i + 1]
            dx[2 * i + 1] += dy[i] * x[2 * i]
        return dx

    return squares


def selfcheck_of(kernel, arguments, folder):
    """What the exported selfcheck returns at the arguments."""
    name = kernel.__name__
    header = (folder / f"{name}.hpp").read_text()
    parameters = re.search(rf"double {name}_selfcheck\(([^)]+)\);", header)[1]
    names = ", ".join(each.split()[-1] for each in parameters.split(","))
    (folder / "main.cpp").write_text(
        f'#include "{name}.hpp"\nextern "C" double check({parameters}) '
        f"{{ return {name}::{name}_selfcheck({names}); }}\n"
    )
    run("g++", *WARNINGS, "-shared", "-fPIC", f"{name}.cpp", "main.cpp", "-o", "it.so",
        folder=folder)  # fmt: skip
    given, kept, known = [], [], set()
    for leaf, value in zip(kernel._leaves, arguments):
        if not isinstance(value, np.ndarray):
            given.append((ctypes.c_double if leaf.kind == "float" else ctypes.c_int64)(value))
            continue
        kept.append(np.ascontiguousarray(value))
        given.append(kept[-1].ctypes.data_as(ctypes.c_void_p))
        for extent, length in zip(leaf.extents, value.shape):
            if isinstance(extent, str) and extent not in known:
                known.add(extent)
                given.append(ctypes.c_int64(length))
    check = ctypes.CDLL(str(folder / "it.so")).check
    check.restype = ctypes.c_double
    return check(*given)


@pytest.mark.long_tail
@pytest.mark.parametrize("which", range(len(array_kernels.examples())))
def test_selfcheck(which, tmp_path):
    """What is exported compares reverse accumulation with dual numbers."""
    function, arguments = array_kernels.examples()[which]
    kernel = knossos.register(function)
    kernel.export(tmp_path)
    assert selfcheck_of(kernel, arguments, tmp_path) < 1e-14
    assert "dual numbers" in (tmp_path / f"{kernel.__name__}.hpp").read_text()


def test_selfcheck_finds_a_wrong_derivative(tmp_path):
    kernel = knossos.register(array_kernels.logsumexp)
    kernel.export(tmp_path)
    file = tmp_path / "logsumexp.cpp"
    text = file.read_text()
    place = text.index("void logsumexp_vjp(")
    assert "scaled_slope(dy, 1.0 / s)" in text[place:]
    file.write_text(text[:place] + text[place:].replace("1.0 / s)", "1.001 / s)", 1))
    assert selfcheck_of(kernel, [np.arange(5.0)], tmp_path) > 1e-5


@pytest.mark.parametrize("factor", [3.0, 3.001])
def test_selfcheck_of_a_given_derivative(factor, tmp_path):
    """Where no dual numbers are known it compares with differences."""
    kernel = with_given_derivative(factor)
    kernel.export(tmp_path)
    assert "differences" in (tmp_path / "squares.hpp").read_text()
    worst = selfcheck_of(kernel, [np.random.default_rng(0).normal(size=5), 2], tmp_path)
    assert worst < 1e-9 if factor == 3.0 else worst > 1e-6


def test_text_of_a_gradient():
    """Loops are loops, elements are read where they are used, and marks name the lines."""
    text = knossos.register(array_kernels.logsumexp).vjp.procedure().source
    assert "for (int64_t i = 0; i < n; ++i) dm -= (dx[i] = " in text
    assert "exp_float64(x[i] - m);" in text
    assert "array_kernels.py:" in text
