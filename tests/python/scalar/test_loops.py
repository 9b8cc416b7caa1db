"""Loops of the scalar language in rows of one's own: on every back end, differentiated, refused."""

import numpy as np
import pytest

import composit
from composit import numpy as cnp
from composit import scalar


@pytest.fixture(scope="module")
def log_star():
    """How often log must be taken until the result is at most 1."""

    def value(x):
        return scalar.loop([x, 0.0], lambda x, n: x > 1, lambda x, n: (scalar.log(x), n + 1), 10)[1]

    return composit.register("loops_log_star", value=value, doc="the iterated logarithm")


@pytest.fixture(scope="module")
def newton():
    """A square root by Newton's method, whose derivative follows from the loop."""

    def value(x):
        def step(r, x, change):
            better = 0.5 * (r + x / r)
            return better, x, abs(better - r)

        return scalar.loop(
            [scalar.maximum(x, 1.0), x, x + 1.0],
            lambda r, x, change: change > 1e-12 * r,
            step,
            limit=60,
        )[0]

    return composit.register("loops_newton", value=value, doc="the square root")


def reference_log_star(x):
    count = 0
    while x > 1:
        x, count = np.log(x), count + 1
    return count


def test_every_back_end_runs_the_same_steps(log_star, newton):
    x = np.concatenate([np.geomspace(1e-3, 1e300, 2999), [1, np.e, np.inf, np.nan, 0]])
    expected = [reference_log_star(v) if v < np.inf else 10.0 if v == np.inf else 0.0 for v in x]
    with np.errstate(all="ignore"):
        interpreted = cnp.evaluate(log_star(x))
    np.testing.assert_array_equal(interpreted, expected)
    both = composit.compile(lambda x: (log_star(x), newton(x + 1)), x)
    for ours, again in zip(both(x), (interpreted, cnp.evaluate(newton(x + 1)))):
        np.testing.assert_array_equal(np.asarray(ours).view("u8"), again.view("u8"))
    assert "for (int64_t step = 0; step < 10; ++step) {" in both.source


def test_a_loop_is_differentiated_forward(newton):
    x = np.array([0.5, 2.0, 9.0])
    np.testing.assert_allclose(cnp.evaluate(newton(x)), np.sqrt(x), rtol=1e-12)
    slope = composit.grad(lambda x: cnp.sum(newton(x)))
    np.testing.assert_allclose(cnp.evaluate(slope(x)), 0.5 / np.sqrt(x), rtol=1e-6)
    second = composit.grad(lambda x: cnp.sum(slope(x)))
    np.testing.assert_allclose(cnp.evaluate(second(x)), -0.25 * x**-1.5, rtol=1e-4)


def test_loops_nest():
    """The sum of all digits until one is left."""

    def digits_summed(n):
        return scalar.loop(
            [n, n * 0],
            lambda n, total: n > 0,
            lambda n, total: (n // 10, total + n % 10),
            25,
        )[1]

    root = composit.register(
        "loops_digital_root",
        value=lambda n: scalar.loop([n], lambda n: n > 9, lambda n: (digits_summed(n),), 25)[0],
        types="integral",
        doc="the digital root",
    )
    n = np.array([0, 9, 10, 99, 12345678, 10**18 - 1, 5])
    assert cnp.evaluate(root(n)).tolist() == [0 if v == 0 else 1 + (v - 1) % 9 for v in n.tolist()]
    np.testing.assert_array_equal(composit.compile(root, n)(n), cnp.evaluate(root(n)))


def test_a_limit_ends_a_loop():
    forever = composit.register(
        "loops_forever",
        value=lambda x: scalar.loop([x], lambda x: x == x, lambda x: (x + 1,), 7)[0],
        doc="x + 7",
    )
    assert cnp.evaluate(forever(np.array([1.0, 2.0]))).tolist() == [8, 9]


@pytest.mark.parametrize(
    "value, error, message",
    [
        (
            lambda x: scalar.loop([x], lambda s: s + 1, lambda s: (s,), 3)[0],
            TypeError,
            "loop: the condition has dtype float64. bool is required.",
        ),
        (
            lambda x: scalar.loop([x], lambda s: s > 1, lambda s: (s, s), 3)[0],
            TypeError,
            "loop: the step returns 2 values. 1 are required, one for each value of the state.",
        ),
        (
            lambda x: scalar.loop([x, 0], lambda s, n: s > 1, lambda s, n: (s, s), 3)[0],
            TypeError,
            "loop: the step of value 1 has dtype float64. int64 is required, that of the initial "
            "value.",
        ),
        (
            lambda x: scalar.loop([x], lambda s: s > 1, lambda s: (s - x,), 3)[0],
            TypeError,
            "loop: x is read inside the loop, but not part of its state. What a loop reads is "
            "required to be: give it a value of the state that does not change.",
        ),
        (
            lambda x: scalar.loop([x], lambda s: s > 1, lambda s: s, 3)[0],
            TypeError,
            "loop: the step returned a Expr. A tuple of 1 is required.",
        ),
        (
            lambda x: scalar.loop([x], lambda s: s > 1, lambda s: (s,), -1)[0],
            ValueError,
            "loop: limit is -1. 0 or more is required.",
        ),
        (
            lambda x: scalar.loop([], lambda: x > 1, lambda: (), 1)[0],
            ValueError,
            "loop: the state is empty. At least one value is required.",
        ),
    ],
)
def test_mistakes_are_named(value, error, message):
    with pytest.raises(error) as raised:
        composit.register("loops_mistaken", value=value, doc="", types="inexact")
        cnp.evaluate(cnp.loops_mistaken(np.float64(1.0)))
    assert message in str(raised.value)
