"""The history behind values is bounded: loops run on in the same memory, at the same pace."""

import resource
import time

import numpy as np
import pytest

import composit
import composit.numpy as cnp
from composit import _core


@pytest.fixture
def bound():
    """A small one, so that short loops reach it."""
    _core.set_most_history_nodes(400)
    yield 400
    _core.set_most_history_nodes(100_000)


def gradient(loss, *of):
    return [np.asarray(g) for g in composit.nn.chain_rule({loss: loss}, list(of))]


def test_values_stay_and_nodes_go(bound):
    x, expected = cnp.ones(3), np.ones(3)
    for _ in range(2000):
        x, expected = x * 0.5 + 0.25, expected * 0.5 + 0.25
        assert float(x[0]) == expected[0]
    assert _core.history_nodes() <= 1.25 * bound
    assert x.tolist() == expected.tolist()


def test_a_gradient_behind_the_bound_is_an_error(bound):
    start = cnp.array([1.0, 2.0])
    y = start
    for _ in range(1000):
        y = y * 0.999 + 0.001
        float(y[0])
    loss = (y * y).sum()
    with pytest.raises(
        ValueError, match=r"test_history\.py:\d+ were given up.* more than 400 nodes"
    ):
        gradient(loss, start)
    with pytest.raises(ValueError, match="given up"):
        composit.evaluate(loss, {start: np.zeros(2)})


def test_other_gradients_are_exact(bound):
    start, weight = cnp.array([1.0, 2.0]), cnp.array([3.0, 4.0])
    y = start
    for _ in range(1000):
        y = y * 0.999 + 0.001
        float(y[0])
    late = y * weight
    loss = (late * late).sum()
    (of_weight,) = gradient(loss, weight)
    values = np.asarray(y)
    assert np.allclose(of_weight, 2 * values**2 * np.asarray(weight))
    other = (weight * 2).sum()
    of_other, of_start = gradient(other, weight, start)
    assert of_other.tolist() == [2, 2] and of_start.tolist() == [0, 0]


def test_a_value_that_somebody_holds_keeps_its_gradient_or_says_so(bound):
    start = cnp.array([1.0, 2.0])
    middle = start * 2
    y = middle
    for _ in range(1000):
        y = y * 0.999 + 0.001
        float(y[0])
    for behind in (middle, start):
        with pytest.raises(ValueError, match="given up"):
            gradient((y * y).sum(), behind)
    recent = y * 1.0
    assert gradient((recent * recent).sum(), recent)[0].tolist() == (2 * np.asarray(y)).tolist()


def test_views_and_writes_go_on(bound):
    u, expected = cnp.zeros((6, 6)), np.zeros((6, 6))
    inner, inner_of_numpys = u[1:-1], expected[1:-1]
    for step in range(800):
        for a, part in ((u, inner), (expected, inner_of_numpys)):
            a[step % 6] += 0.5 * a[(step + 1) % 6] + 1
            part[:, 2] -= a[1:-1, 3] * 0.25
            a[2, step % 6] = a[3, 1]
        assert float(u[2, 3]) == expected[2, 3]
        expected *= 0.5
        u *= 0.5
    assert u.tolist() == expected.tolist() and inner.tolist() == inner_of_numpys.tolist()
    assert _core.history_nodes() <= 1.25 * bound


def test_many_arrays_that_live(bound):
    held = [cnp.full(2, float(i)) for i in range(300)]
    total = cnp.zeros(2)
    for each in held * 3:
        total = total + each
        float(total[0])
    assert float(total[0]) == 3 * sum(range(300))
    for each in (held[0], held[150], held[299]):
        with pytest.raises(ValueError, match="given up"):
            gradient(total.sum(), each)
    new = cnp.ones(2)
    assert gradient((total * new).sum(), new)[0].tolist() == [float(total[0])] * 2


def test_chains_that_nobody_looked_at_are_not_cut(bound):
    x = cnp.ones(40)
    y = x
    for _ in range(3000):
        y = y + 1
    assert gradient(y.sum(), x)[0].tolist() == [1] * 40
    assert float(y[0]) == 3001


def test_small_arrays_and_numbers_are_computed_as_they_are_made(bound):
    x = cnp.array([1.0])
    y = x
    for _ in range(3000):
        y = y + 1
    assert _core.history_nodes() <= 1.25 * bound
    with pytest.raises(ValueError, match="given up"):
        gradient(y.sum(), x)
    assert float(y[0]) == 3001


def test_a_bound_is_a_number_of_nodes():
    with pytest.raises(ValueError, match=r"0 is no bound\. 1 or more is required"):
        _core.set_most_history_nodes(0)


class Loops:
    """Steps of long loops, each with a look."""

    def __init__(self):
        self.x, self.m = cnp.ones(10), cnp.zeros(10)
        self.u = cnp.zeros((8, 8))
        self.u[4, 4] = 1.0
        self.i = 0

    def relaxed(self):
        self.x = self.x * 0.999 + 0.001
        return float(self.x[0])

    def in_place(self):
        u = self.u
        u[1:-1, 1:-1] += 0.1 * (u[2:, 1:-1] + u[:-2, 1:-1] - 2 * u[1:-1, 1:-1])
        return float(u[3, 4])

    def averaged(self):
        self.m = 0.9 * self.m + 0.1 * self.x
        self.x = self.x - 0.01 * self.m
        return float(self.x[3])

    def by_element(self):
        self.i += 1
        self.x[self.i % 10] = min(self.x[(self.i + 1) % 10] + 1, self.x[0])
        return float(self.x[self.i % 10])


@pytest.mark.parametrize("name", ["relaxed", "in_place", "averaged", "by_element"])
def test_a_long_loop_keeps_its_pace_and_its_memory(name, bound):
    """The bound is smaller, so that steps in the thousands are as a hundred thousand."""
    step = getattr(Loops(), name)

    def median(count):
        times = []
        for _ in range(count):
            start = time.thread_time()  # what other programs take does not count
            step()
            times.append(time.thread_time() - start)
        return sorted(times)[count // 2]

    for _ in range(100):
        step()
    early = median(1000)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for _ in range(4000):
        step()
    # The best of some: other processes take their share of the machine.
    assert min(median(500) for _ in range(3)) < 1.5 * early + 2e-5
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert grown < 16 << 10
    assert _core.history_nodes() <= 1.25 * bound
