"""Known numbers and small arrays are computed as they are made: their nodes come when asked for."""

import operator
import warnings

import numpy as np
import pytest

import composit
import composit.numpy as cnp
from composit import _core, chain_rule


@pytest.fixture
def bound():
    _core.set_most_history_nodes(1000)
    yield 1000
    _core.set_most_history_nodes(100_000)


def names(tensor):
    """The operations of a graph, operands first."""
    found = []

    def walk(node):
        for operand in node.operands:
            walk(operand.node)
        found.append(node.operation)

    walk(tensor.node)
    return found


def test_the_graph_is_the_one_of_the_operations():
    x = cnp.linspace(0, 1, 5)
    float(x[0])
    first = x[1]
    y = first * 2 - x[2]
    assert [str(name) for name in names(y)][-3:] == ["constant", "element", "map"]
    assert y.node.operands[0].node.operands[0] is first
    assert y.location.startswith("test_numbers.py:")
    assert first.location != y.location


OPERATORS = [
    operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv, operator.mod,
    operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne, operator.and_,
    operator.lshift,
]  # fmt: skip
VALUES = [0, 1, -3, 7, 100, 0.0, -0.5, 2.5, 1e300, float("inf"), float("nan"), True, False]
DTYPES = ["float64", "int64", "bool", "float32", "int8", "uint8", "uint64"]


def outcome(function, dtype):
    """Value, dtype, warnings, or the class of the error. Scalars of NumPy warn of integers that
    overflow, and of Python's numbers that do not fit a float32: its arrays and composit do not."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            value = np.asarray(function())
        except Exception as error:
            return type(error).__name__
    said = sorted({str(w.message).replace("scalar ", "") for w in caught})
    return str(value), str(value.dtype), said if dtype == "float64" else []


@pytest.mark.parametrize("apply", OPERATORS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("dtype", DTYPES)
def test_operators_on_numbers_and_small_arrays_are_numpys(apply, dtype):
    given = [value for value in VALUES if -1 < value < 200 or dtype in ("float64", "float32")]
    with np.errstate(all="ignore"):
        array = np.array([value for value in given if value == value], dtype)
    lazy = cnp.asarray(array)
    lazy.tolist()

    def check(x, y, a, b):
        assert outcome(lambda: apply(x, y), dtype) == outcome(lambda: apply(a, b), dtype), (a, b)

    for i in range(len(array)):
        check(lazy[i], lazy[-i], array[i], array[-i])
        for other in VALUES:
            check(lazy[i], other, array[i], other)
            check(other, lazy[i], other, array[i])
    for other in VALUES:
        check(lazy, other, array, other)
    check(lazy, lazy[::-1], array, array[::-1])
    check(lazy[:, None], lazy[:2], array[:, None], array[:2])


def test_gradients_go_through_elements_and_small_arrays():
    def energy(module, x):
        a = module.zeros(4)
        for i in range(3):
            a[i] = x[i] * x[i + 1] + 0.5
        row = a[:3]
        row *= 2.0
        total = 0.0
        for value in a:
            total = total + value * value
        return total + module.array([x[0], a[1], 2.0]).sum()

    x = cnp.array([1.0, 2.0, 3.0, 4.0])
    x.tolist()
    y = energy(cnp, x)
    (gradient,) = chain_rule({y: y * 0 + 1}, [x])
    plain = np.array([1.0, 2.0, 3.0, 4.0])
    assert float(y) == energy(np, plain)
    for i in range(4):
        step = np.zeros(4)
        step[i] = 1e-6
        slope = (energy(np, plain + step) - energy(np, plain - step)) / 2e-6
        assert float(gradient[i]) == pytest.approx(slope, rel=1e-6)


def test_an_array_is_what_was_read_of_it():
    a = cnp.zeros(3)
    a[0] = 2.0
    y = a[0] * a[0]
    (gradient,) = chain_rule({y: y * 0 + 1}, [a])
    assert gradient.tolist() == [4, 0, 0]
    a[1] = 5.0  # nothing that y read
    (gradient,) = chain_rule({y: y * 0 + 1}, [a])
    assert gradient.tolist() == [4, 0, 0]
    z = y + a[1]
    with pytest.raises(ValueError, match="was written between readings"):
        chain_rule({z: z * 0 + 1}, [a])


def test_steps_keep_their_gradients_however_long_a_loop_is(bound):
    weight = np.array([0.5, -0.25])
    slopes = []
    for step in range(400):
        w = cnp.asarray(weight)
        w.tolist()
        state, loss = cnp.array([1.0, 1.0]), 0.0
        for _ in range(5):
            state = state * w + 0.5
            loss = loss + state[0] * state[1]
        (gradient,) = chain_rule({loss: loss * 0 + 1}, [w])
        slopes.append(np.asarray(gradient))
        assert _core.history_nodes() <= 1.25 * bound, step
    assert all(np.array_equal(slope, slopes[0]) for slope in slopes)


def test_views_of_what_is_written_element_by_element():
    x, plain = cnp.arange(12.0).reshape(3, 4), np.arange(12.0).reshape(3, 4)
    x.tolist()
    for a in (x, plain):
        row, corner, column = a[1], a[1:, 2:], a[:, 1]
        for i in range(3):
            a[i, 1] = a[i, 0] * 2 + row[i]
            row[3] = column[i] - corner[0, 1]
            corner[1, 0] += row[2]
        column += 1.0
    for mine, his in ((x, plain), (x[1], plain[1]), (x[::-1, ::2], plain[::-1, ::2])):
        assert mine.tolist() == his.tolist()
    assert x[1:, 1:].strides == plain[1:, 1:].strides
    assert x[1:].base is not None or x[1:].root() is not None


def test_an_older_view_of_a_history_that_was_cut_sees_what_is_written(bound):
    a = cnp.arange(10.0) * 2
    view = a[2:5]
    assert view.tolist() == [4, 6, 8]
    x = cnp.ones(40)
    for _ in range(3 * bound):
        x = x * 1.01
        float(x[0])
    a[3] = 100
    assert view.tolist() == [4, 100, 8]


def test_copies_are_their_own():
    a = cnp.array([1.0, 2.0])
    s = a[0]
    b = a + s  # small: computed at once
    c, d = b.copy(), cnp.array([s, b[1]])
    b[0] = 7.0
    b += 1
    assert (b.tolist(), c.tolist(), d.tolist(), float(s)) == ([8, 4], [2, 3], [1, 3], 1)
    assert composit.evaluate(b * 1).tolist() == [8, 4]
