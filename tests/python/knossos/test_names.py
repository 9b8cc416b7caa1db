"""Kernels and their results may have any name that Python takes: words of C++ and names of what
the generated code or C's library has are spelled otherwise in C++, and compile."""

# ruff: noqa: F821

from __future__ import annotations

import dataclasses
import math
import subprocess
import warnings

import numpy as np
import pytest

from composit import knossos
from composit.knossos import Tensor

WORDS = ["double", "union", "main", "int64_t", "errno", "std", "größe"]
OF_THE_PRELUDE = [
    "absolute",
    "rounded",
    "multiply_add",
    "next_after",
    "square_root",
    "bits_as",
    "dot_product",
    "set_multiple",
    "take_last",
    "place_of_least",
    "fill_zeros",
    "checked_extent",
    "COMPOSIT_SCALAR",
    "maximum_float64",
    "cube_float32",
]
OF_THE_LIBRARY = [
    "exp",
    "div",
    "time",
    "index",
    "y1",
    "gamma",
    "powf",
    "expl",
    "lgammaf",
    "nanf",
    "conj",
    "csqrt",
    "cexpf",
    "cpowl",
    "isinff",
    "y0f",
    "tanhf32x",
    "lgamma_r",
    "mempcpy",
    "strndup",
    "snprintf",
    "putchar",
    "stpcpy",
    "aligned_alloc",
    "lrintf",
    "fmaximum",
    "roundevenl",
    "getc_unlocked",
    "towlower",
    "execv",
]

TEXT = """
def NAME(x: float, y: float) -> float:
    return abs(x * y - 1.0) - x * y
"""


def kernel_named(name, folder):
    """A kernel of that name, from a file."""
    file = folder / "written.py"
    file.write_text(TEXT.replace("NAME", name))
    names = {}
    exec(compile(file.read_text(), str(file), "exec"), names)
    return knossos.register(names[name])


LOOP = """
def NAME(x: float, NAME_of: int) -> float:
    for _ in range(NAME_of):
        x = x * 0.5
    return x
"""


@pytest.mark.parametrize("name", ["count", "i", "out", "arrays", "results", "Slot", "n", "x"])
def test_kernels_with_loops_of_names_that_their_callers_have(name, tmp_path):
    file = tmp_path / "written.py"
    text = LOOP.replace("NAME_of", "i" if name != "i" else "n").replace("NAME", name)
    file.write_text(text.replace("x = x", "y = y").replace("    for", "    y = x\n    for")
                    .replace("return x", "return y"))  # fmt: skip
    names = {}
    exec(compile(file.read_text(), str(file), "exec"), names)
    kernel = knossos.register(names[name])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert kernel(8.0, 2) == 2.0 and kernel.vjp(8.0, 2, 1.0) == 0.25
        np.testing.assert_array_equal(kernel(np.array([8.0, 4.0]), np.array([3, 1])), [1.0, 2.0])
    kernel.export(tmp_path)
    for compiler in ("g++", "clang++"):
        command = [compiler, "-std=c++17", "-Wall", "-Wextra", "-Werror", "-c", f"{name}.cpp"]
        subprocess.run([*command, "-o", "made.o"], cwd=tmp_path, check=True)


MAIN = """#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include "FILE.hpp"
int main() {
    std::printf("%.17g %.17g", SPACE::FUNCTION(3.0, 0.7), SPACE::FUNCTION_selfcheck());
    return 0;
}
"""


@pytest.mark.long_tail
@pytest.mark.parametrize("name", WORDS + OF_THE_PRELUDE + OF_THE_LIBRARY)
def test_kernels_of_any_name(name, tmp_path):
    kernel = kernel_named(name, tmp_path)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = kernel(3.0, 0.7)
        several = kernel(np.full(5, 3.0), np.full(5, 0.7))
    assert found == abs(3.0 * 0.7 - 1.0) - 3.0 * 0.7
    np.testing.assert_array_equal(np.asarray(several), np.full(5, found))
    kernel.export(tmp_path)
    in_ascii = {"größe": "gru00f6u00dfe"}
    function = in_ascii.get(name, name if name in OF_THE_LIBRARY else name + "_1")
    space = function if name in WORDS + OF_THE_PRELUDE else name + "_1"
    assert f"double {function}(double x, double y) {{" in kernel.source
    main = MAIN.replace("FILE", name).replace("SPACE", space).replace("FUNCTION", function)
    (tmp_path / "it.cpp").write_text(main)
    command = ["g++", "-std=c++17", "-Wall", "-Wextra", "-Werror", name + ".cpp", "it.cpp"]
    made = subprocess.run([*command, "-o", "it"], cwd=tmp_path, capture_output=True, text=True)
    assert made.returncode == 0, made.stderr
    shown = subprocess.run([tmp_path / "it"], capture_output=True, text=True, check=True).stdout
    value, error = map(float, shown.split())
    assert value == found
    assert error < 1e-6


@dataclasses.dataclass
class Spelled:
    """A record with words of C++ as fields."""

    new: float
    default: float


def swapped(r: Spelled) -> Spelled:
    return Spelled(r.default * 2.0, r.new)


def test_results_of_any_name(tmp_path):
    kernel = knossos.register(swapped)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        made = kernel(Spelled(1.0, 3.0))
    assert (float(made.new), float(made.default)) == (6.0, 1.0)
    kernel.export(tmp_path)
    command = ["g++", "-std=c++17", "-Wall", "-Wextra", "-Werror", "-c", "swapped.cpp"]
    built = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert built.returncode == 0, built.stderr


HELPERS = {
    "parameter": "def NAME(cube_float64: float, y: float) -> float:\n"
    "    return cube_float64**3 + y**3\n",
    "function": "def cube_float64(x: float, y: float) -> float:\n    return x**3 + 1 + y**3\n",
    "variable": "def NAME(x: float, y: float) -> float:\n"
    "    cube_float64 = x**3 + 1\n    rounded = cube_float64 * y - x * y\n"
    "    return cube_float64**3 * x + rounded * y - x * rounded\n",
}


@pytest.mark.parametrize("text", HELPERS.values(), ids=HELPERS)
def test_names_of_the_functions_of_a_file(text, tmp_path):
    file = tmp_path / "written.py"
    file.write_text(text.replace("NAME", "it"))
    names = {}
    exec(compile(file.read_text(), str(file), "exec"), names)
    function = names["it" if "it" in names else "cube_float64"]
    kernel = knossos.register(function)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert kernel(2.0, 3.0) == function(2.0, 3.0)
        np.testing.assert_array_equal(kernel(np.array([2.0, 3.0]), 3.0)[0], function(2.0, 3.0))
    name, _ = kernel.export(tmp_path)
    for compiler in ("g++", "clang++"):
        command = [compiler, "-std=c++17", "-Wall", "-Wextra", "-Werror", "-c"]
        source = name.replace(".hpp", ".cpp")
        subprocess.run([*command, source, "-o", "made.o"], cwd=tmp_path, check=True)


MADE = """
import numpy as np
def NAME(n: int, x: float) -> float:
    made = np.ones(n)
    return x + np.sum(made)
"""


@pytest.mark.parametrize("name", ["labs", "div", "rand", "kernels"])
def test_kernels_with_arrays_of_the_names_of_the_library(name, tmp_path):
    file = tmp_path / "written.py"
    file.write_text(MADE.replace("NAME", name))
    names = {}
    exec(compile(file.read_text(), str(file), "exec"), names)
    kernel = knossos.register(names[name])
    assert kernel(2, 1.0) == 3.0 and kernel.vjp(2, 1.0, 1.0) == 1.0  # which has no arrays


def test_variables_hide_no_called_function():
    """`norm` is taken, so that the function is norm_2, and the second variable is another."""

    @knossos.register
    def angle(p: Tensor[float, n], q: Tensor[float, n]) -> float:
        p, q = p / np.linalg.norm(p), q / np.linalg.norm(q)
        made = p + q
        return math.acos(p @ q) * np.linalg.norm(made)

    p, q = np.array([1.0, 0.0, 0.0]), np.array([0.0, 2.0, 0.0])
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # where what is written is no C++, kernels are interpreted
        assert np.isclose(angle(p, q), np.pi / 2 * np.sqrt(2)) and angle.grad(p, q)[0].shape == (3,)


def test_selfchecks_hide_no_argument(tmp_path):
    @knossos.register
    def element(x: Tensor[float, n], i: int) -> float:
        return x[i] * x[0]

    element.export(tmp_path)
    assert "for (size_t i = " not in (tmp_path / "element.cpp").read_text()
