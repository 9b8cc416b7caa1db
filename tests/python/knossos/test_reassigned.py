"""Arrays that are assigned again, elements in tuples of targets, bools of arrays, and checks in
loops that compute nothing: what a review found to be wrong."""

# ruff: noqa: F821

import subprocess

import numpy as np
import pytest
from complex_steps import gradients

from composit import _core, knossos
from composit.knossos import Tensor


def again(x: "Tensor[float, n]") -> float:
    b = x.copy()
    for _ in range(3):
        b = x * x
    return b[0] * b[1]


def best(x: "Tensor[float, n]", k: int) -> float:
    b = x * 1.0
    largest = -1e9
    c = x + 0.0
    for i in range(k):
        c = np.sin(x * (i + 1))
        if np.sum(c) > largest:
            largest = np.sum(c)
            b = c.copy()
    return b[0] * b[1] + largest


def of_zeros(x: "Tensor[float, n]") -> float:
    b = x.copy()
    for i in range(2):
        b = np.zeros(len(x))
        b[0] = x[0] * x[1] * i
    return b[0]


def inner(x: "Tensor[float, n]") -> float:
    s = 0.0
    for j in range(len(x)):
        b = x.copy()
        for i in range(2):
            b = x * x[j] * i
        s += b[0] * b[1]
    return s


def either(x: "Tensor[float, n]", k: int) -> "Tensor[float, n]":
    b = x.copy()
    for i in range(k):
        if i % 2 == 0:
            b = x * x
        else:
            b = np.cos(x)
    return b * x


def swapped(x: "Tensor[float, n]") -> float:
    y = x.copy()
    for i in range(len(y) - 1):
        if y[i] > y[i + 1]:
            y[i], y[i + 1] = y[i + 1], y[i]
    a, y[0] = y[-1], y[1]
    i, y[i + 0 if False else 1] = 1, 3.0 * a
    total = 0.0
    for i, y[0] in enumerate(x):
        total += y[0] * i
    return total + y[0] * y[1] - y[2]


X = np.array([2.0, 3.0, 0.5, -1.0])


@pytest.mark.parametrize("function, given", [
    (again, (X,)), (best, (X, 3)), (best, (X, 0)), (of_zeros, (X,)), (inner, (X,)),
    (either, (X, 3)), (either, (X, 2)), (swapped, (X,)),
])  # fmt: skip
def test_gradients(function, given):
    kernel = knossos.register(function)
    value = kernel(*given)
    np.testing.assert_allclose(value, function(*given), rtol=1e-14)
    received = np.ones(np.shape(value)) if np.ndim(value) else 1.0
    tangent = np.random.default_rng(0).normal(size=4)
    made = kernel.vjp(*given, received)
    np.testing.assert_allclose(made, gradients(function, given, received)[0], rtol=1e-11)
    moved = kernel.jvp(*given, tangent)
    np.testing.assert_allclose(np.sum(made * tangent), np.sum(moved * received), rtol=1e-12)
    second = kernel.vjp.vjp(*given, received, tangent)[0]
    forward = kernel.vjp.jvp(*given, received, tangent, np.zeros_like(received) + 0.0
                             if np.ndim(received) else 0.0)  # fmt: skip
    np.testing.assert_allclose(second, forward, rtol=1e-11, atol=1e-12)
    compiled = made.tobytes()
    kernel.vjp._use(_core.procedure.interpreted(kernel.vjp.procedure()))
    assert kernel.vjp(*given, received).tobytes() == compiled


def masked(x: "Tensor[float, n]", p: "Tensor[bool, n]") -> float:
    return np.sum(np.where(~p, x, 0.0)) + np.sum(~(x > 0) * x)


def united(x: "Tensor[float, n]", p: "Tensor[bool, n]") -> "Tensor[bool, n]":
    q = (x > 0) + p
    q[::2] |= p[1::2]
    q &= ~(x > 2.5)
    return q * ~p


def counted(x: "Tensor[float, n]") -> float:
    seen = np.full(len(x), False)
    r = x > 0
    c = 0.0
    i = 0
    while not seen[i]:
        seen[i] = True
        i = (i + 2) % len(x)
        c += r[i]
    r |= seen
    return c + np.sum(r * 1) + float(r[0]) + int(seen[1]) * x[0] * r[0]


P = np.array([True, False, True, False])


@pytest.mark.parametrize("function, given", [
    (masked, (X, P)), (masked, (X, ~P)), (united, (X, P)), (united, (X, ~P)), (counted, (X,)),
])  # fmt: skip
def test_bools_of_arrays_are_numpys(function, given, tmp_path):
    kernel = knossos.register(function)
    for way in (None, _core.procedure.interpreted(kernel.procedure())):
        kernel._use(way)
        made, wanted = kernel(*given), function(*given)
        assert np.asarray(made).dtype == np.asarray(wanted).dtype
        np.testing.assert_array_equal(made, wanted)
    if function is not united:
        np.testing.assert_allclose(
            np.atleast_2d(kernel.vjp(*given, 1.0))[0], gradients(function, given, 1.0)[0]
        )
    compiles(kernel, tmp_path)


def compiles(kernel, folder):
    kernel.export(folder)
    for compiler in ("g++", "clang++"):
        for file in folder.glob("*.cpp"):
            subprocess.run(
                [compiler, "-std=c++17", "-O1", "-Wall", "-Wextra", "-Werror", "-c", str(file),
                 "-o", str(folder / "out.o")], check=True,
            )  # fmt: skip


def lowest(x: "Tensor[float, n]") -> "Tensor[float, n]":
    y = x * 1.0
    y[np.argmin(y)] = 0.0
    return y


def places(x: float) -> "tuple[int, int]":
    return int(x), int(x * 2)


def sizes(x: "Tensor[float, n]") -> "tuple[Tensor[float, n], int, bool]":
    return x * 2.0, len(x), x[0] > 0


@pytest.mark.parametrize("function", [lowest, places, sizes])
def test_exports_compile(function, tmp_path):
    compiles(knossos.register(function), tmp_path)


def of_bools(x: "Tensor[float, n]") -> float:
    return ((x[0] > 0) + (x[1] > 0)) * x[0]


def inverted(x: "Tensor[float, n]") -> float:
    return x[0] if ~(x[0] > 0) else 1.0


def difference(x: "Tensor[float, n]") -> float:
    return np.sum(((x > 0) - (x > 1)) * x)


@pytest.mark.parametrize("function, text", [
    (of_bools, "of_bools: + of two bools, which is another thing for Python's than for NumPy's, in "
               "`(x[0] > 0) + (x[1] > 0)`. Write int(a), or and, or, not."),
    (inverted, "inverted: ~ of a bool, which is another thing for Python's than for NumPy's, in "
               "`~(x[0] > 0)`. Write not, or int(b)."),
    (difference, "difference: - of arrays of bools, in `(x > 0) - (x > 1)`. Write ^, or "
                 "np.logical_xor."),
])  # fmt: skip
def test_arithmetic_of_bools_is_refused(function, text):
    with pytest.raises(TypeError) as caught:
        knossos.register(function)(X)
    assert str(caught.value).startswith(text)


def is_sorted(x: "Tensor[float, n]") -> float:
    for i in range(len(x) - 1):
        assert x[i] <= x[i + 1], "sorted"
    return x[0]


def unused(x: "Tensor[float, n]") -> float:
    last = 0.0
    for i in range(10):
        last = x[i]  # noqa: F841
    return x[0]


def no_place(x: "Tensor[float, n]") -> int:
    return np.argmax(x)


@pytest.mark.parametrize("function, given, kind, text", [
    (is_sorted, X, AssertionError, "the assertion `x[i] <= x[i + 1]` does not hold: sorted."),
    (unused, X, IndexError, "index 4 lies outside of an axis of 4, in `x[i]`."),
    (no_place, X[:0], ValueError, "there is no element, in `np.argmax(x)`."),
])  # fmt: skip
def test_what_is_checked_in_loops_that_compute_nothing(function, given, kind, text):
    with pytest.raises(kind) as caught:
        knossos.register(function)(given)
    assert str(caught.value).startswith(f"{function.__name__}: {text}")


def stopped(x: "Tensor[float, n]") -> "Tensor[float, n]":
    return knossos.stop_gradient(x[0]) * x


def stopped_again(x: "Tensor[float, n]") -> "Tensor[float, n]":
    y = x.copy()
    for _ in range(2):
        y = knossos.stop_gradient(y[1]) * y
    return y


@pytest.mark.parametrize("function", [stopped, stopped_again])
def test_what_is_stopped_stays_so_in_second_derivatives(function):
    kernel = knossos.register(function)
    w, p = np.array([[1.0, 0.5, 0.25, 2.0], [1.0, 2.0, -1.0, 0.5]])
    for direction in np.eye(4):
        moved = kernel.vjp.jvp(X, w, direction, np.zeros(4))
        assert not moved.any()
    received = kernel.vjp.vjp(X, w, p)
    assert not received[0].any()
    np.testing.assert_array_equal(received[1], kernel.jvp(X, p))


def of_dtypes(x: "Tensor[float, n]") -> "tuple[Tensor[int, n], Tensor[bool, n], Tensor[float, n]]":
    c = np.zeros(len(x), dtype=int)
    b = np.ones(len(x), dtype=np.bool_)
    a = np.arange(len(x), dtype=float) + np.full(len(x), 2, dtype=np.float64)
    e = np.array([1, 2, 3], dtype=float)
    for i in range(len(x)):
        if x[i] > 1:
            c[i] += 2
            b[i] = False
        a[i] *= e[i % 3]
    return c, b, a


def of_complex(x: "Tensor[float, n]") -> float:
    return x[0] + np.zeros(3, dtype=complex)[0]


def cut(x: "Tensor[float, n]") -> float:
    return x[0] + np.full(3, 1.5, dtype=int)[0]


def test_dtypes_of_arrays_that_are_made():
    for made, wanted in zip(knossos.register(of_dtypes)(X), of_dtypes(X), strict=True):
        assert made.dtype == wanted.dtype
        np.testing.assert_array_equal(made, wanted)
    for function, text in (
        (of_complex, "of_complex: the dtype `complex`. int, float or bool (int64, float64) is "
                     "required."),
        (cut, "cut: full of floats with the dtype int, in `np.full(3, 1.5, dtype=int)`. Numbers "
              "that are ints are required."),
    ):  # fmt: skip
        with pytest.raises((TypeError, NotImplementedError)) as caught:
            knossos.register(function)(X)
        assert str(caught.value).startswith(text)
