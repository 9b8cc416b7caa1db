"""What the reverse sweep of a loop computes again from elements that it has put back, in place of a
log, and what it takes from a log and does not compute again."""

# ruff: noqa: F821

import math

import numpy as np
import pytest
from as_python import anew, interpreted
from complex_steps import check_gradients

from composit import _core, knossos
from composit.knossos import Tensor

RANDOM = np.random.default_rng(0)


def forward(start: "Tensor[float, s]", trans: "Tensor[float, s, s]", steps: int) -> float:
    """Shares of a sum move on: their quotients are computed again, their sum is logged."""
    state, total = start * 1.0, 0.0
    for _ in range(steps):
        scale = np.sum(state)
        total += math.log(scale)
        state = (state / scale) @ trans
    return total + math.log(np.sum(state))


def changed_below(x: "Tensor[float, n]", a: "Tensor[float, n]", steps: int) -> float:
    """The element that a quotient reads changes before the quotient is used."""
    y, z = np.zeros(len(x)) + x, np.zeros(len(x)) + 1.0
    for _ in range(steps):
        scale = np.sum(y * y)
        for j in range(len(y)):
            share = y[j] / scale
            y[j] = y[j] * a[j] + 0.5
            for k in range(len(a)):
                z[k] = z[k] * share + a[k]
    return np.sum(y * z)


def changed_after(x: "Tensor[float, n]", a: "Tensor[float, n]", steps: int) -> float:
    """The same, behind its use."""
    y, z = np.zeros(len(x)) + x, np.zeros(len(x)) + 1.0
    for _ in range(steps):
        scale = np.sum(y * y)
        for j in range(len(y)):
            share = y[j] / scale
            for k in range(len(a)):
                z[k] = z[k] * share + a[k]
            y[j] = y[j] * a[j] + share
    return np.sum(y * z)


def of_another_element(x: "Tensor[float, n]", a: "Tensor[float, n]", steps: int) -> float:
    """Another iteration of the loop changes the element."""
    y, z = np.zeros(len(x)) + x, np.zeros(len(x)) + 1.0
    for _ in range(steps):
        scale = np.sum(y * y)
        for j in range(len(y) - 1):
            share = y[j + 1] / scale
            for k in range(len(a)):
                z[k] = z[k] * share + a[k]
            y[j] = y[j] * a[j] + share
    return np.sum(y * z)


def of_no_element_that_changes(x: "Tensor[float, n]", a: "Tensor[float, n]", steps: int) -> float:
    """Elements change in a loop of their own."""
    y, z = np.zeros(len(x)) + x, np.zeros(len(x)) + 1.0
    for _ in range(steps):
        scale = np.sum(y * y)
        for j in range(len(y)):
            share = y[j] / scale
            for k in range(len(a)):
                z[k] = z[k] * share + a[k]
        for j in range(len(y)):
            y[j] = y[j] * a[j] + 0.5
    return np.sum(y * z)


def of_functions(x: "Tensor[float, n]", a: "Tensor[float, n, n]", steps: int) -> float:
    """A function takes longer than a log."""
    y, total = np.zeros(len(x)) + x, 0.0
    for _ in range(steps):
        scale = np.sum(y)
        total += scale
        y = np.tanh(y / scale) @ a
    return total + np.sum(y)


def given_twice(x: "Tensor[float, n]", a: "Tensor[float, n]", steps: int) -> float:
    """A variable that a branch gives another value."""
    y, total = np.zeros(len(x)) + x, 0.0
    for _ in range(steps):
        scale = np.sum(y * y)
        for j in range(len(y)):
            share = y[j] / scale
            if a[j] > 0.0:
                share = share * a[j]
            for k in range(len(a)):
                total += share * a[k]
        for j in range(len(y)):
            y[j] = y[j] * a[j] + 1.0
    return total


def that_may_end(x: "Tensor[float, n]", a: "Tensor[float, n]", steps: int) -> float:
    """Iterations that end early use what they computed."""
    y, total = np.zeros(len(x)) + x, 0.0
    for _ in range(steps):
        scale = np.sum(y * y)
        for j in range(len(y)):
            share = y[j] / scale
            if a[j] < -1.0:
                break
            for k in range(len(a)):
                total += share * a[k] * share
        for j in range(len(y)):
            y[j] = y[j] * a[j] + 0.5
    return total


def two_parts(x: "Tensor[float, n]", steps: int) -> float:
    """The sum of one part is taken from the log in the other, and is a factor of its own slope."""
    y, total = np.zeros(len(x)) + x, 0.0
    for _ in range(steps):
        scale = np.sum(y * y)
        scale = scale * scale + 1.0
        total += scale
        for j in range(len(y)):
            y[j] = y[j] / scale + 0.25
    return total


VECTOR, MATRIX = RANDOM.normal(size=5) + 2.0, RANDOM.random((5, 5))
SIGNS = np.array([0.5, -0.75, 0.25, -1.5, 0.125])
CASES = [
    (forward, (VECTOR, MATRIX, 4)),
    (changed_below, (VECTOR, SIGNS, 3)),
    (changed_after, (VECTOR, SIGNS, 3)),
    (of_another_element, (VECTOR, SIGNS, 3)),
    (of_no_element_that_changes, (VECTOR, SIGNS, 3)),
    (of_functions, (VECTOR, MATRIX, 3)),
    (given_twice, (VECTOR, SIGNS, 3)),
    (that_may_end, (VECTOR, SIGNS, 3)),
    (two_parts, (VECTOR, 4)),
]


@pytest.mark.parametrize("function, given", CASES)
def test_gradients(function, given):
    kernel = knossos.register(function)
    np.testing.assert_allclose(kernel(*given), function(*given), rtol=1e-13)
    check_gradients(kernel, given, 1.0)


@pytest.mark.parametrize("function, given", CASES)
def test_loaded_gradients_have_the_interpreters_bits(function, given):
    kernel = anew(function)
    for one, same in zip(kernel.vjp(*given, 0.75), interpreted(kernel.vjp)(*given, 0.75)):
        np.testing.assert_array_equal(one, same)


def logs_of(function):
    source = knossos.register(function).vjp.procedure().source
    words = source.replace("(", " ").replace(".", " ").replace(",", " ").replace(")", " ").split()
    return {each for each in words if each.endswith("_log")}, source


def test_quotients_of_elements_are_computed_again():
    logs, source = logs_of(forward)
    assert logs == {"scale_log", "state_log"}, source
    assert source.count("state[i] / scale") == 2, source
    logs, source = logs_of(of_no_element_that_changes)
    assert "share_log" not in logs and source.count("y[j] / scale") == 2, source


def test_what_a_log_has_is_not_computed_again():
    """The sum runs once in each direction: behind the loop, and in its forward sweep."""
    source = logs_of(forward)[1]
    assert source.count("sum(s, state.data())") == 2 and "sum_vjp" not in source, source
    source = logs_of(two_parts)[1]
    assert source.count("scale_2 * scale_2 + 1.0") == 1, source


@pytest.mark.parametrize("function", [changed_below, changed_after, of_another_element])
def test_quotients_of_elements_that_change_are_logged(function):
    logs, source = logs_of(function)
    assert "share_log" in logs, source


def test_functions_are_logged():
    logs, source = logs_of(of_functions)
    assert "factor_log" in logs and source.count("tanh_float64(") == 1, source


def test_sums_and_what_they_add_to_have_loops_of_their_own():
    loaded = _core.procedure.print_loadable("forward", [[anew(forward).vjp.procedure()]])
    sums = loaded[loaded.index("add_in_order(dfactor_4,") :]
    between = sums[: sums.index("add_in_order(dtrans")]
    assert between.count("for (int64_t j = 0; j < s; ++j) {") == 1, loaded
