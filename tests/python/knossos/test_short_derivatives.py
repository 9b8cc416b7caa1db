"""Derivatives in reverse say things once: the text, and that it computes the same."""

# ruff: noqa: F821

import math
import re

import numpy as np
import pytest

from composit import _core, knossos
from composit.knossos import Tensor

RANDOM = np.random.default_rng(0)


@knossos.register
def largest(x: "Tensor[float, n]") -> float:
    return max(x) - 2 * min(x)


def test_the_gradient_of_an_extreme_goes_to_its_first_place():
    x = np.array([1.0, 3.0, -2.0, 3.0, -2.0])
    assert largest(x) == 7.0 == largest.__wrapped__(x)
    assert list(largest.grad(x)) == [0, 1, -2, 0, 0]
    assert largest.jvp(x, np.array([10.0, 1, 100, 20, 30])) == 1 - 200
    source = largest.vjp.procedure().source
    assert source.count("at = place_of_largest(x, n);") == source.count("place_of_least(x, n)") == 1
    with pytest.raises(ValueError, match=r"no element.*test_short_derivatives.py:\d+"):
        largest(np.empty(0))


@pytest.mark.parametrize("function", [max, min])
@pytest.mark.parametrize(
    "values", [[math.nan, 1.0, 2.0], [1.0, math.nan, 2.0], [0.0, -0.0], [-0.0, 0.0]]
)
def test_extremes_are_pythons_whatever_the_order(function, values):
    def highest(x: "Tensor[float, n]") -> float:
        return max(x)

    def lowest(x: "Tensor[float, n]") -> float:
        return min(x)

    kernel = knossos.register(highest if function is max else lowest)
    found, wanted = kernel(np.array(values)), function(values)
    assert (found == wanted or wanted != wanted) and math.copysign(1, found) == math.copysign(
        1, wanted
    )


@knossos.register
def received_in_turns(x: "Tensor[float, n]") -> float:
    total = 0.0
    for i in range(1, len(x)):
        a = x[i] * x[i - 1]
        b = a * math.sin(x[i])
        total += a * b - x[i] / b + x[0] * x[0]
    return total


def test_what_an_adjoint_receives_stands_in_one_place():
    x = RANDOM.normal(size=6)
    gradient = received_in_turns.grad(x)
    for direction in np.eye(6):
        assert math.isclose(
            received_in_turns.jvp(x, direction), gradient @ direction, rel_tol=1e-12
        )
    source = received_in_turns.vjp.procedure().source
    places = re.findall(r"(dx\[[^]]*\]) \+=", source)
    assert len(places) == len(set(places)), source
    assert "+ -" not in source, source


@knossos.register
def twice(x: "Tensor[float, n, m]", k: int) -> float:
    """Its gradient runs the first loops twice."""
    total = 0.0
    sums = np.zeros(len(x))
    for i in range(len(x)):
        for j in range(k):
            sums[i] += math.exp(x[i, j])
    for i in range(len(x)):
        total += sums[i] * sums[i]
    return total


def test_what_is_asserted_for_all_iterations_is_asserted_once():
    source = twice.vjp.procedure().source
    assert source.count("assert(j < m)") == 1, source
    x = RANDOM.normal(size=(3, 4))
    for k in (0, 2, 4):
        found = twice.grad(x, k)
        wanted = np.zeros((3, 4))
        wanted[:, :k] = 2 * np.exp(x[:, :k]).sum(1, keepdims=True) * np.exp(x[:, :k])
        np.testing.assert_allclose(found, wanted, rtol=1e-13)
    with pytest.raises(IndexError):
        twice.grad(x, 5)


@knossos.register
def idle_first(x: "Tensor[float, n]", places: "Tensor[int, m]", rounds: int) -> float:
    """A loop that asserts, within one that may not run; then the same loop alone."""
    total = 0.0
    for _ in range(rounds):
        for j in range(len(places)):
            total += x[places[j]] * x[places[j]]
    for j in range(len(places)):
        total += math.sin(x[places[j]])
    return total


def test_what_a_loop_that_did_not_run_asserts_is_not_known():
    x = RANDOM.normal(size=4)
    for rounds in (0, 2):
        for places in ([0, 3, -1], []):
            got = idle_first.grad(x, np.array(places, "int64"), rounds)
            wanted = np.zeros(4)
            for place in places:
                wanted[place] += 2 * rounds * x[place] + math.cos(x[place])
            np.testing.assert_allclose(got, wanted, rtol=1e-13)
        for bad in (4, -5):
            with pytest.raises(IndexError):
                idle_first.grad(x, np.array([0, bad]), rounds)
            with pytest.raises(IndexError):
                idle_first.vjp(x, np.array([0, bad]), rounds, 1.0)


@knossos.register
def exchanged(x: "Tensor[float, n]", w: float) -> float:
    """Each state is of the one before, and written once."""
    states = np.zeros(len(x) + 1)
    for i in range(len(x)):
        states[i + 1] = math.tanh(w * states[i] + x[i])
    return states[len(x)] * states[1]


def test_elements_that_are_received_are_exchanged():
    x = RANDOM.normal(size=5)
    dx, dw = exchanged.grad(x, 0.7)
    for direction in np.eye(5):
        assert math.isclose(exchanged.jvp(x, 0.7, direction, 0.0), dx @ direction, rel_tol=1e-12)
    assert math.isclose(exchanged.jvp(x, 0.7, np.zeros(5), 1.0), dw, rel_tol=1e-12)
    kernel = knossos.register(exchanged.__wrapped__)
    kernel.vjp(x, 0.7, 1.0)
    kernel.vjp._use(_core.procedure.interpreted(kernel.vjp.procedure()))
    np.testing.assert_array_equal(kernel.vjp(x, 0.7, 1.0)[0], exchanged.vjp(x, 0.7, 1.0)[0])


@knossos.register
def picked(x: "Tensor[float, 5]", n: int) -> float:
    if x[0] > 0:
        n = 3
    return x[n]


def test_a_parameter_that_is_assigned_a_number_is_not_that_number():
    assert picked(np.arange(5.0), 4) == 4 and picked(np.arange(1.0, 6), 4) == 4
    assert picked(np.arange(5.0), -2) == 3
    with pytest.raises(IndexError):
        picked(np.arange(5.0), 7)


@knossos.register
def quotients(n: int, m: int) -> float:
    total = n // 3 * 10 + n % 3
    for i in range(5):
        total += (i * i + 1) // 3 - (i + 7) % 4 * 100
    if m > 0:
        n = 8
    return float(total + n // 7 * 1000 + n % 5 * 10000)


@pytest.mark.parametrize("n", [-22, -8, -1, 0, 1, 22])
@pytest.mark.parametrize("m", [0, 1])
def test_quotients_are_pythons(n, m):
    assert quotients(n, m) == quotients.__wrapped__(n, m)
    assert "% 4" in quotients.source  # of a counter: C++'s own


@knossos.register
def where_positive(x: "Tensor[float, n]", m: int) -> float:
    total = 0.0
    for i in range(len(x)):
        if m > 1:
            t = np.zeros(m - 1)
            t[0] = x[i]
            total += t[0] + np.sum(t)
    return total


@knossos.register
def everywhere(x: "Tensor[float, n]", m: int) -> float:
    total = 0.0
    for i in range(len(x)):
        t = np.zeros((m, 2))
        total += np.sum(t) + x[i]
    return total


@pytest.mark.parametrize("m", [3, 1, 0, -1, -5])
def test_arrays_are_made_where_the_kernel_makes_them(m):
    x = np.arange(1.0, 4)
    assert where_positive(x, m) == where_positive.__wrapped__(x, m)
    assert list(where_positive.grad(x, m)) == [2 if m > 1 else 0] * 3


@pytest.mark.parametrize("way", ["compiled", "interpreted"])
def test_negative_extents_are_refused_where_they_are_met(way):
    kernel = knossos.register(everywhere.__wrapped__)
    assert kernel(np.arange(3.0), 0) == 3 and kernel(np.empty(0), -1) == 0
    if way == "interpreted":
        kernel._use(_core.procedure.interpreted(kernel.procedure()))
    line = everywhere.__wrapped__.__code__.co_firstlineno + 4
    with pytest.raises(ValueError) as refused:
        kernel(np.arange(3.0), -1)
    assert str(refused.value).startswith(
        "everywhere: an extent is negative. An array's extents are required to be 0 or more. ["
    )
    assert str(refused.value).endswith(f"test_short_derivatives.py:{line}]")
    assert kernel(np.empty(0), -1) == 0


def test_exported_text_asserts_extents_that_may_be_negative():
    source = everywhere.procedure().source
    assert "checked_extent(m)" in source
    assert "checked_extent" not in twice.vjp.procedure().source
