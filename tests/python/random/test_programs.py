"""Draws inside programs: the same bits from every back end, with any number of threads, batched,
compiled with the key as data, exported; and their derivatives."""

import subprocess

import numpy as np
import pytest

import composit
import composit.numpy as cnp
from composit import _core, random

DRAWS = {
    "bits": lambda key: random.bits(key, (3, 700), "uint64"),
    "uniform": lambda key: random.uniform(key, (3, 700), minval=-1, maxval=2.5),
    "uniform float64": lambda key: random.uniform(key, (2100,), "float64"),
    "normal": lambda key: random.normal(key, (3, 700)),
    "truncated_normal": lambda key: random.truncated_normal(key, -1.5, 4, (2100,)),
    "exponential": lambda key: random.exponential(key, (2100,), "float64"),
    "laplace": lambda key: random.laplace(key, (2100,)),
    "logistic": lambda key: random.logistic(key, (2100,)),
    "gumbel": lambda key: random.gumbel(key, (2100,)),
    "bernoulli": lambda key: random.bernoulli(key, 0.3, (2100,)),
    "rademacher": lambda key: random.rademacher(key, (2100,), "float32"),
    "randint": lambda key: random.randint(key, (2100,), -5, 1000),
    "randint int32": lambda key: random.randint(key, (2100,), -5, 1000, "int32"),
    "categorical": lambda key: random.categorical(key, np.linspace(-1, 1, 700).reshape(100, 7)),
    "split": lambda key: random.split(key, 100),
    "fold_in": lambda key: random.fold_in(key, 12),
}


def same(a, b):
    assert a.dtype == b.dtype and a.shape == b.shape
    assert a.tobytes() == b.tobytes()


def everything(key):
    return [draw(key) for draw in DRAWS.values()]


def test_back_ends_and_threads_give_the_same_bits():
    expected = composit.evaluate(*everything(random.key(5)))
    try:
        for threads in (1, 2, 4):
            composit.set_threads(threads)
            for backend in ("interpreter", "cpp"):
                compiled = composit.compile(everything, random.key(0), backend=backend)
                for a, b in zip(expected, compiled(np.uint64(5))):
                    same(a, b)
    finally:
        composit.set_threads(None)


def test_export(tmp_path):
    def draw(key):
        return random.normal(key, (33,)), random.randint(key, (9,), 0, 100)

    composit.compile(draw, random.key(0), name="sample").export(tmp_path)
    command = "c++ -O2 -std=c++17 -Wall -Wextra -Werror sample.cpp main.cpp -o program"
    subprocess.run(command.split(), cwd=tmp_path, check=True)
    np.array(77, "uint64").tofile(tmp_path / "key")
    subprocess.run(["./program", "sample_", "key", "x", "n"], cwd=tmp_path, check=True)
    x, n = composit.evaluate(*draw(random.key(77)))
    same(np.fromfile(tmp_path / "x", "float32"), x)
    same(np.fromfile(tmp_path / "n", "int64"), n)


@pytest.mark.parametrize("name", DRAWS)
def test_vmap_over_keys(name):
    draw, keys = DRAWS[name], random.split(random.key(1), 3)
    batched = composit.evaluate(composit.vmap(draw)(keys))
    for key, row in zip(composit.evaluate(keys), batched):
        same(row, composit.evaluate(draw(key)))


def test_a_loop_plans_once():
    key = random.key(0)
    composit.evaluate(random.normal(key, (5,)))
    _, hits, misses = _core.plan_statistics()
    seen = set()
    for step in range(20):
        seen.add(composit.evaluate(random.normal(random.key(step), (5,))).tobytes())
    _, hits_after, misses_after = _core.plan_statistics()
    assert len(seen) == 20
    assert (hits_after, misses_after) == (hits + 20, misses)


def test_text_form():
    draw = random.normal(random.key(3), (2, 2)) * 2
    text = _core.print_graph([draw])
    (parsed,) = _core.parse_graph(text)
    same(composit.evaluate(parsed), composit.evaluate(draw))


def test_derivatives_pass_through_parameters():
    key = random.key(2)

    def loss(low, high):
        return cnp.sum(random.uniform(key, (1000,), "float64", low, high))

    unit = composit.evaluate(random.uniform(key, (1000,), "float64"))
    low, high = composit.evaluate(*composit.grad(loss, (0, 1))(np.float64(-1), np.float64(2)))
    np.testing.assert_allclose([low, high], [(1 - unit).sum(), unit.sum()])

    def truncated(bound):
        return cnp.sum(random.truncated_normal(key, bound, 2.0, (100,), "float64"))

    step = 1e-6
    slope = composit.evaluate(composit.grad(truncated)(np.float64(-0.5)))
    ends = [composit.evaluate(truncated(np.float64(-0.5 + s))) for s in (-step, step)]
    np.testing.assert_allclose(slope, (ends[1] - ends[0]) / (2 * step), rtol=1e-6)


def test_draws_have_no_derivative_with_respect_to_keys():
    def loss(scale, key):
        return cnp.sum(scale * random.normal(key, (8,), "float64"))

    gradient = composit.grad(loss)(np.float64(3), random.key(4))
    expected = composit.evaluate(random.normal(random.key(4), (8,), "float64")).sum()
    np.testing.assert_allclose(composit.evaluate(gradient), expected)
