"""A trace leaves no trace; functions that are differentiated answer looks."""

import numpy as np
import pytest
import torch

import composit
import composit.numpy as cnp
import composit.torch as ours
from composit import flashlight

ONES = np.ones((2, 3))


def writing(buffer):
    def function(x):
        buffer[0] = x.sum()
        return x * 2

    return function


@pytest.mark.parametrize(
    "trace",
    [
        lambda f: composit.compile(f)(ONES),
        lambda f: composit.vmap(f)(ONES),
        lambda f: composit.compile(composit.grad(lambda x: f(x).sum()))(ONES),
        lambda f: composit.fori_loop(0, 3, lambda i, x: f(x), ONES),
        lambda f: composit.scan(lambda c, x: (f(c), x), ONES, ONES),
        lambda f: composit.vmap(lambda x: composit.compile(f)(x))(ONES),
    ],
    ids=["compile", "vmap", "compiled grad", "fori_loop", "scan", "compile in vmap"],
)
def test_what_is_outside_is_not_written(trace):
    buffer = cnp.zeros(3)
    with pytest.raises(
        ValueError,
        match=r"a value of a function that is traced is written into an array 'zeros\(\(3,\)\)' "
        r"from outside of it, made at test_traces\.py:\d+\. It has no elements yet: return it, or "
        r"write into an array that the function makes\. \[test_traces\.py:\d+\]",
    ):
        trace(writing(buffer))
    assert np.asarray(buffer).tolist() == [0, 0, 0]


def test_what_is_made_within_is_written():
    def function(x):
        made = cnp.zeros(3)
        made[0] = x.sum()
        made += x[0]
        return made

    expected = [7, 1, 1]
    assert composit.compile(function)(ONES).tolist() == expected
    assert np.asarray(composit.vmap(function)(ONES[None])).tolist() == [expected]


def test_arguments_are_not_written():
    x = cnp.asarray(ONES)

    def function(x):
        x += 1
        return x.sum()

    assert np.asarray(composit.grad(function)(x)).tolist() == ONES.tolist()
    assert float(composit.compile(function)(x)) == 12
    assert np.asarray(x).tolist() == ONES.tolist()


def test_plain_placeholders_are_written_anywhere():
    x, y = composit.placeholder("x", (), "float64"), cnp.zeros(2)
    y[0] = x
    assert composit.evaluate(y, {x: np.array(3.0)}).tolist() == [3, 0]


def branching(x):
    if x.sum() > 0:
        return (x * x).sum()
    total = x[0] * 0
    for value in x:
        total = total + value if value < -1 else total
    return total


@pytest.mark.parametrize("x, slope", [([1.0, 2.0], [2, 4]), ([-3.0, 1.0], [1, 0])])
def test_differentiated_functions_answer_looks(x, slope):
    x = np.array(x)
    assert np.asarray(composit.grad(branching)(x)).tolist() == slope
    value, gradient = composit.value_and_grad(branching)(x)
    assert float(value) == float(branching(cnp.asarray(x)))
    assert np.asarray(gradient).tolist() == slope
    value, pull = composit.vjp(branching, x)
    assert np.asarray(pull(np.array(2.0))[0]).tolist() == [2 * s for s in slope]
    _, tangent = composit.jvp(branching, (x,), (np.array([1.0, 10.0]),))
    assert float(tangent) == slope[0] + 10 * slope[1]
    inner = composit.grad(lambda x: (composit.grad(branching)(x) * x).sum())
    assert np.asarray(inner(x)).tolist() == [s * 2 if x.sum() > 0 else s for s in slope]


def test_compiled_gradients_do_not():
    with pytest.raises(ValueError, match="is a placeholder"):
        composit.compile(composit.grad(branching))(np.ones(2))


class Counting(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = torch.nn.BatchNorm1d(3)
        self.register_buffer("count", torch.zeros(()))
        self.seen, self.calls = None, 0

    def forward(self, x):
        self.seen, self.calls = x, self.calls + 1
        self.last = x.sum()
        self.count = self.count + 1
        return self.norm(x)


def test_modules_of_torch_are_as_they_were():
    module = Counting()
    count, mean = module.count, module.norm.running_mean.clone()
    traced = flashlight.trace(module, torch.ones(4, 3))
    assert module.seen is None and module.calls == 0 and not hasattr(module, "last")
    assert module.count is count and float(count) == 0
    assert torch.equal(module.norm.running_mean, mean)
    assert np.allclose(np.asarray(traced(np.ones((4, 3), "float32"))), 0)
    with pytest.raises(RuntimeError):
        flashlight.trace(module, torch.ones(4, 5))
    assert module.seen is None and module.calls == 0


def test_torch_vmap_writes_nothing_outside():
    w = ours.zeros(3)
    with pytest.raises((ValueError, RuntimeError), match="from outside of it"):
        ours.vmap(lambda x: w.add_(x))(ours.ones(2, 3))
    assert w.tolist() == [0, 0, 0]
