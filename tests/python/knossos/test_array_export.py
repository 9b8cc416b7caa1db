"""Exported kernels with arrays: silent under both compilers, and the bits of calls from Python."""

import ctypes
import shutil
import subprocess

import array_kernels
import numpy as np
import pytest

from composit import knossos

WARNINGS = ["-std=c++17", "-Wall", "-Wextra", "-Werror"]
FUNCTIONS = {function.__name__: function for function, _ in array_kernels.examples()}


def run(*command, folder):
    finished = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert finished.returncode == 0, f"{' '.join(command)}\n{finished.stderr}"


@pytest.mark.parametrize("compiler", ["g++", "clang++"])
def test_compiles_silently(compiler, tmp_path):
    assert shutil.which(compiler), f"{compiler} is not installed; make setup installs it"
    for name, function in FUNCTIONS.items():
        files = knossos.register(function).export(tmp_path)
        assert files == [name + ".hpp", name + ".cpp"]
        run(compiler, *WARNINGS, "-O1", "-c", name + ".cpp", "-o", "/dev/null", folder=tmp_path)
        run(compiler, *WARNINGS, "-DNDEBUG", "-O0", "-c", name + ".cpp", "-o", "/dev/null",
            folder=tmp_path)  # fmt: skip


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


def test_text_of_a_gradient():
    """Loops are loops, elements are read where they are used, and marks name the lines."""
    text = knossos.register(array_kernels.logsumexp).vjp.procedure().source
    assert "for (int64_t i = 0; i < n; ++i) {" in text
    assert "exp_float64(x[i] - m);" in text
    assert "array_kernels.py:" in text
