"""Inner loops whose indices are looked at once, before they run: the same values and refusals."""

# ruff: noqa: F821

import re

import numpy as np
import pytest
from as_python import anew

from composit import _core
from composit.knossos import Tensor


def shifted(
    x: "Tensor[float, n]", starts: "Tensor[int, m]", begin: int, end: int
) -> "Tensor[float, m]":
    """Neighbours from anywhere: also from the end, over both ends, none."""
    y = np.zeros(len(starts))
    for i in range(len(starts)):
        for j in range(begin, end):
            y[i] += (j + 2) * x[starts[i] + j]
    return y


def below(x: "Tensor[float, n]", starts: "Tensor[int, m]", begin: int, end: int
          ) -> "Tensor[float, n]":  # fmt: skip
    """Writes where it has counted, and reads in two places."""
    y = np.zeros(len(x))
    for i in range(len(starts)):
        last = starts[i]
        for j in range(begin, end):
            y[j - last] += x[j + last] * x[i]
            y[0] += y[j - last]
    return y


def written(x: "Tensor[float, n]", starts: "Tensor[int, m]", begin: int, end: int) -> float:
    """The index changes in the loop: nothing is known ahead."""
    total = 0.0
    for i in range(len(starts)):
        place = starts[i]
        for j in range(begin, end):
            total += x[place + j] * (j - begin + 1)
            place = place - 2
    return total


def outcome(function, *arguments):
    try:
        return function(*arguments)
    except IndexError:
        return None


@pytest.mark.parametrize("function", [shifted, below, written])
def test_values_and_refusals_are_pythons(function):
    random, kernel = np.random.default_rng(0), anew(function)
    interpreted = anew(function)
    interpreted(np.ones(9), np.zeros(2, "int64"), 0, 0)
    interpreted._use(_core.procedure.interpreted(interpreted.procedure()))
    x, seen = random.normal(size=7), {True: 0, False: 0}
    for _ in range(1000):
        begin, length = random.integers(-6, 7), random.integers(0, 5)
        starts = random.integers(-4, 4, size=random.integers(0, 4))
        arguments = x, starts, int(begin), int(begin + length)
        wanted = outcome(function, *arguments)
        seen[wanted is None] += 1
        for found in (outcome(kernel, *arguments), outcome(interpreted, *arguments)):
            if wanted is None:
                assert found is None
            else:
                np.testing.assert_array_equal(found, wanted)
    assert min(seen.values()) > 100


@pytest.mark.parametrize("start", [2**63 - 1, 2**63 - 3, -(2**63), -(2**63) + 3])
def test_sums_that_wrap_are_refused(start):
    kernel, x = anew(shifted), np.ones(7)
    with pytest.raises(IndexError, match=r"shifted: .*:\d+\b"):
        kernel(x, np.array([start]), -3, 4)


def loops_of(kernel):
    text = _core.procedure.print_loadable("it", [[kernel.procedure()]])
    own = text[: text.index("union Slot")].rpartition(f" {kernel.__name__}(")[2]
    parts = re.split(r"\bfor \(", own)[1:]
    asserted = [re.findall(r"assert\((.*)\);", part) for part in parts]
    counts = [sum(1 + each.count(" && ") for each in found) for found in asserted]
    # An index that is checked is asserted to be neither below nor above.
    return [count + 2 * part.count("checked_index(") for count, part in zip(counts, parts)]


def test_only_what_is_known_ahead_has_two_versions():
    assert loops_of(anew(shifted))[-2:] == [0, 2]
    assert loops_of(anew(written))[-1] > 0
    assert len(loops_of(anew(written))) == 2
    # What is exported, and read, has one.
    assert anew(shifted).procedure().source.count("for (") == 2


def test_the_derivative_has_the_bits_of_the_interpreter():
    kernel, other = anew(shifted), anew(shifted)
    x, starts = np.random.default_rng(1).normal(size=9), np.array([3, -4, 0])
    dy = np.array([1.0, -0.5, 3.0])
    found = kernel.vjp(x, starts, -3, 4, dy)
    wanted = np.zeros(9)
    for i, start in enumerate(starts):
        for j in range(-3, 4):
            wanted[start + j] += (j + 2) * dy[i]
    np.testing.assert_allclose(found, wanted)
    other.vjp(x, starts, -3, 4, dy)
    other.vjp._use(_core.procedure.interpreted(other.vjp.procedure()))
    np.testing.assert_array_equal(other.vjp(x, starts, -3, 4, dy), found)
