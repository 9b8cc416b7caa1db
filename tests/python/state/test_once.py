"""Functions of users are called once for a value, and draws are drawn once."""

import gc

import numpy as np
import pytest

import composit
import composit.numpy as cnp
from composit import _core


class Counted:
    """A function of numbers that is never the same twice."""

    def __init__(self):
        self.calls = 0
        self.generator = np.random.default_rng(0)

    def __call__(self, value):
        self.calls += 1
        return value + self.generator.random()


def test_a_vectorized_function_is_called_at_the_call():
    draw = Counted()
    y = cnp.vectorize(draw, otypes=[float])(cnp.zeros(3))
    assert draw.calls == 3
    first = np.asarray(y).copy()
    total = float((y * 2).sum())
    assert np.asarray(y).tolist() == first.tolist()
    assert total == pytest.approx(2 * first.sum()) and draw.calls == 3


def test_several_results_come_from_one_call():
    draw = Counted()
    low, high = cnp.vectorize(lambda v: (draw(v), draw(v)), otypes=[float, np.float32])(cnp.ones(2))
    assert draw.calls == 4
    assert np.asarray(low).tolist() == np.asarray(low).tolist()
    assert (np.asarray(low) != np.asarray(high)).all() and draw.calls == 4
    assert high.dtype == np.float32


def test_values_of_calls_are_no_history():
    draw = Counted()
    _core.set_most_history_bytes(0)
    try:
        y = cnp.vectorize(draw, otypes=[float])(cnp.ones(2))
        z = y + 1
        first = np.asarray(z).tolist()
        del z
        gc.collect()
        assert np.asarray(y + 1).tolist() == first and draw.calls == 2
    finally:
        _core.set_most_history_bytes(144 << 20)


def test_a_function_that_was_called_is_a_constant_of_what_is_compiled():
    draw = Counted()
    y = cnp.vectorize(draw, otypes=[float])(cnp.ones(2))
    compiled = composit.compile(lambda x: x + y)
    first = compiled(np.zeros(2)).tolist()
    assert first == np.asarray(y).tolist() == compiled(np.zeros(2)).tolist()
    assert draw.calls == 2


def test_in_a_trace_it_is_called_with_each_run():
    draw = Counted()
    f = cnp.vectorize(draw, otypes=[float])
    compiled = composit.compile(lambda x: f(x) * 2)
    assert draw.calls == 0
    compiled(np.zeros(2))
    compiled(np.zeros(2))
    assert draw.calls == 4


def test_other_values_for_a_leaf_call_it_again():
    x = cnp.array([1.0, 2.0])
    y = cnp.vectorize(lambda v: v * 10, otypes=[float])(x)
    assert composit.evaluate(y, {x: np.array([3.0, 4.0])}).tolist() == [30, 40]
    assert y.tolist() == [10, 20]


@pytest.mark.parametrize(
    "text",
    [
        "np.piecewise(x, [x < 0, x >= 0], [f, 1.0])", "np.apply_along_axis(f, 0, x)",
        "np.vectorize(f)(x)", "np.fromfunction(lambda i: f(i), (3,))",
        "np.vectorize(f, otypes=[float])(x)", "np.apply_over_axes(lambda a, i: f(a), x, [0])",
        "np.pad(x, 1, lambda v, w, i, k: f(0))",
    ],
)  # fmt: skip
def test_no_function_is_called_for_a_second_look(text):
    draw = Counted()
    y = eval(text, {"np": cnp, "x": cnp.array([-1.0, 2.0, -3.0]), "f": draw})
    calls = draw.calls
    assert calls > 0
    first = np.asarray(y).copy()
    assert np.asarray(y).tolist() == first.tolist()
    assert np.asarray(y + 0).tolist() == first.tolist() and draw.calls == calls


def test_draws_are_drawn_once():
    generator = cnp.random.default_rng(0)
    draws = [generator.random(3), cnp.random.normal(size=3), generator.permutation(5)]
    first = [np.asarray(each + 0).copy() for each in draws]
    for each, values in zip(draws, first):
        assert np.asarray(each).tolist() == values.tolist()
