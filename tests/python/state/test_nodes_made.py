"""Questions and loops that need no node make none."""

import numpy as np
import pytest

import composit.numpy as cnp
from composit import chain_rule, evaluate, placeholder


def written(count=50):
    """An array whose elements were written one by one, without a node for any."""
    x = cnp.zeros(count)
    x.tolist()
    for i in range(count):
        x[i] = i * 0.5
    assert not x.has_node
    return x


QUESTIONS = [
    np.asarray, np.array, memoryview, len, repr, lambda x: x.tolist(), lambda x: x.size,
    lambda x: x.itemsize, lambda x: x.nbytes, lambda x: x.strides, lambda x: x.shape,
    lambda x: x.dtype, lambda x: x.flags.c_contiguous, lambda x: x.copy(),
    lambda x: cnp.array(x), lambda x: cnp.array([x[0], x[1] * 2, 3.0]), lambda x: list(x),
    lambda x: x[3:9].copy(), lambda x: np.asarray(x[::3]), lambda x: float(x[-1]),
]  # fmt: skip
UNLIKE = {QUESTIONS.index(repr)}  # NumPy's name is another one


@pytest.mark.parametrize("ask", QUESTIONS, ids=range(len(QUESTIONS)))
def test_a_question_makes_no_nodes(ask):
    x = written()
    answer = ask(x)
    assert not x.has_node
    assert not (getattr(answer, "has_node", False))
    if QUESTIONS.index(ask) not in UNLIKE:
        assert np.array_equal(np.asarray(answer), np.asarray(ask(np.arange(50) * 0.5)))


def test_a_copy_of_what_was_written_is_another_array():
    x = written(5)
    y, part = x.copy(), x[1:3].copy()
    x[1] = 100.0
    y[2] = 200.0
    part[0] = 300.0
    assert x.tolist() == [0, 100, 1, 1.5, 2]
    assert y.tolist() == [0, 0.5, 200, 1.5, 2]
    assert part.tolist() == [300, 1]
    assert (x + y).tolist() == [0, 100.5, 201, 3, 4]
    x = cnp.array([1.0, 2.0, 3.0])
    x.tolist()
    z = x * 2
    z[0] = x[1] * x[2]
    y = z.copy()
    y[1] = y[0] * x[0]
    (slope,) = chain_rule({y: cnp.ones(3)}, [x])  # through the copy
    assert slope.tolist() == [6, 3 + 3, 2 + 2 + 2]


def total(np, count):
    x, sum = np.sin(np.arange(float(count))), 0.0
    for i in range(count):
        sum = sum + x[i] * x[i]
    return sum


def test_a_loop_over_elements_of_an_array_that_is_not_known_computes_it_once():
    found = total(cnp, 200)
    assert not found.has_node
    assert float(found) == total(np, 200)
    # The graph is there for who asks.
    x = cnp.arange(40.0)
    y = x * x
    sum = 0.0
    for i in range(40):
        sum = sum + y[i]
    (slope,) = chain_rule({sum: 1.0}, [x])
    assert slope.tolist() == (2 * np.arange(40.0)).tolist()


def test_a_few_elements_of_a_large_array_do_not_compute_it():
    x = cnp.arange(64_000.0) * 2
    picked = [x[i] for i in range(0, 9000, 10)]
    assert not x.is_known
    assert float(picked[-1]) == 17980
    picked = [x[i] for i in range(1000)]
    assert x.is_known


def test_elements_of_placeholders_are_nodes():
    x = placeholder("x", (20,), "float64")
    sum = 0.0
    for i in range(20):
        sum = sum + x[i]
    assert float(evaluate(sum, {x: np.ones(20)})) == 20
