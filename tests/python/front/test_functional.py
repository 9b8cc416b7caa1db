"""grad, value_and_grad, vjp, jvp, vmap with JAX's signatures."""

import numpy as np
import pytest

import composit
from composit import numpy as cnp

X = np.linspace(-1, 1, 12).reshape(4, 3)
W = np.linspace(0.5, 2, 6).reshape(3, 2)


def loss(x, w):
    return cnp.sum(cnp.sin(x @ w))


def test_grad():
    (dw,) = [composit.grad(loss, argnums=1)(X, W)]
    np.testing.assert_allclose(composit.evaluate(dw), X.T @ np.cos(X @ W), rtol=1e-12)
    dx, dw = composit.evaluate(*composit.grad(loss, argnums=(0, 1))(X, W))
    np.testing.assert_allclose(dx, np.cos(X @ W) @ W.T, rtol=1e-12)
    value, _ = composit.value_and_grad(loss)(X, W)
    np.testing.assert_allclose(composit.evaluate(value), np.sin(X @ W).sum(), rtol=1e-12)


def test_grad_of_structures():
    def f(parameters):
        return cnp.sum(parameters["w"] * 2 + parameters["b"][0])

    gradient = composit.grad(f)({"w": W, "b": [W]})
    np.testing.assert_array_equal(composit.evaluate(gradient["w"]), np.full((3, 2), 2.0))
    np.testing.assert_array_equal(composit.evaluate(gradient["b"][0]), np.ones((3, 2)))


def test_second_derivative():
    second = composit.grad(composit.grad(lambda x: x * x * x))
    assert composit.evaluate(second(np.float64(2))) == 12


def test_vjp_and_jvp():
    value, pullback = composit.vjp(cnp.sin, X)
    (gradient,) = pullback(cnp.ones_like(value))
    np.testing.assert_allclose(composit.evaluate(gradient), np.cos(X), rtol=1e-12)
    value, tangent = composit.jvp(cnp.sin, (X,), (2 * X,))
    np.testing.assert_allclose(composit.evaluate(tangent), 2 * X * np.cos(X), rtol=1e-12)


def test_vmap():
    batched = composit.vmap(lambda x, w: x @ w, in_axes=(0, None))
    np.testing.assert_allclose(composit.evaluate(batched(X, W)), X @ W, rtol=1e-12)
    with pytest.raises(ValueError, match="in_axes has 1 entries for 2 arguments"):
        composit.vmap(lambda x, w: x @ w, in_axes=(0,))(X, W)


def test_grad_needs_a_scalar():
    with pytest.raises(TypeError, match=r"\[test_functional.py:\d+\]$"):
        composit.grad(lambda x: x)(X)
