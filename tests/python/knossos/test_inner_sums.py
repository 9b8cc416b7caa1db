"""Inner loops that add to one element, and those that leave an iteration out, as they are loaded:
the bits of the interpreter."""

# ruff: noqa: F821

import numpy as np
import pytest
from as_python import anew

from composit import _core
from composit.knossos import Tensor


def pairs(x: "Tensor[float, n]", begin: int, end: int) -> "Tensor[float, n]":
    """All but one, of any range, with what others receive."""
    y = np.zeros(len(x))
    for i in range(len(x)):
        for j in range(begin, end):
            if j != i:
                y[i] += x[j] / (1.0 + x[i] * x[i])
                y[j] -= 0.5 * x[i] * x[j]
    return y


def others(x: "Tensor[float, n]") -> "Tensor[float, n]":
    """All but one, of all."""
    y = np.zeros(len(x))
    for i in range(len(x)):
        for j in range(len(x)):
            if i != j:
                y[i] += x[j] / (1.0 + x[i] * x[i])
                y[j] -= 0.5 * x[i] * x[j]
    return y


def columns(x: "Tensor[float, n, m]") -> "Tensor[float, m]":
    """Two elements that are different ones, and one that is read again."""
    y = np.zeros(x.shape[1])
    for i in range(x.shape[0] - 1):
        for k in range(2, x.shape[1]):
            y[0] += x[i, k]
            y[1] += x[i, k] * x[i + 1, k]
            y[k] += y[1]
    return y


def never(x: "Tensor[float, n]", where: int, times: int) -> "Tensor[float, n]":
    """Outside of the array, where no iteration runs."""
    y = np.zeros(len(x))
    for i in range(len(x)):
        for k in range(times):
            y[where] += x[i] * k
    return y


def outcome(function, *arguments):
    try:
        return function(*arguments)
    except IndexError:
        return None


def test_values_are_those_of_the_interpreter():
    random, found = np.random.default_rng(0), 0
    kernels = [(each, anew(each)) for each in (pairs, others, columns, never)]
    for n in (1, 2, 5, 40):
        x, a = random.normal(size=n), random.normal(size=(n + 1, n + 2))
        for begin, end in [(0, n), (0, 0), (-1, n), (1, n - 1), (0, n + 1), (3, 2)]:
            for function, kernel in kernels:
                arguments = {
                    pairs: (x, begin, end), others: (x,), columns: (a,), never: (x, end, begin),
                }  # fmt: skip
                given = arguments[function]
                one, other = outcome(kernel, *given), outcome(function, *given)
                assert (one is None) == (other is None)
                if one is not None:
                    assert np.array_equal(one, other)
                    found += 1
    assert found > 30


@pytest.mark.parametrize("function", [pairs, others, columns])
def test_derivatives_are_those_of_the_interpreter(function):
    random = np.random.default_rng(1)
    more = (0, 9) if function is pairs else ()
    x = random.normal(size=(5, 9) if function is columns else 9)
    dy = random.normal(size=9)
    kernel, other = anew(function), anew(function)
    other.vjp._use(_core.procedure.interpreted(other.vjp.procedure()))
    assert np.array_equal(kernel.vjp(x, *more, dy), other.vjp(x, *more, dy))


def test_what_is_loaded_and_what_is_read():
    kernel = anew(others)
    text = _core.procedure.print_loadable("it", [[kernel.procedure()]])
    own = text[: text.index("union Slot")].rpartition(" others(")[2]
    assert "y_sum" in own and "below" in own and "above" in own
    assert "y_sum" not in kernel.source
