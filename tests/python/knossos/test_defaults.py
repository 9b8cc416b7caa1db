"""Arguments with defaults: numbers that calls may leave out."""

# ruff: noqa: F821

import inspect

import numpy as np
import pytest
import torch
from torch import nn

import composit
import composit.torch
from composit import cg, knossos
from composit.knossos import Tensor


def leaky(x: float, slope: float = 0.01, shift: int = 0, is_even: bool = False) -> float:
    if is_even and x < 0.0:
        return -slope * x + shift
    return slope * x + shift if x < 0.0 else x + shift


def power(x: float, n: int = 3) -> float:
    return 1.0 if n == 0 else x * power(x, n - 1)


def decayed(x: Tensor[float, "n"], rate: float = 0.5, k: int = 2) -> Tensor[float, "n"]:
    total = np.zeros(len(x))
    state = 0.0
    for i in range(len(x)):
        state = rate * state + x[i] ** k
        total[i] = leaky(state) + leaky(-state, shift=1)
    return total


def of_both(x: Tensor[float, "n"], s: float) -> float:
    return np.sum(decayed(x)) + np.sum(decayed(x, k=1)) + power(s) + power(n=2, x=s)


def shifted(x: float, eps: float = np.finfo(float).eps, k: int = np.int64(2)) -> float:
    return (x + eps) * k


CALLS = [
    (shifted, (1.0,), {}),
    (leaky, (-2.0,), {}), (leaky, (-2.0, 0.5), {}), (leaky, (-2.0,), {"shift": 1}),
    (leaky, (-2.0,), {"is_even": True}), (leaky, (), {"x": -2.0, "is_even": True}),
    (decayed, (np.arange(4.0),), {}), (decayed, (np.arange(4.0), 0.25), {}),
    (decayed, (np.arange(4.0),), {"k": 3}), (of_both, (np.arange(4.0), 1.5), {}),
]  # fmt: skip


@pytest.mark.parametrize("function, arguments, named", CALLS)
def test_values_are_those_of_python(function, arguments, named):
    kernel = knossos.register(function)
    for _ in range(2):  # the second call takes the fast way
        assert np.array_equal(kernel(*arguments, **named), function(*arguments, **named))
    assert inspect.signature(kernel) == inspect.signature(function)


def test_arrays_tensors_and_nodes():
    kernel = knossos.register(leaky)
    x = np.array([-2.0, -0.5, 3.0])
    expected = np.array([leaky(each) for each in x])
    assert np.array_equal(kernel(x), expected)
    assert np.array_equal(composit.evaluate(kernel(composit.asarray(x))), expected)
    tensor = torch.from_numpy(x).requires_grad_()
    made = nn.Sequential(kernel.nnModule)(tensor)
    made.sum().backward()
    assert np.array_equal(made.detach(), expected)
    assert np.allclose(tensor.grad, [0.01, 0.01, 1])
    module = cg.Module.build("m", lambda self, x: kernel(x), cg.Variable("x"))
    result = module(x)
    result.back()
    assert np.allclose(result.grad(module.input("x")), np.diag([0.01, 0.01, 1]))


def test_derivatives_take_all_arguments_or_leave_out_defaults():
    kernel = knossos.register(decayed)
    x = np.arange(1.0, 4.0)
    dx, drate = kernel.vjp(x, 0.5, 2, np.ones(3))
    step = 1e-6
    moved = (decayed(x, 0.5 + step).sum() - decayed(x, 0.5 - step).sum()) / (2 * step)
    assert np.isclose(drate, moved) and dx.shape == (3,)
    vjp = knossos.register(leaky).vjp
    assert vjp(-1.0, 1.0) == vjp(-1.0, 0.01, 0, False, 1.0) == (0.01, -1.0)
    assert vjp(-1.0, 0.5, 1.0) == vjp(-1.0, 0.5, 0, False, 1.0)
    with pytest.raises(TypeError, match=r"leaky_vjp: got 1 arguments\. 5 are required\."):
        vjp(1.0)
    with pytest.raises(TypeError, match=r"decayed: got 0 arguments\. 3 are required\."):
        kernel()
    with pytest.raises(TypeError, match=r"leaky: missing a required argument: 'x'"):
        knossos.register(leaky)(slope=2.0)


def wrong_kind(x: float, n: int = 2.0) -> float:
    return x * n


ONES = np.ones(2)


def of_an_array(x: Tensor[float, "n"] = ONES) -> float:
    return x[0]


def calls_without(x: float) -> float:
    return leaky(slope=x)


def without_a_number(x: float, p: float = None) -> float:  # noqa: RUF013
    return x if p is None else x * p


@pytest.mark.parametrize(
    "function, text",
    [
        (without_a_number, "the default of p is None. A number of type float is required."),
        (wrong_kind, "the default of n is 2.0. A number of type int is required."),
        (of_an_array, "the default of x is array([1., 1.]). Numbers alone have defaults."),
        (calls_without, "leaky is given no x. A value for each of x, slope, shift, is_even"),
    ],
)
def test_other_defaults_are_refused(function, text):
    with pytest.raises(TypeError) as caught:
        kernel = knossos.register(function)
        kernel(*[1.0] * (function is without_a_number))
        kernel.procedure()
    assert text in str(caught.value) and str(caught.value).count("test_defaults.py:") == 1


def test_exports_take_all_arguments(tmp_path):
    knossos.register(leaky).export(tmp_path)
    header = (tmp_path / "leaky.hpp").read_text()
    assert "double leaky(double x, double slope, int64_t shift, bool is_even)" in header
