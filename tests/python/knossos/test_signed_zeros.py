"""Differences from zero keep the sign of zero, which g++ 12 folds away where it is let."""

import ctypes
import re
import subprocess

import numpy as np
import pytest

import composit
from composit import knossos


def of_integer(x: float, n: int) -> float:
    return 0.0 - float(n)


def of_negated(x: float, n: int) -> float:
    return 0.0 + -float(n)


def of_negated_first(x: float, n: int) -> float:
    return -float(n) + 0.0


def of_choice(x: float, n: int) -> float:
    return 0.0 - (float(n) if x > 0.0 else 1.0)


def of_literals(x: float, n: int) -> float:
    return 0.0 - (0.0 if x > 0.0 else 1.0)


def of_comparison(x: float, n: int) -> float:
    return 0.0 - float(x < 0.0)


def of_absolute(x: float, n: int) -> float:
    return 0.0 - abs(float(n))


@pytest.mark.parametrize(
    "function",
    [of_integer, of_negated, of_negated_first, of_choice, of_literals, of_comparison, of_absolute],
)
def test_zero_minus_zero(function):
    """g++ 12 folds 0.0 - x to -x where it sees that x is never -0.0."""
    kernel = knossos.register(function)
    x = np.array([0.5, -1.0, 2.0, 0.0])
    n = np.array([0, 3, 0, 0])
    wanted = np.array([function(*each) for each in zip(x.tolist(), n.tolist())])
    assert kernel(x, n).tobytes() == wanted.tobytes()
    assert np.array([kernel(*each) for each in zip(x.tolist(), n.tolist())]).tobytes() == (
        wanted.tobytes()
    )
    compiled = composit.compile(lambda x, n: kernel(x, n), composit.asarray(x), composit.asarray(n))
    assert np.asarray(compiled(x, n)).tobytes() == wanted.tobytes()


def truncated(x: float) -> float:
    return float(int(x))


def rounded(x: float) -> float:
    return 0.0 + float(round(x))


def in_variable(x: float) -> float:
    n = int(x)
    return float(n)


def product(x: float) -> float:
    n = int(x)
    return x * n


def in_loop(x: float) -> float:
    n = int(x)
    while n > 3:
        n = n - 1
    return float(n)


def quotient(x: float) -> float:
    return float(int(x) // 1)


def chosen(x: float) -> float:
    n = int(x) if x < 1.5 else 7
    return float(n)


def of_integers(n: int) -> float:
    return 1.0 * float(n)


def in_call(x: float) -> float:
    return of_integers(int(x))


OF_FRACTIONS = [truncated, rounded, in_variable, product, in_loop, quotient, chosen, in_call]


@pytest.mark.parametrize("function", OF_FRACTIONS)
def test_integers_of_negative_fractions(function):
    """g++ 12 makes a truncation of them, of which -0.0 would be left."""
    kernel = knossos.register(function)
    x = np.array([-0.4, 0.4, -1.0, 2.6, -0.9, 5.5])
    wanted = np.array([function(each) for each in x.tolist()])
    assert kernel(x).tobytes() == wanted.tobytes()
    assert np.array([kernel(each) for each in x.tolist()]).tobytes() == wanted.tobytes()
    compiled = composit.compile(lambda x: kernel(x), composit.asarray(x))
    assert np.asarray(compiled(x)).tobytes() == wanted.tobytes()


def test_integers_of_negative_fractions_in_exported_code(tmp_path):
    """With the flags that the header recommends, which let g++ 12 make truncations."""
    knossos.register(chosen).export(tmp_path)
    flags = re.search(r"// Compile: c\+\+ (.*) -c", (tmp_path / "chosen.hpp").read_text())
    assert flags and "-fno-trapping-math" in flags[1]
    (tmp_path / "main.cpp").write_text(
        '#include "chosen.hpp"\n'
        'extern "C" void run(const double* x, double* y, int64_t n) {\n'
        "    chosen::vchosen(x, y, n);\n    y[0] = chosen::chosen(x[0]);\n}\n"
    )
    for compiler in ("g++", "clang++"):
        command = [compiler, *flags[1].split(), "-shared", "-fPIC", "chosen.cpp", "main.cpp"]
        subprocess.run([*command, "-o", f"{compiler}.so"], cwd=tmp_path, check=True)
        library = ctypes.CDLL(str(tmp_path / f"{compiler}.so"))
        x = np.array([-0.4, 0.4, -1.0, 1.2, -0.9, 5.5])
        y = np.empty_like(x)
        library.run(*(a.ctypes.data_as(ctypes.c_void_p) for a in (x, y)), ctypes.c_int64(len(x)))
        assert y.tobytes() == np.array([chosen(each) for each in x.tolist()]).tobytes()
