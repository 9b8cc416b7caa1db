"""Docstrings, names and files of kernels, whatever they hold, make C++ that compiles silently."""

import importlib.util
import subprocess
from pathlib import Path

import numpy as np
import pytest

from composit import knossos

WARNINGS = ["-std=c++17", "-Wall", "-Wextra", "-Werror"]
HEADER = "import math\nimport numpy as np\nfrom composit.knossos import Tensor\n"
NUMBERS = "def {}(x: float) -> float:\n    {!r}\n    return x * x\n"
ARRAYS = 'def {}(x: "Tensor[float, n]") -> float:\n    {!r}\n    return np.sum(x * x)\n'
TEXTS = [
    "A path: C:\\temp\\", "ends with \\ \n\tand goes on \\\n", "One\rdouble evil;", "why?" "?/",
    "turned \u202e around", "*/ /* // \"", "\u2028 line", "form\ffeed\\\f",
]  # fmt: skip


def kernel_in(folder, text, name, file="written"):
    path = folder / f"{file}.py"
    path.write_text(HEADER + text)
    # Python takes bytecode of the same second and size for that of this text.
    Path(importlib.util.cache_from_source(str(path))).unlink(missing_ok=True)
    spec = importlib.util.spec_from_file_location("written", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return knossos.register(getattr(module, name))


def check_compiled(folder, name):
    for compiler in ("g++", "clang++"):
        command = [compiler, *WARNINGS, "-fsyntax-only", f"{name}.cpp"]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("form", [NUMBERS, ARRAYS], ids=["numbers", "arrays"])
@pytest.mark.parametrize("doc", TEXTS)
def test_docstrings(form, doc, tmp_path, recwarn):
    kernel = kernel_in(tmp_path, form.format("f", doc), "f")
    x = 3.0 if form is NUMBERS else np.array([3.0])
    assert kernel(x) == 9.0 and not recwarn.list
    kernel.export(tmp_path / "out")
    check_compiled(tmp_path / "out", "f")


@pytest.mark.parametrize("file", ['k1 we"ird ünï', "ends with \\", "a\nb"])
def test_files(file, tmp_path):
    for form, name in ((NUMBERS, "f"), (ARRAYS, "g")):
        kernel_in(tmp_path, form.format(name, "doc"), name, file).export(tmp_path / "out")
        check_compiled(tmp_path / "out", name)


@pytest.mark.parametrize(
    "name", ["f_bool_", "as_float64_", "to_float32_", "x_int64__", "f_bool", "pow_", "exp__1"]
)
@pytest.mark.parametrize("form", [NUMBERS, ARRAYS], ids=["numbers", "arrays"])
def test_names_that_end_as_functions_of_the_file_do(name, form, tmp_path, recwarn):
    kernel = kernel_in(tmp_path, form.format(name, "doc"), name)
    x = 3.0 if form is NUMBERS else np.array([3.0])
    assert kernel(x) == 9.0 and not recwarn.list
    kernel.export(tmp_path / "out")
    check_compiled(tmp_path / "out", name)


def test_names_in_other_letters(tmp_path):
    names = {"α": "alpha", "σ": "sigma", "Ω": "Omega", "ünï_x": "u00fcnu00ef_x"}
    for name, ascii_name in names.items():
        kernel = kernel_in(tmp_path, NUMBERS.format(name, "doc"), name)
        kernel.export(tmp_path)
        check_compiled(tmp_path, name)
        assert (
            f"double {ascii_name}_vjp(double x, double dy)"
            in (tmp_path / f"{name}.hpp").read_text()
        )
    includes = "".join(f'#include "{name}.hpp"\n' for name in names)
    uses = " + ".join(f"{each}::{each}(2.0)" for each in names.values())
    (tmp_path / "main.cpp").write_text(f"{includes}int main() {{ return {uses} == 16.0 ? 0 : 1; }}")
    files = [f"{name}.cpp" for name in names]
    subprocess.run(["g++", *WARNINGS, "main.cpp", *files, "-o", "m"], cwd=tmp_path, check=True)
    subprocess.run(["./m"], cwd=tmp_path, check=True)
