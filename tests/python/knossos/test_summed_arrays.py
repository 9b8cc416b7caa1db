"""Products with matrices go through rows; what additions overwrite, and nothing reads, is not
logged."""

# ruff: noqa: F821

import numpy as np
import pytest

from composit import _core, knossos
from composit.knossos import Tensor


@knossos.register
def moved(x: "Tensor[float, n]", a: "Tensor[float, n, m]") -> "Tensor[float, m]":
    return x @ a


@knossos.register
def product(a: "Tensor[float, n, k]", b: "Tensor[float, k, m]") -> "Tensor[float, n, m]":
    return (a * 2.0) @ b


@knossos.register
def chain(x: "Tensor[float, n]", a: "Tensor[float, n, n]", steps: int) -> float:
    total = 0.0
    for _ in range(steps):
        total += np.sum(x)
        x = np.tanh(x @ a) * x
    return total + np.sum(x)


@knossos.register
def partly(x: "Tensor[float, n]", steps: int) -> float:
    """What is added to is not stored in all places before: its old elements are needed."""
    sums, total = np.zeros(len(x) + 1), 0.0
    for _ in range(steps):
        for i in range(len(x)):
            sums[i] = 0.0
        for i in range(len(x)):
            for k in range(len(x) + 1):
                sums[k] += x[i] * (k + 1)
        for i in range(len(x) + 1):
            total += sums[i] * sums[i]
    return total


@knossos.register
def read_between(x: "Tensor[float, n]", steps: int) -> float:
    """What is added to is read, and added to again."""
    x, total = x.copy(), 0.0
    for _ in range(steps):
        sums = np.zeros(len(x))
        for i in range(len(x)):
            sums[i] += x[i] * x[i]
        for i in range(len(x)):
            total += sums[i] * sums[i] * x[0]
        for i in range(len(x)):
            sums[i] += x[i]
        for i in range(len(x)):
            x[i] += 0.1 * sums[i]
    return total + x[0]


def test_sums_have_the_order_of_the_indices():
    random = np.random.default_rng(0)
    a, b = random.normal(size=(9, 11)), random.normal(size=(11, 10))
    wanted = np.zeros((9, 10))
    for k in range(11):
        wanted += 2.0 * a[:, k, None] * b[k]
    assert np.array_equal(product(a, b), wanted)
    assert np.array_equal(moved(2.0 * a[0], b), wanted[0])
    assert moved(np.zeros(0), np.zeros((0, 3))).tolist() == [0.0, 0.0, 0.0]
    assert "add_multiple(" in moved.source or "add_multiple(" in moved.procedure().source
    with pytest.raises(ValueError, match="3"):
        moved(np.zeros(3), np.zeros((4, 2)))


def checked(kernel, x, *more):
    slopes = kernel.grad(x, *more)
    slopes = slopes if isinstance(slopes, tuple) else (slopes,)
    random = np.random.default_rng(1)
    arrays = [each for each in (x, *more) if isinstance(each, np.ndarray)]
    ways = [random.normal(size=each.shape) for each in arrays]
    h, ends = 1e-6, []
    for sign in (1, -1):
        moved_to = iter([each + sign * h * way for each, way in zip(arrays, ways)])
        ends.append(kernel(*(next(moved_to) if isinstance(each, np.ndarray) else each
                             for each in (x, *more))))  # fmt: skip
    found = sum(np.sum(slope * way) for slope, way in zip(slopes, ways))
    np.testing.assert_allclose(found, (ends[0] - ends[1]) / (2 * h), rtol=1e-6)
    kernel.grad._use(_core.procedure.interpreted(kernel.grad.procedure()))
    again = kernel.grad(x, *more)
    for one, other in zip(slopes, again if isinstance(again, tuple) else (again,)):
        assert np.array_equal(one, other)


def test_derivatives():
    random = np.random.default_rng(0)
    checked(chain, random.normal(size=9), 0.4 * random.normal(size=(9, 9)), 4)
    checked(partly, random.normal(size=4), 3)
    checked(read_between, random.normal(size=4), 3)


def test_what_additions_overwrite_is_logged_where_it_is_read():
    random = np.random.default_rng(0)
    found = knossos.register(chain).grad.procedure().source
    # One row for each step: not one for each row of the matrix.
    assert found.count("add_run(sums_log") == 1
    checked(chain, random.normal(size=8), 0.4 * random.normal(size=(8, 8)), 1)
    assert "sums_log" in partly.grad.procedure().source
