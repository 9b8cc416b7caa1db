"""Tables are filled where something reads the fill, and not where loops overwrite it first, if
kernels are loaded: the bits of Python and of the interpreter, in memory that was used before."""

# ruff: noqa: F821

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from as_python import anew, bits, interpreted

from composit import _core
from composit.knossos import Tensor


def warped(x: "Tensor[float, n]", y: "Tensor[float, m]") -> "Tensor[float, a, b]":
    """Time warping: one element is set between."""
    n, m = len(x), len(y)
    table = np.full((n + 1, m + 1), np.inf)
    table[0, 0] = 0.0
    for i in range(n):
        for j in range(m):
            d = x[i] - y[j]
            least = min(table[i, j], table[i, j + 1], table[i + 1, j])
            table[i + 1, j + 1] = d * d + least
    return table


def edited(x: "Tensor[float, n]", y: "Tensor[float, m]") -> "Tensor[int, a, b]":
    """Edit distance, of integers: two borders are written in loops."""
    n, m = len(x), len(y)
    table = np.zeros((n + 1, m + 1), dtype=int)
    for i in range(n + 1):
        table[i, 0] = i
    for j in range(1, m + 1):
        table[0, j] = table[0, j - 1] + 1
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            same = 0 if x[i - 1] > y[j - 1] else 1
            table[i, j] = min(table[i - 1, j] + 1, table[i, j - 1] + 1, table[i - 1, j - 1] + same)
    return table


def subsequence(x: "Tensor[float, n]", y: "Tensor[float, m]") -> float:
    """Both sides of a branch store, and the derivative reads the table."""
    n, m = len(x), len(y)
    table = np.zeros((n + 1, m + 1))
    for i in range(n):
        for j in range(m):
            if x[i] > y[j]:
                table[i + 1, j + 1] = table[i, j] + x[i]
            else:
                table[i + 1, j + 1] = 0.5 * table[i, j + 1] - 0.25 * table[i + 1, j] + y[j]
    return table[n, m]


def needleman(x: "Tensor[float, n]", y: "Tensor[float, m]") -> "Tensor[float, a, b]":
    """Gaps along the borders."""
    n, m = len(x), len(y)
    table = np.zeros((n + 1, m + 1))
    for i in range(1, n + 1):
        table[i, 0] = -0.4 * i
    for j in range(1, m + 1):
        table[0, j] = -0.4 * j
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            fits = table[i - 1, j - 1] + x[i - 1] * y[j - 1]
            table[i, j] = max(fits, table[i - 1, j] - 0.4, table[i, j - 1] - 0.4)
    return table


def smith(x: "Tensor[float, n]", y: "Tensor[float, m]") -> "Tensor[float, a, b]":
    """The element is read again behind its store, and the best one of all."""
    n, m = len(x), len(y)
    best = 0.0
    table = np.zeros((n + 1, m + 1))
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            fits = table[i - 1, j - 1] + x[i - 1] * y[j - 1]
            table[i, j] = max(0.0, fits, table[i - 1, j] - 0.4, table[i, j - 1] - 0.4)
            best = max(best, table[i, j])
    table[0, 0] = best
    return table


def gotoh(x: "Tensor[float, n]", y: "Tensor[float, m]") -> float:
    """Three tables in one nest."""
    n, m = len(x), len(y)
    best = 0.0
    table = np.zeros((n + 1, m + 1))
    e = np.full((n + 1, m + 1), -1e9)
    f = np.full((n + 1, m + 1), -1e9)
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            e[i, j] = max(table[i, j - 1] - 0.5, e[i, j - 1] - 0.1)
            f[i, j] = max(table[i - 1, j] - 0.5, f[i - 1, j] - 0.1)
            fits = table[i - 1, j - 1] + x[i - 1] * y[j - 1]
            table[i, j] = max(0.0, fits, e[i, j], f[i, j])
            best = max(best, table[i, j])
    return best


def backwards(x: "Tensor[float, n]", y: "Tensor[float, m]") -> "Tensor[float, a, b]":
    """Both loops count down; the borders are the last row and column."""
    n, m = len(x), len(y)
    table = np.full((n + 1, m + 1), 0.5)
    for i in range(n - 1, -1, -1):
        for j in range(m - 1, -1, -1):
            table[i, j] = x[i] * table[i + 1, j + 1] + y[j] * table[i, j + 1] + table[i + 1, j]
    return table


def across(x: "Tensor[float, n]", y: "Tensor[float, m]") -> "Tensor[float, a, b]":
    """The outer loop goes along the second axis, down; the next row is an earlier iteration's."""
    n, m = len(x), len(y)
    table = np.full((n + 2, m + 1), 1.5)
    for j in range(m - 1, -1, -1):
        for i in range(n):
            table[i + 1, j] = x[i] * table[i + 2, j + 1] + y[j] * table[i, j]
    return table


def inside(x: "Tensor[float, n]", y: "Tensor[float, m]") -> "Tensor[float, n, m]":
    """Rows and columns on all sides stay; no iterations of fewer than three."""
    n, m = len(x), len(y)
    table = np.zeros((n, m))
    for i in range(1, n - 1):
        for j in range(1, m - 1):
            table[i, j] = x[i - 1] * y[j] + x[i + 1] * y[j + 1]
    return table


def sized(x: "Tensor[float, n]", y: "Tensor[float, m]", size: int) -> "Tensor[float, a, b]":
    """Of the loops' bounds nothing is known: no more than there are elements, maybe none."""
    n, m = len(x), len(y)
    table = np.full((n + 1, m + 1), 0.25)
    for i in range(n - size):
        for j in range(m - size):
            table[i + 1, j + 1] = x[i] * table[i, j] + y[j]
    return table


def volume(x: "Tensor[float, n]", y: "Tensor[float, m]") -> "Tensor[float, a, b, 4]":
    """Three axes; any element of an earlier plane may be read."""
    n, m = len(x), len(y)
    table = np.full((n + 1, m + 2, 4), 0.75)
    for i in range(n):
        for j in range(m):
            for k in range(2):
                far = table[i, (j * 7) % m, k] + table[i + 1, j, 3 - k]
                table[i + 1, j + 1, k + 1] = x[i] * far + y[j]
    return table


def knapsack(x: "Tensor[float, n]", y: "Tensor[float, m]") -> "Tensor[float, a, b]":
    """Any element of the row before; rows of what was stored are summed within."""
    n, m = len(x), len(y)
    table = np.full((n + 1, m + 1), 0.125)
    for i in range(n):
        total = 0.0
        for j in range(m):
            for k in range(m):
                total += table[i, k]
            table[i + 1, j] = x[i] + total * y[j] + table[i, (j * 3) % m]
        x_sum = table[i + 1, m] + table[i + 1, 0] if m > 0 else 0.0
        table[i + 1, m] = x_sum
    return table


def by_loops(x: "Tensor[float, n]", y: "Tensor[float, m]") -> "Tensor[float, a, b]":
    """The fill, too, is a nest."""
    n, m = len(x), len(y)
    table = np.zeros((n + 1, m + 1))
    for i in range(n + 1):
        for j in range(m + 1):
            table[i, j] = 2.5
    for i in range(n):
        for j in range(m):
            table[i, j + 1] = x[i] * table[i, j] + y[j]
    return table


FILLED = [warped, edited, subsequence, needleman, smith, gotoh, backwards, across, inside, sized,
          volume, knapsack, by_loops]  # fmt: skip


def later_row(x: "Tensor[float, n]", y: "Tensor[float, m]") -> "Tensor[float, a, b]":
    n, m = len(x), len(y)
    table = np.full((n + 2, m + 1), 0.5)
    for i in range(n):
        for j in range(m):
            table[i, j] = x[i] * table[i + 1, j] + y[j]
    return table


def later_column(x: "Tensor[float, n]", y: "Tensor[float, m]") -> "Tensor[float, a, b]":
    n, m = len(x), len(y)
    table = np.full((n + 1, m + 2), 0.5)
    for i in range(n):
        for j in range(m):
            table[i, j] = x[i] * table[i, j + 1] + y[j]
    return table


def own_element(x: "Tensor[float, n]", y: "Tensor[float, m]") -> "Tensor[float, a, b]":
    n, m = len(x), len(y)
    table = np.full((n + 1, m + 1), 0.5)
    for i in range(n):
        for j in range(m):
            old = table[i + 1, j]
            table[i + 1, j] = x[i] * old * old + y[j]
    return table


def own_row_first(x: "Tensor[float, n]", y: "Tensor[float, m]") -> "Tensor[float, a, b]":
    n, m = len(x), len(y)
    table = np.full((n + 1, m + 1), 0.5)
    for i in range(n):
        first = table[i + 1, m - 1] if m > 0 else 0.0
        for j in range(m):
            table[i + 1, j] = x[i] * first + y[j]
    return table


def at_times(x: "Tensor[float, n]", y: "Tensor[float, m]") -> "Tensor[float, a, b]":
    n, m = len(x), len(y)
    table = np.full((n + 1, m + 1), 0.5)
    for i in range(n):
        for j in range(m):
            if x[i] > y[j]:
                table[i + 1, j + 1] = table[i, j] + x[i]
    return table


def every_other(x: "Tensor[float, n]", y: "Tensor[float, m]") -> "Tensor[float, a, b]":
    n, m = len(x), len(y)
    table = np.full((n + 1, m + 1), 0.5)
    for i in range(n):
        for j in range(0, m, 2):
            table[i + 1, j + 1] = table[i, j] + x[i] * y[j]
    return table


def until(x: "Tensor[float, n]", y: "Tensor[float, m]") -> "Tensor[float, a, b]":
    n, m = len(x), len(y)
    table = np.full((n + 1, m + 1), 0.5)
    for i in range(n):
        for j in range(m):
            if x[i] > y[j]:
                break
            table[i + 1, j + 1] = table[i, j] + x[i] * y[j]
    return table


def over_some(x: "Tensor[float, n]", y: "Tensor[float, m]") -> "Tensor[float, a, b]":
    n, m = len(x), len(y)
    table = np.full((n + 1, m + 1), 0.5)
    for i in range(n):
        for j in range(m):
            if x[i] < y[j]:
                continue
            table[i + 1, j + 1] = table[i, j] + x[i] * y[j]
    return table


def below(x: "Tensor[float, n]", y: "Tensor[float, m]") -> "Tensor[float, a, b]":
    n, m = len(x), len(y)
    table = np.full((n + 1, m + 1), 0.5)
    for i in range(n):
        for j in range(min(i, m)):
            table[i + 1, j + 1] = table[i, j] + x[i] * y[j]
    return table


def diagonal(x: "Tensor[float, n]", y: "Tensor[float, m]") -> "Tensor[float, a, b]":
    n, m = len(x), len(y)
    table = np.full((n + m, n + m), 0.5)
    for i in range(n):
        for j in range(m):
            table[i + j, i + j] = x[i] * y[j]
    return table


def read_between(x: "Tensor[float, n]", y: "Tensor[float, m]") -> "Tensor[float, a, b]":
    n, m = len(x), len(y)
    table = np.full((n + 1, m + 1), 0.5)
    total = 0.0
    for j in range(m + 1):
        total += table[n, j]
    for i in range(n):
        for j in range(m):
            table[i + 1, j + 1] = table[i, j] + x[i] * total
    return table


def perhaps_not(x: "Tensor[float, n]", y: "Tensor[float, m]") -> "Tensor[float, a, b]":
    n, m = len(x), len(y)
    table = np.full((n + 1, m + 1), 0.5)
    if n > m:
        return table
    for i in range(n):
        for j in range(m):
            table[i + 1, j + 1] = table[i, j] + x[i] * y[j]
    return table


KEPT = [later_row, later_column, own_element, own_row_first, at_times, every_other, until,
        over_some, below, diagonal, read_between, perhaps_not]  # fmt: skip
SHAPES = ((0, 0), (0, 3), (3, 0), (1, 1), (1, 4), (2, 3), (3, 3), (5, 2), (40, 33))


def given(function, n, m, dtype="float64"):
    random = np.random.default_rng(n * 100 + m)
    x, y = random.normal(size=n).astype(dtype), random.normal(size=m).astype(dtype)
    return (x, y, min(n, m, 3) + n % 3) if function is sized else (x, y)


def compare(function):
    """Values are Python's, gradients those of the interpreter."""
    kernel, slow = anew(function), interpreted(anew(function))
    if function is not edited:
        back, slow_back = anew(function).vjp, interpreted(anew(function).vjp)
    for n, m in SHAPES:
        arguments = given(function, n, m)
        value = kernel(*arguments)
        assert bits(value) == bits(slow(*arguments)), (function.__name__, n, m)
        np.testing.assert_array_equal(value, function(*arguments), err_msg=f"{n}, {m}")
        if function is edited:
            continue
        dy = np.random.default_rng(1).normal(size=np.shape(value)) if np.shape(value) else 1.5
        found = bits(back(*arguments, dy))
        assert found == bits(slow_back(*arguments, dy)), (function.__name__, n, m)


@pytest.mark.parametrize("function", FILLED + KEPT)
def test_bits(function):
    compare(function)


def test_bits_in_used_memory():
    """The C library fills what it gives, and what it takes back, with other bytes."""
    code = "import test_borders_filled as t\nfor each in t.FILLED + t.KEPT: t.compare(each)"
    here = str(Path(__file__).parent)
    paths = os.pathsep.join([here, *sys.path])
    environment = os.environ | {"MALLOC_PERTURB_": "85", "PYTHONPATH": paths}
    subprocess.run([sys.executable, "-c", code], check=True, env=environment, cwd=here)


@pytest.mark.parametrize("function", [warped, smith, inside])
def test_bits_of_float32(function):
    kernel, slow = anew(function), interpreted(anew(function), "float32")
    for n, m in SHAPES:
        arguments = given(function, n, m, "float32")
        assert bits(kernel(*arguments)) == bits(slow(*arguments)), (n, m)


def body_of(kernel):
    text = _core.procedure.print_loadable("of", [[kernel.procedure()]])
    return text[text.index("namespace kernels {") : text.index("union Slot")]


def fills_all(body):
    loop = r"< \(?n_[^;*]* \* [^;]*; \+\+\w+\) table\[\w+\] = "
    return re.search(rf"{loop}|fill_zeros\(table|\btable\(\(n_ \+ 1\) \* \(m_ \+ 1\)\)", body)


@pytest.mark.parametrize("function", FILLED)
def test_what_is_not_filled(function):
    kernel = anew(function)
    body = body_of(kernel.vjp if function in (subsequence, gotoh) else kernel)
    assert not fills_all(body), body


@pytest.mark.parametrize("function", KEPT)
def test_what_is_filled(function):
    body = body_of(anew(function))
    assert fills_all(body), body


def test_bounds_that_nothing_tells():
    """They are asked: of three rows none is within, and of none."""
    assert "low" in body_of(anew(inside)) and "high" in body_of(anew(sized))
    assert "low" not in body_of(anew(warped)) and "high" not in body_of(anew(backwards))


def test_text():
    """What is read has its fill in one line."""
    assert fills_all(anew(warped).procedure().source)
