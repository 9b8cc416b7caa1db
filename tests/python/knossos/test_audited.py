"""Kernels of kinds that nobody had in mind are accepted, and right: values as Python's, slopes as
differences, both modes the same, texts of derivatives of moderate length."""

import inspect
import shutil
import subprocess

import audited
import audited_models
import audited_numerics
import audited_sciences
import lengths
import numpy as np
import pytest
import written

from composit import _core, knossos

CORPORA = [audited, audited_numerics, audited_sciences, audited_models]
CALLS = [call for corpus in CORPORA for call in corpus.CALLS.items()]
NAMES = [function.__name__ for function, _ in CALLS]
# Functions of no floats, and one whose steps look at signs alone: its slope is 0.
FLAT = ("crc", "rule", "bisection", "run_lengths", "gray_distance")
STEEP = [(function, arguments) for function, arguments in CALLS
         if function.__name__ not in FLAT]  # fmt: skip
STEEP_NAMES = [function.__name__ for function, _ in STEEP]
WARNINGS = ["-std=c++17", "-fsyntax-only", "-Wall", "-Wextra", "-Wpedantic", "-Wshadow",
            "-Wconversion", "-Wsign-conversion", "-Werror"]  # fmt: skip
# Functions whose derivative in reverse is more than ten lines for each of Python's. Of one with
# loops and ten numbers it carries ten tangents for each variable.
LONG = {"vincenty": 14, "slerp": 14, "energy": 18, "hodgkin_huxley": 12, "householder": 12}
# Steps that are taken while a cost falls, in its last bits too: how far they get depends on
# those of the functions.
ERRORS = {"levenberg": 1e-9}


def flat(value):
    """All numbers in a value, in order."""
    if isinstance(value, (tuple, list)):
        return np.concatenate([flat(each) for each in value])
    return np.atleast_1d(np.asarray(value, "float64")).ravel()


def copied(arguments):
    return [each.copy() if isinstance(each, np.ndarray) else each for each in arguments]


def kernel_of(function):
    kernel = knossos.register(function)
    is_steep = function.__name__ in STEEP_NAMES
    for each in (kernel, kernel.vjp, kernel.jvp) if is_steep else (kernel,):
        if kernel.is_of_arrays:
            each._use(_core.procedure.interpreted(each.procedure()))
    return kernel


def moved(argument, by):
    """The argument with floats that are `by` times a random number further on."""
    random = np.random.default_rng(3)

    def further(part):
        if isinstance(part, tuple):
            parts = [further(each) for each in part]
            return type(part)(*parts) if hasattr(part, "_fields") else tuple(parts)
        is_float = isinstance(part, float) or getattr(part, "dtype", None) == np.float64
        return part + by * random.uniform(0.5, 1.5, np.shape(part))[()] if is_float else part

    return further(argument)


@pytest.mark.parametrize(("function", "arguments"), CALLS, ids=NAMES)
def test_values(function, arguments):
    got, want = flat(kernel_of(function)(*arguments)), flat(function(*copied(arguments)))
    error = ERRORS.get(function.__name__, 1e-14)
    np.testing.assert_allclose(got, want, rtol=error, atol=1e-15)


@pytest.mark.parametrize(("function", "arguments"), STEEP, ids=STEEP_NAMES)
def test_slopes(function, arguments):
    kernel, step = kernel_of(function), 1e-6
    there, back = (tuple(moved(each, by) for each in arguments) for by in (step, -step))
    slope = (flat(function(*copied(there))) - flat(function(*copied(back)))) / (2 * step)
    tangents = list(moved_by_one(arguments))
    forward = flat(kernel.jvp(*arguments, *tangents))
    np.testing.assert_allclose(forward, slope, rtol=2e-5, atol=2e-7)
    result = kernel(*arguments)
    ones = [np.ones_like(part) for part in (result if isinstance(result, tuple) else (result,))]
    ones = [each if each.ndim else 1.0 for each in ones]
    received = kernel.vjp(*arguments, *ones)
    backward = np.sum(flat(received) * np.concatenate([flat(each) for each in tangents]))
    assert backward == pytest.approx(np.sum(forward), rel=1e-10, abs=1e-12)


def moved_by_one(arguments):
    """The tangents of all floats, one by one."""
    for each in arguments:
        there, here = moved(each, 1.0), each
        parts = zip(there, here) if isinstance(here, tuple) else [(there, here)]
        for a, b in parts:
            if isinstance(b, float) or getattr(b, "dtype", None) == np.float64:
                yield a - b


@pytest.mark.parametrize(("function", "arguments"), STEEP, ids=STEEP_NAMES)
def test_lengths(function, arguments):
    lines = sum(len(inspect.getsource(each).strip().splitlines())
                for each in lengths.with_helpers(function))  # fmt: skip
    made = len(knossos.register(function).vjp.procedure().source.strip().splitlines())
    assert made <= lines * LONG.get(function.__name__, 10)


@pytest.mark.long_tail
@pytest.mark.parametrize("compiler", ["g++", "clang++"])
@pytest.mark.parametrize(
    "function", dict.fromkeys([f for f, _ in CALLS] + [f for f, _ in written.calls()])
)
def test_exports_are_silent(function, compiler, tmp_path):
    if shutil.which(compiler) is None:
        pytest.skip(f"{compiler} is not installed")
    knossos.register(function).export(tmp_path)
    made = subprocess.run([compiler, *WARNINGS, f"{function.__name__}.cpp"],
                          cwd=tmp_path, capture_output=True, text=True)  # fmt: skip
    assert made.returncode == 0, made.stderr
