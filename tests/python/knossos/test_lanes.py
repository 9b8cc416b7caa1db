"""Loops of functions of numbers over arrays: lanes of vectors, with the bits of a call for each."""

import math

import numpy as np
import pytest

from composit import _core, knossos


def root(a: float) -> float:
    """Ends where it has converged, at another step for each element."""
    x = a
    for _ in range(60):
        old = x
        x = 0.5 * (x + a / x)
        if abs(x - old) < 1e-12 * x:
            break
    return x


def escape(x: float, y: float) -> int:
    """A result that is an integer, a loop that may not begin."""
    a, b, turns = x, y, 0
    while a * a + b * b <= 4.0 and turns < 200:
        a, b = a * a - b * b + x, 2.0 * a * b + y
        turns += 1
    return turns


def series(x: float, n: int) -> float:
    """Two loops, one after the other, of which the second reads what the first made."""
    total, term = 0.0, 1.0
    for k in range(n):
        total += term
        term *= x / (k + 1)
    again = total
    while again > 1.0:
        again = again / (1.0 + math.exp(-again))
    return total - again


def nested(x: float) -> float:
    """A loop in a loop: called for each element."""
    total = 0.0
    for i in range(3):
        for k in range(i + 1):
            total += x * k
    return total


def steps(n: int) -> int:
    """A division of integers, of which one that is not asked for might be by 0."""
    count = 0
    while n > 1 and count < 50:
        n = 100 // n if n % 2 else n // 2
        count += 1
    return count


def outcome(function, *arguments):
    return np.array([function(*each) for each in zip(*arguments)])


@pytest.mark.parametrize("count", [0, 1, 15, 16, 17, 100])
def test_each_element_is_as_if_it_were_called(count):
    random = np.random.default_rng(count)
    x, y = random.uniform(-2, 2, size=(2, count))
    n = random.integers(0, 30, size=count)
    for function, arguments in [
        (root, [np.abs(x)]), (escape, [x, y]), (series, [x, n]), (nested, [x]), (steps, [n]),
    ]:  # fmt: skip
        kernel = knossos.register(function)
        found = kernel(*arguments)
        one_by_one = outcome(kernel, *(each.tolist() for each in arguments))
        np.testing.assert_array_equal(found, one_by_one.reshape(found.shape))
        if count:
            np.testing.assert_allclose(found, outcome(function, *(a.tolist() for a in arguments)))


def test_derivatives_have_the_bits_of_single_calls():
    x = np.random.default_rng(0).uniform(0.1, 50, size=37)
    kernel = knossos.register(root)
    found = kernel.vjp(x, np.ones_like(x))
    assert np.array_equal(found, [kernel.vjp(each, 1.0) for each in x.tolist()])
    np.testing.assert_allclose(found, 0.5 / np.sqrt(x), rtol=1e-9)
    single = kernel(x.astype("float32"))
    assert single.dtype == np.float32 and np.array_equal(
        single, [kernel(x[i : i + 1].astype("float32"))[0] for i in range(len(x))]
    )


def test_values_that_are_not_numbers_end_alone():
    x = np.ones(32)
    x[[3, 20]] = np.nan, np.inf
    found = knossos.register(root)(x)
    assert np.isnan(found[[3, 20]]).all() and (np.delete(found, [3, 20]) == 1.0).all()


def text_of(function):
    text = _core.procedure.print_loadable("it", [[knossos.register(function).procedure()]])
    return text.partition(f"void v{function.__name__}(")[2]


def test_which_functions_have_lanes():
    assert all("lane <" in text_of(each) for each in (root, escape, series))
    # Loops in loops, and divisions that might be by 0, are run for one element at a time.
    assert not any("lane <" in text_of(each) for each in (nested, steps))
    # So are all in exports, which are read.
    assert "lane <" not in knossos.register(root).source
