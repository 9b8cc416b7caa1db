"""Loops that nobody looks at are computed in pieces of equal structure, while they run."""

import time
import warnings

import numpy as np
import pytest

import composit
import composit.numpy as cnp
from composit import _core

DRAW = np.random.default_rng(0)
X, Y, W = DRAW.normal(size=(100, 7)), DRAW.normal(size=100), DRAW.normal(size=7)


def plans(run):
    """How many plans were made meanwhile."""
    before = _core.plan_statistics()[2]
    run()
    return _core.plan_statistics()[2] - before


def regression(np, steps):
    """Gradient descent that keeps its losses, and looks at nothing."""
    x, y, w, losses = np.asarray(X), np.asarray(Y), np.asarray(W).copy(), []
    for _ in range(steps):
        p = x.dot(w)
        losses.append(np.mean((y - p) ** 2) + 0.01 * np.linalg.norm(w))
        slope = -(y - p).dot(x) + 0.01 * np.sign(w)
        w -= 1e-4 * slope
    return w, losses


def swapped(np, steps):
    """Two states that change places, in one line each."""
    a, b = np.asarray(W) * 1, np.exp(np.asarray(Y[:50]))
    for _ in range(steps):
        a, b = a + np.sin(b[:7]) * 0.01, np.tanh(b) + a.mean()
    return a, [b.sum()]


def branching(np, steps):
    """Steps of two kinds."""
    a, kept = np.exp(np.asarray(Y)) * 0.01, []
    for i in range(steps):
        a = np.tanh(a) * 1.01
        if i % 3 == 0:
            a = a + np.maximum(a, 0.5) * 1e-3
            kept.append(a.max())
    return a, kept


@pytest.mark.parametrize("program", [regression, swapped, branching])
def test_the_values_are_those_of_looks(program):
    steps = 1500
    state, kept = program(cnp, steps)
    expected, beside = program(np, steps)
    np.testing.assert_allclose(np.asarray(state), expected, rtol=1e-9)
    np.testing.assert_allclose([float(k) for k in kept], beside, rtol=1e-9)
    # The same program with a look in each step has the same bits.
    again = {}

    class Looking:
        def __getattr__(self, name):
            function = getattr(cnp, name)

            def looked(*args):
                result = function(*args)
                np.asarray(result)
                return result

            return looked if callable(function) and name != "linalg" else function

    again, _ = program(Looking(), steps)
    assert np.asarray(again).tobytes() == np.asarray(state).tobytes()


def test_pieces_share_a_plan():
    regression(cnp, 500)
    made = []

    def run():
        made.append(regression(cnp, 2000))

    found = _core.plan_statistics()[1]
    assert plans(run) < 12
    assert _core.plan_statistics()[1] - found > 30
    state, losses = made[0]
    assert plans(lambda: [np.asarray(state), *map(float, losses)]) < 6


def test_thousands_of_steps_take_little_longer_than_their_operations():
    regression(cnp, 500)
    start = time.perf_counter()
    state, losses = regression(cnp, 4000)
    np.asarray(state), [float(loss) for loss in losses]
    assert time.perf_counter() - start < 2  # 0.4 s; one plan for all of it took 3


def test_graphs_are_what_they_were():
    w = cnp.asarray(W)

    def loss(v):
        for _ in range(300):
            v = v * 0.999 + cnp.sin(v) * 1e-3
        return cnp.sum(v)

    # As a graph of nodes that are known in part, and within a function that is differentiated.
    v = w
    for _ in range(300):
        v = v * 0.999 + cnp.sin(v) * 1e-3
    made = cnp.sum(v)
    assert len(made.graph) > 1200
    slope = composit.chain_rule({made: cnp.ones(())}, [w])[0]
    assert np.asarray(slope).tobytes() == np.asarray(composit.grad(loss)(w)).tobytes()


def test_large_arrays_wait_for_a_look():
    a = cnp.exp(cnp.ones(20_000))

    def build():
        nonlocal a
        for _ in range(1200):
            a = cnp.tanh(a) + 0.5

    assert plans(build) == 0
    assert float(a[0]) == pytest.approx(1.3, abs=0.1)


def test_what_is_traced_waits():
    w = cnp.exp(cnp.asarray(Y))
    seen = []

    def function(x):
        v = w
        for _ in range(500):
            v = cnp.tanh(v) + 0.5
        seen.append(v)
        return x + v

    assert plans(lambda: composit.compile(function, composit.placeholder("x", (100,)))) == 0


def test_warnings_are_those_of_numpy():
    def program(np, zero):
        a, kept = np.exp(np.asarray(Y)), []
        for i in range(400):
            a = np.tanh(a) + 0.5
            if i == 300:
                kept.append(a / zero)
        return a, kept

    caught = []
    for library in (np, cnp):
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            a, kept = program(library, library.asarray(np.zeros(100)))
            np.asarray(a), np.asarray(kept[0])
        caught.append([str(w.message).partition(" [")[0] for w in said])
    assert caught[0] == caught[1] == ["divide by zero encountered in divide"]
