"""Extremes, choices beside 0, slopes by several factors are calls in C++; names have no numbers."""

# ruff: noqa: F821

import math
import re
import shutil
import subprocess

import numpy as np
import pytest
from as_python import check

from composit import knossos
from composit.knossos import Tensor

random = np.random.default_rng(96)
WARNINGS = "-std=c++17 -O2 -Wall -Wextra -Wconversion -Wsign-conversion -Wshadow -Wpedantic -Werror"
ODD = np.array([0.3, -0.7, 1.5, -2.0, 0.0, -0.0, math.inf, -math.inf, math.nan])


def extremes(x: "Tensor[float, n]", a: float) -> "Tensor[float, n]":
    return np.array([max(min(a * each, each - a), -a * each) for each in x])


def powers_above(x: "Tensor[float, n]", a: float, b: float) -> float:
    """Its slopes are scaled by several factors, of which powers are choices."""
    total = 0.0
    for i in range(len(x)):
        total += max(x[i] * a ** (i + 1) * b ** (len(x) - i) - 0.1, 0.0)
    return total


def tree(up: float, p: float, steps: int) -> float:
    """Logs a row at a time what it overwrites."""
    values = [max(up ** (steps - k) - 1.0, 0.0) for k in range(steps + 1)]
    for i in range(steps - 1, -1, -1):
        for j in range(i + 1):
            values[j] = max(p * values[j] + (1 - p) * values[j + 1], up ** (i - j) - 1.0)
    return values[0]


def spread(x: "Tensor[float, n]", at: "Tensor[int, n]") -> "Tensor[float, n]":
    """Adds to elements that are products."""
    y = 2.0 * x
    for i in range(len(x)):
        y[at[i]] += x[i] * y[i]
    return y


def shared_exponential(x: "Tensor[float, n]", a: float) -> float:
    growth = math.exp(a * a)
    total = 0.0
    for each in x:
        total += (growth - each) * (growth - 2.0 * each) - growth**2
    return total


def own_t(x: "Tensor[float, n]", t: float) -> float:
    """Names that a derivative would like to give."""
    g, t_2 = 1.0, 0.5 * t
    for each in x:
        t_2 = t_2 * each + max(t * each - g, 0.1 * each)
        g = g * t_2
    return g + t_2


X = random.normal(size=5)
CALLS = [
    (extremes, (X, 0.7)), (powers_above, (X + 2.0, 1.1, 0.9)), (tree, (1.2, 0.45, 5)),
    (spread, (X, np.array([3, 0, 0, 4, 1]))), (shared_exponential, (X, 0.4)), (own_t, (X, 0.8)),
]  # fmt: skip


@pytest.mark.parametrize("function, arguments", CALLS)
def test_values_and_derivatives_are_pythons(function, arguments):
    check(function, arguments)


@pytest.mark.parametrize("compiler", ["g++", "clang++"])
@pytest.mark.parametrize("function", [function for function, _ in CALLS])
def test_exports_are_silent(function, compiler, tmp_path):
    if shutil.which(compiler) is None:
        pytest.skip(f"{compiler} is not installed")
    knossos.register(function).export(tmp_path)
    made = subprocess.run(
        [compiler, *WARNINGS.split(), "-c", "-o", "/dev/null", f"{function.__name__}.cpp"],
        cwd=tmp_path, capture_output=True, text=True,
    )  # fmt: skip
    assert made.returncode == 0, made.stderr


def of_derivative(function):
    return knossos.register(function).vjp.procedure().source


def test_extremes_are_pythons_to_the_bit():
    kernel = knossos.register(extremes)
    assert "greater_of(" in kernel.source and "lesser_of(" in kernel.source
    for a in (0.7, 0.0, -0.0, -1.0, math.nan):
        made, wanted = kernel(ODD, a), np.array(extremes(ODD, a))
        assert np.array_equal(np.signbit(made), np.signbit(wanted)) or math.isnan(a)
        assert np.array_equal(made, wanted, equal_nan=True)


def test_extremes_of_names_stay_choices():
    @knossos.register
    def larger(a: float, b: float) -> float:
        return max(a, b)

    assert "greater_of" not in larger.source and "?" in larger.source


def test_slopes_by_several_factors_are_one_call():
    source = of_derivative(powers_above)
    assert "power_slope(" in source and "zero_if(" in source, source
    assert not re.search(r"scaled_slope\([^()]*, scaled_slope", source), source


def test_slopes_of_powers_are_0_where_either_factor_is():
    kernel = knossos.register(powers_above)
    dx, da, db = kernel.vjp(np.array([2.0, 3.0]), 0.0, 0.5, 1.0)
    assert np.array_equal(dx, [0.0, 0.0]) and (da, db) == (0.0, 0.0)
    dx, da, db = kernel.vjp(np.array([2.0, 3.0]), 1.0, 2.0, 0.0)
    assert np.array_equal(dx, [0.0, 0.0]) and (da, db) == (0.0, 0.0)


def test_counters_below_a_bound_leave_differences_as_they_are():
    source = of_derivative(tree)
    assert "uint64_t(steps) - " not in source and "double(steps - " in source, source
    kernel = knossos.register(tree)
    assert kernel(1.2, 0.45, 0) == tree(1.2, 0.45, 0)
    for steps in (-1, -(2**62), -(2**63)):
        with pytest.raises(IndexError if steps == -1 else ValueError):
            kernel(1.2, 0.45, steps)


def test_differences_of_other_counters_wrap():
    @knossos.register
    def from_below(n: int, low: int) -> float:
        total = 0.0
        for k in range(low, n + 1):
            total += float(n - k)
        return total

    assert "uint64_t(n) - uint64_t(k)" in from_below.source
    assert from_below(3, 1) == 3.0

    @knossos.register
    def of_another(n: int, m: int) -> float:
        total = 0.0
        for k in range(n):
            total += float(m - k)
        return total

    assert "uint64_t(m) - uint64_t(k)" in of_another.source
    assert of_another(2, -(2**63)) == -(2.0**63) + (2.0**63 - 1)


def test_rows_log_what_is_overwritten_at_once():
    source = of_derivative(tree)
    assert re.search(r"logged\(values_log_row\[j\], values\[j\]\) = greater_of", source), source


def test_elements_are_rounded_before_sums_by_a_call():
    source = of_derivative(spread)
    assert "= rounded(y[" not in source, source
    assert "add_to_rounded(logged(y_log, y[index]), " in source, source


def test_a_value_is_rounded_once():
    kernel = knossos.register(shared_exponential)
    assert "rounded(growth)" not in kernel.source, kernel.source


def test_names_have_no_numbers_that_nothing_needs():
    assert not re.search(r"\b(g|t|holds|power)_[3-9]\b", of_derivative(tree)), of_derivative(tree)
    source = of_derivative(own_t)
    assert "double t," in source and re.search(r"\bg = ", source), source
