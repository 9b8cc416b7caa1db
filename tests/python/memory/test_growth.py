"""Nothing grows while a training loop runs, evaluated or compiled."""

import gc
import resource
from pathlib import Path

import numpy as np
import pytest

import composit
import composit.numpy as cnp

ALLOWED = 4 << 20  # bytes; what the allocator and the plans of the first steps may still take


def resident():
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize()


def grown(step, state, warm_up, steps):
    """Bytes of memory that `steps` steps add after `warm_up` of them."""
    for _ in range(warm_up):
        state = step(*state)
    gc.collect()
    before = resident()
    for _ in range(steps):
        state = step(*state)
    gc.collect()
    return resident() - before


def loss(x, y, w):
    return cnp.mean((cnp.tanh(x @ w) - y) ** 2)


def arrays():
    draw = np.random.default_rng(0)
    return [draw.standard_normal(shape).astype("float32") for shape in ((8, 4), (8, 2), (4, 2))]


def test_compiled_step():
    x, y, w = arrays()
    gradient = composit.grad(lambda w: loss(x, y, w))
    compiled = composit.compile(lambda w: w - 0.1 * gradient(w), w, name="step")
    assert grown(lambda w: (compiled(w),), (w,), 1000, 100_000) < ALLOWED


def test_evaluated_step():
    x, y, w = arrays()
    gradient = composit.grad(lambda w: loss(x, y, w))

    def step(w):
        return (np.asarray(w - 0.1 * gradient(cnp.asarray(w))),)

    assert grown(step, (w,), 200, 3000) < ALLOWED


def test_evaluated_step_of_numbers_that_are_new_in_each():
    """Numbers have names, and are leaves: neither those nor their plans stay."""
    x, y, w = arrays()
    key = composit.random.key(0)

    def step(w, i):
        kept = composit.random.uniform(composit.random.fold_in(key, i), (8, 4), "float32")
        value = loss(cnp.where(kept > 0.1, x, 0), y, w)
        gradients = composit.chain_rule({value: value}, [w])
        (w,) = composit.optimize([w], gradients, composit.sgd_optimizer(1 / (i + 1)))
        return w, i + 1

    assert grown(step, (cnp.asarray(w), 0), 1000, 100_000) < ALLOWED


def test_compiled_loop():
    x, y, w = arrays()
    gradient = composit.grad(lambda w: loss(x, y, w))

    def train(w):
        return composit.fori_loop(0, 100, lambda i, w: w - 0.1 * gradient(w), w)

    compiled = composit.compile(train, w)
    assert grown(lambda w: (compiled(w),), (w,), 100, 3000) < ALLOWED


def test_evaluated_loop():
    w = arrays()[2]

    def step(w):
        return (np.asarray(composit.fori_loop(0, 5, lambda i, w: cnp.tanh(w), cnp.asarray(w))),)

    assert grown(step, (w,), 200, 2000) < ALLOWED


def test_graphs_that_nobody_evaluates_are_freed():
    x, y, w = (cnp.asarray(a) for a in arrays())

    def step():
        loss(x, y, w)
        return ()

    assert grown(step, (), 200, 20_000) < ALLOWED


def test_a_model_that_does_not_fit_is_refused_by_its_size():
    n = 1 << 23
    huge = cnp.zeros((n, 1), "float32") + cnp.zeros((1, n), "float32")
    with pytest.raises(MemoryError, match=rf"{4 * n * n}"):
        np.asarray(cnp.exp(huge) @ cnp.ones((n, 1), "float32"))


def test_tensors_of_one_value_take_no_memory_until_they_are_evaluated():
    for made in (cnp.ones((1 << 40,)), cnp.zeros((1 << 20, 1 << 20)), cnp.full((1 << 40,), 2.5)):
        assert made.size == 1 << 40
        assert np.asarray(made[..., :3].ravel()[:3]).shape == (3,)
        with pytest.raises(MemoryError, match=rf"{8 << 40} bytes"):
            np.asarray(made)
    made = cnp.ones((1 << 40,))
    assert made.describe() == "LazyTensor(ones((1099511627776,)): float64[1099511627776])"
    assert repr(made).startswith(f"{made.describe()} without values: OutOfMemoryError: ")
