"""Exported kernels: silent under both compilers, the same bits, a selfcheck, golden text."""

import ctypes
import re
import shutil
import subprocess

import kernels
import numpy as np
import pytest

from composit import knossos

WARNINGS = ["-std=c++17", "-Wall", "-Wextra", "-Werror"]
EXPORTED = ["relu3", "gelu", "newton", "polar", "collatz", "project", "loops", "guarded", "smooth"]


def run(*command, folder):
    finished = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert finished.returncode == 0, f"{' '.join(command)}\n{finished.stderr}"
    return finished.stdout


@pytest.mark.long_tail
@pytest.mark.parametrize("compiler", ["g++", "clang++"])
@pytest.mark.parametrize("name", EXPORTED)
def test_compiles_silently(name, compiler, tmp_path):
    assert shutil.which(compiler), f"{compiler} is not installed; make setup installs it"
    files = knossos.register(getattr(kernels, name)).export(tmp_path)
    assert files == [name + ".hpp", name + ".cpp"]
    run(compiler, *WARNINGS, "-O1", "-c", name + ".cpp", "-o", "/dev/null", folder=tmp_path)
    text = (tmp_path / f"{name}.cpp").read_text()
    assert "kernels.py:" in text


MAIN = """#include "{name}.hpp"
extern "C" void run(const double* x, const double* dy, double* y, double* dx, int64_t n) {{
    {name}::v{name}(x, y, n);
    {name}::v{name}_vjp(x, dy, dx, n);
    for (int64_t i = 0; i < n; ++i)
        if ({name}::{name}(x[i]) != y[i] || {name}::{name}_vjp(x[i], dy[i]) != dx[i]) y[i] = 1e300;
}}
extern "C" double selfcheck() {{ return {name}::{name}_selfcheck(); }}
"""


@pytest.mark.parametrize("flags", [["-O3"], ["-O3", "-march=native"], ["-O0"]])
@pytest.mark.parametrize("name", ["relu3", "gelu", "newton"])
def test_same_bits_and_selfcheck(name, flags, tmp_path):
    kernel = knossos.register(getattr(kernels, name))
    kernel.export(tmp_path)
    (tmp_path / "main.cpp").write_text(MAIN.format(name=name))
    files = [name + ".cpp", "main.cpp"]
    run("g++", *WARNINGS, *flags, "-shared", "-fPIC", *files, "-o", "it.so", folder=tmp_path)
    library = ctypes.CDLL(str(tmp_path / "it.so"))
    library.selfcheck.restype = ctypes.c_double
    random = np.random.default_rng(0)
    x, dy = random.normal(size=(2, 1001)) * 2
    if name == "newton":
        x = np.abs(x) + 0.01
    y, dx = np.empty_like(x), np.empty_like(x)
    pointers = [a.ctypes.data_as(ctypes.c_void_p) for a in (x, dy, y, dx)]
    library.run(*pointers, ctypes.c_int64(len(x)))
    assert y.tobytes() == kernel(x).tobytes()
    assert dx.tobytes() == kernel.vjp(x, dy).tobytes()
    assert library.selfcheck() < 1e-6


def test_selfcheck_finds_a_wrong_derivative(tmp_path):
    """A changed derivative is found."""
    knossos.register(kernels.gelu).export(tmp_path)
    file = tmp_path / "gelu.cpp"
    text = file.read_text()
    place = text.index("double gelu_vjp(double x, double dy)")
    assert "1.1283791670955126" in text[place:]
    file.write_text(text[:place] + text[place:].replace("1.1283791670955126", "1.13", 1))
    (tmp_path / "main.cpp").write_text(
        '#include "gelu.hpp"\nint main() { return gelu::gelu_selfcheck() > 1e-6 ? 7 : 0; }\n'
    )
    run("g++", "-std=c++17", "gelu.cpp", "main.cpp", "-o", "it", folder=tmp_path)
    assert subprocess.run([tmp_path / "it"]).returncode == 7


@pytest.mark.long_tail
@pytest.mark.parametrize("name", EXPORTED)
def test_selfcheck_at_arguments(name, tmp_path):
    """The vjp beside dual numbers, of kernels of floats and integers with any number of results."""
    knossos.register(getattr(kernels, name)).export(tmp_path)
    header = (tmp_path / f"{name}.hpp").read_text()
    parameters = re.search(rf"double {name}_selfcheck\(([^)]+)\);", header)
    if parameters is None:  # no float among the arguments and results: no derivative
        assert f"{name}_vjp" not in header
        return
    values = [["0.7", "1.3", "-0.4", "2.1", "0.9"][i] if each.split()[0] == "double" else "3"
              for i, each in enumerate(parameters[1].split(","))]  # fmt: skip
    (tmp_path / "main.cpp").write_text(
        f'#include "{name}.hpp"\nint main() {{ return {name}::{name}_selfcheck('
        f"{', '.join(values)}) < 1e-14 ? 0 : 7; }}\n"
    )
    run("g++", *WARNINGS, f"{name}.cpp", "main.cpp", "-o", "it", folder=tmp_path)
    assert subprocess.run([tmp_path / "it"]).returncode == 0


def test_equal_input_equal_bytes(tmp_path):
    kernel = knossos.register(kernels.loops)
    kernel.export(tmp_path / "a")
    kernel.export(tmp_path / "b")
    for name in ("loops.hpp", "loops.cpp"):
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()


@pytest.mark.parametrize("name", ["relu3", "loops", "polar"])
def test_golden_text(name, golden):
    golden.check(f"knossos/{name}.cpp", knossos.register(getattr(kernels, name)).source)


def test_few_lines():
    """At most four lines of C++ per line of Python."""
    import inspect

    for name in ("relu3", "loops", "collatz"):
        function = getattr(kernels, name)
        written = sum(bool(line.strip()) for line in inspect.getsource(function).splitlines())
        printed = knossos.register(function).procedure().source
        assert sum(bool(line.strip()) for line in printed.splitlines()) <= 4 * written


def test_names_that_cannot_be_files(tmp_path):
    for name in ("a b", "", 3):
        with pytest.raises(ValueError, match=f"{name!r} cannot name a file"):
            knossos.register(kernels.relu3).export(tmp_path, name)
    assert not list(tmp_path.iterdir())
