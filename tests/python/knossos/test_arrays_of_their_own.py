"""Functions of numbers with arrays of their own, however the text makes them: what tells is the
translated procedure. Values are Python's, derivatives those of all arguments."""

import math

import numpy as np
import pytest
from numpy import zeros
from numpy import zeros as nothing

from composit import knossos

make = np.ones


def ranged(s: float, k: float, n: int) -> float:  # a range of an expression
    v = [s * j + k * k for j in range(n + 1)]
    return v[1] * v[n]


def counted(s: float, k: float, n: int) -> float:
    v = [s * i + k * j for i, j in enumerate(range(n))]
    return v[n - 1] * v[1]


def backwards(s: float, k: float, n: int) -> float:
    v = [s * k * i for i in reversed(range(1, n - 1))]
    return v[0] + k


def zipped(s: float, k: float, n: int) -> float:
    v = [s * i * j + k for i, j in zip(range(n), range(1, n + 1))]
    return v[-1]


def imported(s: float, k: float, n: int) -> float:
    v = zeros(n)
    v[1] = s * k
    return v[1] + v[0]


def renamed(s: float, k: float, n: int) -> float:
    v = nothing(n)
    v[n - 1] = math.sin(s) * k
    return v[-1] * s


def alias(s: float, k: float, n: int) -> float:
    return np.sum(make(n) * s * k) + k * k


def helper(s: float, n: int) -> float:
    v = np.zeros(n)
    for i in range(n):
        v[i] = s * i
    return v[n - 1]


def called(s: float, k: float, n: int) -> float:
    return helper(s, n) * helper(k, n)


def calls_what_calls(s: float, k: float, n: int) -> float:
    return called(s, k, n) - k


def both(s: float, n: int) -> tuple[float, float]:
    v = [s * i for i in range(1 + n)]
    return v[n], v[n] * v[1]


def of_several(s: float, k: float, n: int) -> float:
    a, b = both(s, n)
    c, d = both(k, n)
    return a * d + b * c


KERNELS = [
    ranged, counted, backwards, zipped, imported, renamed, alias, called, calls_what_calls,
    of_several,
]  # fmt: skip
S, K, N = 2.0, 3.0, 4


def differences(function):
    h = 1e-6
    return [
        (function(S + h, K, N) - function(S - h, K, N)) / (2 * h),
        (function(S, K + h, N) - function(S, K - h, N)) / (2 * h),
    ]


@pytest.mark.parametrize("function", KERNELS, ids=lambda f: f.__name__)
def test_derivatives_of_all_arguments(function):
    kernel = knossos.register(function)
    right = differences(function)
    assert np.allclose(kernel.vjp(S, K, N, 1.0), right)  # before the first call
    assert math.isclose(kernel(S, K, N), function(S, K, N), rel_tol=1e-14)
    assert np.allclose(kernel.grad(S, K, N), right)
    along = [kernel.jvp(S, K, N, 1.0, 0.0), kernel.jvp(S, K, N, 0.0, 1.0)]
    assert np.allclose(along, right)


@pytest.mark.parametrize("function", [ranged, called, of_several], ids=lambda f: f.__name__)
def test_maps_whose_first_use_is_the_map(function):
    def text(s: float, k: float, n: int) -> float:
        return function(s, k, n) + s

    rows = np.array([S, 0.5])
    mapped = knossos.vmap(text)
    assert np.allclose(mapped(rows, K, N), [text(each, K, N) for each in rows])
    ds, dk = mapped.vjp(rows, K, N, np.ones(2))
    assert np.allclose([ds[0] - 1.0, dk[0]], differences(function))


def test_without_arrays_a_map_is_the_kernel_itself():
    def plain(x: float) -> float:
        return x + 1.0

    def above(x: float) -> float:
        return later(x)  # noqa: F821

    assert knossos.vmap(plain) is knossos.register(plain)
    assert knossos.vmap(above) is knossos.register(above)  # which is refused at its first use
    with pytest.raises(NameError, match="later"):
        above_kernel = knossos.register(above)
        above_kernel(1.0)


def test_an_array_that_nothing_reads_makes_no_kernel_of_arrays():
    @knossos.register
    def unused(x: float, n: int) -> float:
        v = np.zeros(n)  # noqa: F841
        return x * x

    rows = np.array([1.0, 2.0])
    assert np.array_equal(unused(rows, 3), rows * rows)
    assert np.array_equal(unused.grad(rows, 3), 2 * rows)


def test_a_derivative_with_arrays_of_its_own():
    @knossos.register
    def given(s: float, k: float, n: int) -> float:
        return s * k * n

    @given.derivative
    def pulled(s: float, k: float, n: int, dy: float) -> tuple[float, float]:
        v = [s * dy for i in range(n + 0)]
        w = [k * dy for i in range(n + 0)]
        return np.sum(w), np.sum(v)

    assert given(S, K, N) == 24.0
    assert np.allclose(given.vjp(S, K, N, 1.0), (12.0, 8.0))
    assert np.allclose(given.grad(S, K, N), (12.0, 8.0))


def test_exports_hold_the_gradients_of_all_arguments(tmp_path):
    import subprocess

    knossos.register(called).export(tmp_path)
    (tmp_path / "main.cpp").write_text(
        '#include "called.hpp"\n#include <cstdio>\nint main() {\n'
        "    const auto made = called::called_vjp(2.0, 3.0, 4, 1.0);\n"
        '    std::printf("%g %g %g", called::called(2.0, 3.0, 4), made.ds, made.dk);\n}\n'
    )
    command = ["g++", "-std=c++17", "-Wall", "-Wextra", "-Werror", "called.cpp", "main.cpp", "-o"]
    subprocess.run([*command, "main"], cwd=tmp_path, check=True)
    made = subprocess.run([tmp_path / "main"], capture_output=True, text=True, check=True)
    assert made.stdout == "54 27 18"
