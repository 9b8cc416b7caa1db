"""Derivatives of recurrences within rows, loops that become one, and what indices are called."""

# ruff: noqa: F821

import math

import numpy as np
import pytest

import composit.numpy as cnp
from composit import _core, knossos
from composit.errors import NotSupported
from composit.knossos import Tensor

RANDOM = np.random.default_rng(0)


def check_gradient(kernel, *given):
    """Reverse beside forward mode, and compiled beside interpreted."""

    def as_tuple(made):
        return made if isinstance(made, tuple) else (made,)

    found = as_tuple(kernel.grad(*given))
    floats = [i for i, each in enumerate(given) if np.asarray(each).dtype == np.float64]
    for gradient, i in zip(found, floats, strict=True):
        for place in np.ndindex(np.shape(given[i])):
            along = [np.zeros_like(given[k]) for k in floats]
            along[floats.index(i)][place] = 1.0
            wanted = kernel.jvp(*given, *along)
            assert math.isclose(np.asarray(gradient)[place], wanted, rel_tol=1e-11, abs_tol=1e-13)
    again = knossos.register(kernel.__wrapped__)
    again.vjp._use(_core.procedure.interpreted(again.vjp.procedure()))
    for one, other in zip(found, as_tuple(again.vjp(*given, 1.0)), strict=True):
        np.testing.assert_array_equal(one, other)


# ----- recurrences within rows


@knossos.register
def table(x: "Tensor[float, n]", y: "Tensor[float, m]") -> float:
    """Each element is made of the one above and the one to its left, as an alignment's are."""
    costs = np.zeros((len(x) + 1, len(y) + 1))
    for i in range(1, len(x) + 1):
        for j in range(1, len(y) + 1):
            d = x[i - 1] - y[j - 1]
            costs[i, j] = d * d + 0.5 * math.tanh(costs[i - 1, j]) + 0.25 * costs[i, j - 1]
    return costs[len(x), len(y)]


@knossos.register
def upward(x: "Tensor[float, n, 3]") -> float:
    """Rows from the last, elements from the last, and their sum behind each row."""
    sums = np.zeros((len(x), 4))
    total = 0.0
    for i in range(len(x) - 1, -1, -1):
        sums[i, 3] = 0.1
        for j in range(2, -1, -1):
            sums[i, j] = math.sin(sums[i, j + 1] * x[i, j])
        total += sums[i, 0] * sums[i, 2]
    return total


@pytest.mark.parametrize("shape", [(1, 1), (4, 3), (2, 5)])
def test_elements_of_earlier_places_of_the_row(shape):
    x, y = (RANDOM.normal(size=extent) for extent in shape)
    assert table(x, y) == table.__wrapped__(x, y)
    check_gradient(table, x, y)
    rows = RANDOM.normal(size=(shape[0], 3))
    assert upward(rows) == pytest.approx(upward.__wrapped__(rows), rel=1e-14)
    check_gradient(upward, rows)


@knossos.register
def read_before_it_is_stored(x: "Tensor[float, n, m]") -> float:
    y = np.ones((len(x), len(x[0]) + 1))
    total = 0.0
    for i in range(len(x)):
        for j in range(len(x[0])):
            total += x[i, j] * y[i, j + 1]
            y[i, j + 1] = x[i, j] * y[i, j]
    return total


@knossos.register
def stored_once_more(x: "Tensor[float, n]") -> float:
    y = np.zeros((len(x), 2))
    total = 0.0
    for i in range(len(x)):
        for _ in range(2):
            total += y[i, 0] * x[i]
            y[i, 0] = x[i] * x[i]
    return total


@knossos.register
def guarded(x: "Tensor[float, n]", y: "Tensor[float, n]") -> float:
    """Borders by a condition, in place of loops from 1."""
    costs = np.zeros((len(x), len(y)))
    for i in range(len(x)):
        for j in range(len(y)):
            if i == 0 or not j > 0:
                costs[i, j] = x[i] * y[j]
            elif i >= 1:
                best = min(costs[i - 1, j], costs[i, j - 1])
                costs[i, j] = math.sin(x[i] - y[j]) + min(best, costs[i - 1, j - 1])
    return costs[len(x) - 1, len(y) - 1]


@pytest.mark.parametrize("extent", [1, 2, 4])
def test_elements_before_by_a_condition(extent):
    x, y = np.random.default_rng(extent).normal(size=(2, extent))
    assert math.isclose(guarded(x, y), guarded.__wrapped__(x, y), rel_tol=1e-13)
    check_gradient(guarded, x, y)
    assert "costs_before[j - 1]" in guarded.procedure().source  # a row; no index is wrapped


@knossos.register
def around(x: "Tensor[float, n]") -> float:
    total = 0.0
    for i in range(len(x)):
        if i >= 0:
            total += x[i - 1] * (i + 1)
        if i != 1:
            total += x[i - 1] * 100
        if i > 0 and len(x) > 1:
            total -= x[i - 2] * 10000
    return total


def test_conditions_that_say_too_little_leave_indices_to_wrap():
    x = np.array([1.0, 2.0, 5.0])
    assert around(x) == around.__wrapped__(x)
    check_gradient(around, x)


def test_elements_that_change_after_they_were_read():
    check_gradient(read_before_it_is_stored, RANDOM.normal(size=(3, 4)))
    check_gradient(stored_once_more, RANDOM.normal(size=4))


@knossos.register
def deep(x: "Tensor[float, n, m]", w: float) -> float:
    """What the derivative needs of each step is there: nothing runs again to be kept."""
    states = np.zeros((len(x) + 1, len(x[0])))
    for i in range(len(x)):
        for j in range(len(x[0])):
            states[i + 1, j] = math.tanh(states[i, j] * w + x[i, j])
    total = 0.0
    for j in range(len(x[0])):
        total += states[len(x), j]
    return total


def test_what_is_there_already_is_not_run_again_to_be_kept():
    x = RANDOM.normal(size=(3, 2))
    check_gradient(deep, x, np.float64(0.7))
    source = deep.vjp.procedure().source
    assert source.count("tanh_float64(") == 1  # forward; its slope is one of the state
    assert "_kept" not in source


# ----- loops that become one


@knossos.register
def share(x: "Tensor[float, n]", y: "Tensor[float, n]") -> float:
    """Element by element, one array of the other: loops in NumPy, one loop by hand."""
    scaled = x * y
    moved = scaled - x
    return np.sum(np.exp(moved) * moved) / math.log(np.sum(moved * moved) + 2)


def test_adjoints_that_one_loop_hands_to_the_next_are_no_arrays():
    x, y = RANDOM.normal(size=(2, 6))
    assert share(x, y) == pytest.approx(share.__wrapped__(x, y), rel=1e-13)
    check_gradient(share, x, y)
    source = share.vjp.procedure().source
    assert "dscaled(" not in source and "dmoved(" not in source, source
    assert source.count("for (") == 2, source


@knossos.register
def longest(x: "Tensor[float, n, m]", y: "Tensor[float, m]") -> float:
    """A loop for each row within one for all: what a row's loops hand on lives in an iteration."""
    total = 0.0
    for row in x:
        moved = row - y
        total += np.sum(moved * moved * moved)
    return total


def test_within_loops_too():
    x, y = RANDOM.normal(size=(4, 3)), RANDOM.normal(size=3)
    assert longest(x, y) == pytest.approx(longest.__wrapped__(x, y), rel=1e-13)
    check_gradient(longest, x, y)
    assert "dmoved(" not in longest.vjp.procedure().source


@knossos.register
def shifted(x: "Tensor[float, n]") -> float:
    """Its loops have one range, but elements go from one iteration to another."""
    y = np.zeros(len(x) + 1)
    for i in range(len(x)):
        y[i] = x[i] * x[i]
    total = 0.0
    for i in range(len(x)):
        total += y[i + 1] * x[i]
    return total


def test_loops_that_read_other_iterations_elements_stay_two():
    x = RANDOM.normal(size=5)
    assert shifted(x) == shifted.__wrapped__(x)
    check_gradient(shifted, x)


@knossos.register
def angles(x: "Tensor[float, n]") -> float:
    """A variable that has a value only where a branch is taken, twice."""
    total = 0.0
    for i in range(len(x)):
        cosine = 1.0
        if x[i] > 0:
            angle = math.sqrt(x[i])
            cosine = math.cos(angle) / angle
        total += cosine * x[i]
    return total


def test_a_branch_that_is_taken_again_knows_what_it_assigned():
    x = np.array([0.3, -1.0, 2.0, 0.0, 0.7])
    check_gradient(angles, x)
    source = angles.vjp.procedure().source
    assert source.count("for (") == 1, source  # no loop that finds the last angle first
    assert source.count("square_root(") == 1


@knossos.register
def kept_or_not(x: "Tensor[float, n]", k: int) -> float:
    b = x[0]
    if x[1] > 0:
        i = 0
        while i < k and x[i] > 0:
            b = 0.5
            i += 1
    else:
        b = 2.0
    return math.sin(b * x[1])


@pytest.mark.parametrize("x", [[0.3, 1.0, 2.0], [-0.3, 1.0, 2.0], [0.3, -1.0, 2.0]])
@pytest.mark.parametrize("k", [0, 1])
def test_a_value_that_a_branch_may_leave_alone_stays(x, k):
    assert kept_or_not(np.array(x), k) == kept_or_not.__wrapped__(np.array(x), k)
    check_gradient(kept_or_not, np.array(x), k)


# ----- numbers for all elements, functions of composit, indices


def test_a_function_of_a_number_is_computed_once_for_all_elements():
    @knossos.register
    def kernel(x: "Tensor[float, n]", a: float) -> "Tensor[float, n]":
        return x * math.exp(a) - np.sqrt(a)

    x = RANDOM.normal(size=4)
    np.testing.assert_allclose(kernel(x, 0.5), kernel.__wrapped__(x, 0.5), rtol=1e-15)
    source = kernel.procedure().source
    loop = source[source.index("for (") :]
    assert "exp_float64" not in loop and "square_root" not in loop, source


@knossos.register
def gate(x: float) -> float:
    return cnp.sigmoid(x) * cnp.erf(x)


@knossos.register
def gates(x: "Tensor[float, n]") -> float:
    return np.sum(cnp.sigmoid(x) * cnp.logaddexp(x, 1.0))


def test_functions_of_composit_numpy():
    for x in (-800.0, -1.5, 0.0, 0.25, 40.0):
        assert gate(x) == float(gate.__wrapped__(x))
    s = float(cnp.sigmoid(0.25))
    slope = s * (1 - s) * math.erf(0.25) + s * 2 / math.sqrt(math.pi) * math.exp(-0.0625)
    assert gate.grad(0.25) == pytest.approx(slope, rel=1e-14)
    x = RANDOM.normal(size=5)
    assert gates(x) == pytest.approx(float(gates.__wrapped__(x)), rel=1e-14)
    check_gradient(gates, x)

    @knossos.register
    def halves(x: float) -> float:
        return cnp.modf(x)

    with pytest.raises(NotSupported, match=r"cnp.modf cannot be called .*test_joined_loops.py:\d+"):
        halves(1.5)


@knossos.register
def neighbours(x: "Tensor[float, n, 2, 3]", places: "Tensor[int, m]", k: int) -> float:
    total = 0.0
    for i in range(len(places)):
        place = places[i]
        first = (place + k) // 2
        total += x[place, 1, 2] * x[first, 0, k] - x[place, 0, 0]
    return total


def test_an_index_has_the_name_of_its_integer():
    x = RANDOM.normal(size=(4, 2, 3))
    for places in ([0, 3, -1], [1], []):
        given = (x, np.array(places, "int64"), 1)
        assert neighbours(*given) == neighbours.__wrapped__(*given)
    source = neighbours.procedure().source
    assert "const int64_t first = checked_index(" in source, source
    assert "x[index * 6 + 5]" in source, source
    for bad in (4, -5):
        with pytest.raises(IndexError, match=r"test_joined_loops.py:\d+"):
            neighbours(x, np.array([bad]), 1)


@knossos.register
def padded(x: "Tensor[float, n]") -> float:
    """An array one longer than the input: its places need no assertion."""
    count = len(x)
    y = np.zeros(count + 1)
    for i in range(count):
        y[i + 1] = y[i] + x[i]
    return y[count] + y[0]


def test_places_of_a_longer_array_are_known():
    x = RANDOM.normal(size=4)
    assert padded(x) == padded.__wrapped__(x)
    assert padded(np.zeros(0)) == 0.0
    assert "assert(" not in padded.procedure().source
    check_gradient(padded, x)
