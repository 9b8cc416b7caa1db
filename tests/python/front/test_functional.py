"""grad, value_and_grad, vjp, jvp, vmap with JAX's signatures."""

import re

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


def with_aux(x, w):
    scores = x @ w
    return cnp.sum(cnp.sin(scores)), {"scores": scores, "name": "dense", "nothing": None}


def check_aux(aux):
    assert (aux["name"], aux["nothing"]) == ("dense", None)
    np.testing.assert_allclose(composit.evaluate(aux["scores"]), X @ W, rtol=1e-12)


def test_has_aux():
    (value, aux), gradient = composit.value_and_grad(with_aux, argnums=1, has_aux=True)(X, W)
    assert composit.evaluate(value) == composit.evaluate(loss(X, W))
    expected = composit.evaluate(composit.grad(loss, argnums=1)(X, W))
    np.testing.assert_array_equal(composit.evaluate(gradient), expected)
    check_aux(aux)
    gradient, aux = composit.grad(with_aux, argnums=(1,), has_aux=True)(X, W)
    np.testing.assert_array_equal(composit.evaluate(gradient[0]), expected)
    check_aux(aux)
    value, pullback, aux = composit.vjp(with_aux, X, W, has_aux=True)
    np.testing.assert_array_equal(composit.evaluate(pullback(np.float64(1))[1]), expected)
    check_aux(aux)
    value, tangent, aux = composit.jvp(with_aux, (X, W), (X, W), has_aux=True)
    assert composit.evaluate(tangent) == composit.evaluate(composit.jvp(loss, (X, W), (X, W))[1])
    check_aux(aux)


def test_has_aux_of_python_numbers_and_of_nested_gradients():
    def f(x):
        return x * x * x, x

    def slope(x):
        return composit.grad(f, has_aux=True)(x)

    second, first = composit.grad(slope, has_aux=True)(2.0)
    assert composit.evaluate(second) == 12 and composit.evaluate(first) == 2


def test_gradients_of_one_tuple_of_argnums_are_a_tuple():
    assert isinstance(composit.grad(loss, argnums=[1])(X, W), tuple)
    assert isinstance(composit.grad(loss, argnums=(1,))(X, W), tuple)
    assert composit.grad(loss, argnums=np.int64(1))(X, W).shape == (3, 2)


def test_vmap_of_structures():
    def f(p, x):
        return {"y": x @ p["w"] + p["b"][0], "w": p["w"]}

    p = {"w": W, "b": [X[:, :2]]}
    batched = composit.vmap(f, in_axes=({"w": None, "b": 0}, 0), out_axes={"y": 1, "w": None})
    made = batched(p, X)
    np.testing.assert_allclose(composit.evaluate(made["y"]), (X @ W + X[:, :2]).T, rtol=1e-12)
    assert made["w"].shape == W.shape
    first, second = composit.vmap(lambda x: (x * 2, (x, 1.0)), out_axes=(0, -1))(X)
    np.testing.assert_array_equal(composit.evaluate(first), X * 2)
    np.testing.assert_array_equal(composit.evaluate(second[0]), X.T)
    assert second[1].shape == (4,)


def test_vmap_of_named_arguments():
    made = composit.vmap(lambda x, y: x + y, in_axes=(1,))(X, y=X.T)
    np.testing.assert_array_equal(composit.evaluate(made), 2 * X.T)


def test_vmap_axis_size():
    made = composit.vmap(lambda x: cnp.sum(x), in_axes=None, axis_size=5)(X)
    np.testing.assert_array_equal(
        composit.evaluate(made), np.full(5, composit.evaluate(cnp.sum(X)))
    )
    np.testing.assert_array_equal(
        composit.evaluate(composit.vmap(cnp.sin, axis_size=4)(X)), composit.evaluate(cnp.sin(X))
    )


def pair(x):
    return cnp.sum(x), x


def nothing(x):
    return None


REFUSED = [
    (
        TypeError,
        lambda: composit.grad(pair)(X),
        "Gradient only defined for scalar-output functions. Output was a tuple of 2. "
        "A function of (value, auxiliary data) needs has_aux=True.",
    ),
    (
        TypeError,
        lambda: composit.value_and_grad(nothing)(X),
        "Gradient only defined for scalar-output functions. Output was None. "
        "A function of (value, auxiliary data) needs has_aux=True.",
    ),
    (
        TypeError,
        lambda: composit.grad(cnp.sum, has_aux=True)(X),
        "grad: with has_aux=True the function returned a tensor of shape (). "
        "A pair, (result, auxiliary data), is required.",
    ),
    (
        TypeError,
        lambda: composit.grad(cnp.sum, "a"),
        "grad: argnums is 'a'. An integer or a tuple of integers is required.",
    ),
    (
        ValueError,
        lambda: composit.value_and_grad(cnp.sum, 1)(X),
        "value_and_grad: argnums 1 for 1 arguments. They must be in range.",
    ),
    (
        TypeError,
        lambda: composit.vjp(pair, X)[1](X),
        "vjp: the cotangent has the structure *, the function's value (*, *). They must be equal.",
    ),
    (
        TypeError,
        lambda: composit.jvp(cnp.sin, 3, 4),
        "jvp: primals is 3. A tuple or list, with one entry for each argument, is required.",
    ),
    (
        TypeError,
        lambda: composit.jvp(cnp.sin, (X,), (X, X)),
        "jvp: primals have the structure (*,), tangents (*, *). They must be equal.",
    ),
    (
        TypeError,
        lambda: composit.compile(nothing, X),
        "compile: nothing returned None. A tensor, or a tuple, list or dictionary of them, is "
        "required.",
    ),
    (
        TypeError,
        lambda: composit.vmap(nothing)(X),
        "vmap: nothing returned None. A tensor, or a tuple, list or dictionary of them, is "
        "required.",
    ),
    (
        NotImplementedError,
        lambda: composit.vmap(cnp.sin, axis_name="batch"),
        "vmap: axis_name='batch' is not supported: there are no collective operations. "
        "Leave it out.",
    ),
    (
        ValueError,
        lambda: composit.vmap(lambda x: x, in_axes=((0, 1),))([X]),
        "vmap: in_axes: (0, 1) is given for the structure [*]. One that begins the same is "
        "required.",
    ),
    (
        TypeError,
        lambda: composit.vmap(cnp.sin, in_axes="a")(X),
        "vmap: in_axes: 'a' is not an axis. An integer, None, or a structure of them is required.",
    ),
    (
        ValueError,
        lambda: composit.vmap(cnp.sin, out_axes=(0, None))(X),
        "vmap: out_axes: (0, None) is given for the structure *. One that begins the same is "
        "required.",
    ),
    (
        ValueError,
        lambda: composit.vmap(cnp.sin, out_axes=None)(X),
        "vmap: out_axes is None for a result of shape (3,) that depends on a mapped argument. "
        "An axis is required.",
    ),
    (
        np.exceptions.AxisError,
        lambda: composit.vmap(cnp.sin, out_axes=2)(X),
        "vmap: out_axes 2 is out of bounds for a result of 2 dimensions. Axes are -2 to 1.",
    ),
    (
        ValueError,
        lambda: composit.vmap(cnp.sin, in_axes=None)(X),
        "vmap must have at least one non-None value in in_axes.",
    ),
    (
        ValueError,
        lambda: composit.vmap(cnp.sin, axis_size=5)(X),
        "vmap: axis_size is 5, an argument of shape (4, 3) is mapped over axis 0. They must have "
        "the same length.",
    ),
    (
        TypeError,
        lambda: composit.vmap(cnp.sin, axis_size="a"),
        "vmap: axis_size is 'a'. An integer from 0, or None, is required.",
    ),
]


@pytest.mark.parametrize(
    ("error", "call", "text"), REFUSED, ids=[text[:40] for _, _, text in REFUSED]
)
def test_refusals(error, call, text):
    with pytest.raises(error) as caught:
        call()
    end = r" \[test_functional\.py:\d+\]"
    assert re.fullmatch(re.escape(text) + end, str(caught.value)), str(caught.value)
