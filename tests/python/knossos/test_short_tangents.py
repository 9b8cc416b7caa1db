"""Forward derivatives of arrays say things once, and the values in derivatives are the function's,
to the bit."""

# ruff: noqa: F821

import math

import numpy as np
import pytest

import composit.numpy as cnp
from composit import _core, knossos
from composit.knossos import Tensor

RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=6)


@knossos.register
def gated(x: "Tensor[float, n]", w: "Tensor[float, n]") -> "Tensor[float, n]":
    gate = cnp.sigmoid(w * x)
    change = np.tanh(x)
    return gate * change + gate


@knossos.register
def squares(x: "Tensor[float, n]") -> float:
    residuals = x - 1.0
    return np.sum(residuals * residuals)


@knossos.register
def of_neighbours(x: "Tensor[float, n]") -> float:
    """Elements of the iteration before are not of this one."""
    y = np.zeros(len(x))
    total = 0.0
    for i in range(1, len(x)):
        y[i] = x[i] * x[i] + y[i - 1]
        z = y[i]
        total += z * z
    return total


@knossos.register
def of_one_place(x: "Tensor[float, n]") -> float:
    """One element that all iterations add to."""
    y = np.zeros(1)
    total = 0.0
    for i in range(len(x)):
        y[0] += x[i]
        total += y[0] * x[i]
    return total


@pytest.mark.parametrize("kernel", [squares, of_neighbours, of_one_place])
def test_beside_differences(kernel):
    kernel = knossos.register(kernel.__wrapped__)
    for along in np.eye(len(X)):
        step = 1e-6 * along
        expected = (kernel(X + step) - kernel(X - step)) / 2e-6
        assert math.isclose(kernel.jvp(X, along), expected, rel_tol=1e-6, abs_tol=1e-8)
    compiled = kernel.jvp(X, np.ones(len(X)))
    kernel.jvp._use(_core.procedure.interpreted(kernel.jvp.procedure()))
    assert kernel.jvp(X, np.ones(len(X))) == compiled


def test_loops_are_joined_and_functions_computed_once():
    w, along, across = RANDOM.normal(size=(3, 6))
    step = 1e-6
    expected = gated(X + step * along, w + step * across)
    expected = (expected - gated(X - step * along, w - step * across)) / (2 * step)
    np.testing.assert_allclose(gated.jvp(X, w, along, across), expected, rtol=1e-6, atol=1e-9)
    source = gated.jvp.procedure().source
    assert source.count("sigmoid_float64(") == source.count("tanh_float64(") == 1
    assert source.count("for (") == 1
    assert "const double gate_value = sigmoid_float64(" in source
    assert "(2.0 * (x[i] - 1.0))" in squares.jvp.procedure().source


@knossos.register
def added_in_turns(x: "Tensor[float, n]") -> float:
    """Whose branches depend on the order of the additions."""
    y = x.copy()
    total = 0.0
    for i in range(len(x)):
        y[i] += 1e16
        y[i] += 1.0
        y[i] += -1e16
    for i in range(len(x)):
        if y[i] > 0.5:
            total += y[i] * y[i]
    return total


def test_derivatives_add_in_the_order_of_the_function():
    x = np.array([1.0, 3.0, 0.7])
    assert added_in_turns(x) == added_in_turns.__wrapped__(x) == 16.0
    assert list(added_in_turns.grad(x)) == [0.0, 8.0, 0.0]
    assert [added_in_turns.jvp(x, each) for each in np.eye(3)] == [0.0, 8.0, 0.0]


@knossos.register
def of_signs(x: "Tensor[float, n]") -> float:
    """0 + -0 is 0, of which 1 takes the sign."""
    y = np.zeros(len(x))
    total = 0.0
    for i in range(len(x)):
        y[i] += -0.0 * (x[i] * x[i])
    for i in range(len(x)):
        total += math.copysign(1.0, y[i]) * x[i]
    return total


def test_derivatives_have_the_signs_of_the_functions_zeros():
    x = np.array([1.0, 2.0])
    assert of_signs(x) == of_signs.__wrapped__(x) == 3.0
    assert list(of_signs.grad(x)) == [1.0, 1.0]
    assert of_signs.jvp(x, np.array([1.0, 10.0])) == 11.0
