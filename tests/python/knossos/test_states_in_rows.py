"""Extrema of values, and what these receive, are calls with the values; a value and its way back
are one call; states that the way back needs stand in rows."""

# ruff: noqa: F821

import ctypes
import re
import shutil
import subprocess

import numpy as np
import pytest
import written
from as_python import anew, bits, check, interpreted, leaves

from composit import _core, knossos
from composit.knossos import Tensor

random = np.random.default_rng(98)
WARNINGS = "-std=c++17 -O2 -Wall -Wextra -Wconversion -Wsign-conversion -Wshadow -Wpedantic -Werror"
COMPILERS = ["g++", "clang++"]


def costs(start: "Tensor[float, s]", c: "Tensor[float, s, s]", steps: int) -> float:
    """Shortest ways of so many steps; loops as Bellman and Ford wrote them."""
    best = start * 1.0
    for _ in range(steps):
        best = np.min(best[:, None] + c, axis=0)
    return np.min(best)


def products(a: "Tensor[float, n, m]", b: "Tensor[float, m]") -> "Tensor[float, n]":
    """Three things receive of the gradient, of which two are of products."""
    return np.max(a * b[None, :] + 0.5 * a, axis=1)


def softmax(a: "Tensor[float, n, m]", b: "Tensor[float, m]") -> float:
    total = 0.0
    for i in range(a.shape[0]):
        e = np.exp(a[i] + b - np.max(a[i] + b))
        total += np.log(np.sum(e)) * e[0]
    return total


def own_loop(x: "Tensor[float, n]", y: "Tensor[float, n]") -> float:
    best = -np.inf
    for k in range(len(x)):
        best = max(best, x[k] * y[k])
    return best * best


def extremes_of_both(x: "Tensor[float, n]", y: "Tensor[float, n]") -> float:
    return np.max(x - y) * np.min(x * y)


def rows(start: "Tensor[float, s]", a: "Tensor[float, s, s]", seen: "Tensor[int, t]") -> float:
    """Each state is made of all of the one before, and scaled by a part of it."""
    x = start * 1.0
    for o in seen[1:]:
        x = np.sin(a @ x) * x[o]
    return np.sum(x * x)


def added_to(start: "Tensor[float, s]", n: int) -> float:
    """Not all of the state is new."""
    x = start * 1.0
    for i in range(n):
        for j in range(len(x)):
            x[j] = x[j] * x[j] + 0.1 * i
        x[0] += 1.0
    return np.sum(x)


def never(start: "Tensor[float, s]", n: int) -> float:
    """A number of steps that may be negative."""
    x = start * 1.0
    for _ in range(n):
        x = np.cos(x) * start
    return np.max(x) * np.max(start)


def changed_behind(start: "Tensor[float, s]", a: "Tensor[float, t, s]") -> float:
    """What the loop leaves is written to again."""
    x = start * 1.0
    for i in range(a.shape[0]):
        x = np.max(x) * np.sin(x) + a[i]
    x[0] = 2.0 * x[0]
    return np.sum(x * x)


S, M = random.normal(size=4), random.normal(size=(4, 4))
SEEN = np.array([0, 2, 3, 1, 1])
EMIT = random.normal(size=(4, 5))
CALLS = [
    (costs, (S, M, 3)), (products, (random.normal(size=(3, 5)), random.normal(size=5))),
    (softmax, (random.normal(size=(3, 5)), random.normal(size=5))),
    (own_loop, (S, M[0])), (extremes_of_both, (S, M[0])), (rows, (S, 0.3 * M, SEEN)),
    (added_to, (0.3 * S, 3)), (never, (S, 4)), (changed_behind, (S, M)),
    (written.viterbi, (S, M, EMIT, SEEN)),
]  # fmt: skip
ids = {"ids": lambda each: each.__name__ if callable(each) else ""}


def of_derivative(function):
    return knossos.register(function).vjp.procedure().source


@pytest.mark.parametrize("function, arguments", CALLS, **ids)
def test_values_and_derivatives_are_pythons(function, arguments):
    check(function, arguments)


@pytest.mark.parametrize("compiler", COMPILERS)
@pytest.mark.parametrize("function, arguments", CALLS, **ids)
def test_exports_have_the_bits_of_what_is_loaded(function, arguments, compiler, tmp_path):
    """And are silent."""
    if shutil.which(compiler) is None:
        pytest.skip(f"{compiler} is not installed")
    kernel, name = anew(function), function.__name__
    kernel.export(tmp_path)
    header = (tmp_path / f"{name}.hpp").read_text()
    head = re.search(rf"void {name}_vjp\(([^;]*)\);", header)
    parameters = re.sub(r" __restrict", "", head[1])
    names = ", ".join(re.findall(r"(\w+)(?:,|$)", parameters.replace("\n", " ")))
    (tmp_path / "main.cpp").write_text(
        f'#include "{name}.hpp"\nextern "C" void run({parameters});\n'
        f'extern "C" void run({parameters}) {{ return {name}::{name}_vjp({names}); }}\n'
    )
    made = subprocess.run(
        [compiler, *WARNINGS.split(), "-shared", "-fPIC", f"{name}.cpp", "main.cpp", "-o", "it.so"],
        cwd=tmp_path, capture_output=True, text=True,
    )  # fmt: skip
    assert made.returncode == 0, made.stderr
    run = ctypes.CDLL(str(tmp_path / "it.so")).run
    value = np.asarray(kernel(*arguments))
    dy = random.normal(size=value.shape)
    wanted = kernel.vjp(*arguments, dy if value.ndim else float(dy))
    wanted = wanted if isinstance(wanted, tuple) else (wanted,)
    given = {}
    for argument, known in zip((*arguments, dy), (*inputs_of(function), "dy"), strict=True):
        given[known] = argument
    outputs = [np.empty_like(np.asarray(each)) for each in wanted]
    passed, left = [], list(outputs)
    for each in parameters.replace("\n", " ").split(","):
        pointer, own = "*" in each, each.split()[-1].lstrip("*")
        if own in given and pointer:
            passed.append(np.ascontiguousarray(given[own]).ctypes.data_as(ctypes.c_void_p))
        elif pointer and "const" in each:
            passed.append(np.ascontiguousarray(dy).ctypes.data_as(ctypes.c_void_p))
        elif pointer:
            passed.append(left.pop(0).ctypes.data_as(ctypes.c_void_p))
        elif "double" in each:
            passed.append(ctypes.c_double(float(given[own])))
        else:
            passed.append(ctypes.c_int64(extent_of(own, function, arguments)))
    run.restype = None
    run(*passed)
    assert bits(outputs) == bits(wanted)


def inputs_of(function):
    return [each for each in function.__annotations__ if each != "return"]


def extent_of(name, function, arguments):
    """What an integer parameter is: of the kernel's own, or an axis."""
    for own, annotation in function.__annotations__.items():
        if own == name:
            return arguments[inputs_of(function).index(own)]
        axes = re.findall(r"\w+", str(annotation).partition("[")[2])[1:]
        if name in axes:
            return np.shape(arguments[inputs_of(function).index(own)])[axes.index(name)]
    raise KeyError(name)


def test_extremes_of_values_are_calls():
    source = of_derivative(costs)
    assert "least(s, [&](int64_t j) { return best[j] + c" in source, source
    assert "least_vjp(" in source, source
    assert "__builtin_inf" not in source and "equal" not in source, source
    assert "largest(n, [&](int64_t i) { return x[i] - y[i]; })" in anew(extremes_of_both).source


def test_what_is_loaded_has_loops():
    text = _core.procedure.print_loadable("it", [[anew(costs).vjp.procedure()]])
    assert "[&]" not in text and "__builtin_inf" in text


@pytest.mark.parametrize("odd", [np.nan, np.inf, -np.inf, 0.0, -0.0])
def test_odd_values(odd):
    given = np.array([odd, 0.0, -0.0, odd, -1.0])
    for function in (own_loop, extremes_of_both):
        check_bits_of_interpreter(function, (given, np.ones(5)))
        check_bits_of_interpreter(function, (np.full(5, odd), np.ones(5)))


def check_bits_of_interpreter(function, arguments):
    pairs = [(anew(function)(*arguments), interpreted(anew(function))(*arguments))]
    slopes = anew(function).vjp(*arguments, 1.0), interpreted(anew(function).vjp)(*arguments, 1.0)
    pairs += zip(leaves(slopes[0]), leaves(slopes[1]), strict=True)
    for found, wanted in pairs:
        assert np.array_equal(found, wanted, equal_nan=True)
        known = ~np.isnan(found)
        assert np.array_equal(np.signbit(found)[known], np.signbit(wanted)[known])


def test_a_value_and_its_way_back_are_one_call():
    source = of_derivative(written.viterbi)
    assert "max_vjp(s, scores.data() + (t - 1) * s, dy, dstart);" in source, source
    assert " max(" not in source


def test_states_stand_in_rows():
    for function in (written.viterbi, rows):
        source = of_derivative(function)
        assert "_run(" not in source and source.count("_log = ") <= (function is rows), source
    assert "std::vector<double> scores(t * s)" in of_derivative(written.viterbi)


def test_states_that_change_otherwise_are_logged():
    for function in (added_to, never, changed_behind):
        source = of_derivative(function)
        assert "_log" in source, source


def test_no_steps():
    for steps in (0, -1, -5):
        kernel = anew(never)
        assert kernel(S, steps) == never(S, steps)
        check_bits_of_interpreter(never, (S, steps))
    check(costs, (S, M, 0))
    check(written.viterbi, (S, M, EMIT, SEEN[:1]))
