"""Tuples, NamedTuples and dataclasses of arrays, as arguments and results."""

# ruff: noqa: F821

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pytest

import composit
from composit import knossos
from composit.knossos import Tensor


class Layer(NamedTuple):
    weight: "Tensor[float, n, m]"
    bias: "Tensor[float, n]"
    scale: float


@dataclass
class Pair:
    first: "Tensor[float, k]"
    second: "tuple[Tensor[float, k], float]"


def applied(layer: Layer, x: "Tensor[float, m]") -> "Tensor[float, n]":
    return np.tanh(layer.weight @ x + layer.bias) * layer.scale


@knossos.register
def loss(layer: Layer, x: "Tensor[float, m]") -> float:
    y = applied(layer, x)
    return np.sum(y * y) + layer.bias[0]


@knossos.register
def both(layer: Layer, x: "Tensor[float, m]") -> Pair:
    y = applied(layer, x)
    return Pair(y * 2.0, (y, x[0]))


@knossos.register
def combined(p: Pair) -> float:
    a = 0.0
    for i in range(len(p.first)):
        a += p.first[i] * p.second[0][i] ** 2
    return a * p.second[1]


@knossos.register
def crossed(x: "Tensor[float, n]") -> "tuple[Tensor[float, n], float, Tensor[float, n]]":
    y = np.sin(x)
    return y * 2.0, x[0], y


RANDOM = np.random.default_rng(0)
LAYER = Layer(RANDOM.normal(size=(2, 3)), RANDOM.normal(size=2), 0.7)
X = RANDOM.normal(size=3)


def complex_steps(function, arguments):
    """The gradient with respect to each float and array of `arguments`."""
    found = []
    for k, each in enumerate(arguments):
        gradient = np.empty(np.shape(each))
        for place in np.ndindex(gradient.shape):
            moved = [np.asarray(value, complex) for value in arguments]
            moved[k][place] += 1e-30j
            gradient[place] = np.imag(function(*moved)) / 1e-30
        found.append(gradient)
    return found


def test_arguments():
    assert loss(LAYER, X) == pytest.approx(loss.__wrapped__(LAYER, X), rel=1e-14)
    pair = Pair(X, (X[::-1].copy(), 3.0))
    assert combined(pair) == pytest.approx(combined.__wrapped__(pair), rel=1e-14)
    with pytest.raises(TypeError, match="parts"):
        loss(LAYER[:2], X)


def test_gradients_are_of_the_parts_one_by_one():
    found = loss.grad(LAYER, X)
    wanted = complex_steps(lambda w, b, s, x: loss.__wrapped__(Layer(w, b, s), x), [*LAYER, X])
    assert len(found) == 4
    for a, b in zip(found, wanted, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-14)
    parts = X, X[::-1].copy(), 3.0
    wanted = complex_steps(lambda a, b, s: combined.__wrapped__(Pair(a, (b, s))), parts)
    found = combined.grad(Pair(parts[0], parts[1:]))
    # Numbers and arrays in the order of the record's fields.
    for a, b in zip(found, wanted, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-14)


def test_results():
    made, wanted = both(LAYER, X), both.__wrapped__(LAYER, X)
    assert isinstance(made, Pair)
    np.testing.assert_allclose(made.first, wanted.first, rtol=1e-14)
    np.testing.assert_allclose(made.second[0], wanted.second[0], rtol=1e-14)
    assert made.second[1] == X[0]


def test_array_results_stand_in_their_order():
    """A result that was made before another one, and is returned after it."""
    first, number, second = crossed(X)
    np.testing.assert_allclose(first, 2 * np.sin(X), rtol=1e-14)
    np.testing.assert_allclose(second, np.sin(X), rtol=1e-14)
    assert number == X[0]
    zero, one = np.zeros(3), np.ones(3)
    np.testing.assert_allclose(crossed.vjp(X, one, 0.0, zero), 2 * np.cos(X), rtol=1e-14)
    np.testing.assert_allclose(crossed.vjp(X, zero, 0.0, one), np.cos(X), rtol=1e-14)
    lazy = composit.evaluate(*crossed(composit.asarray(X)))
    for a, b in zip(lazy, (first, number, second), strict=True):
        assert np.asarray(a).tobytes() == np.asarray(b).tobytes()


def test_nodes_of_graphs():
    tensors = Layer(*(composit.asarray(each) for each in LAYER))
    gradient = composit.grad(lambda w: loss(Layer(w, *tensors[1:]), composit.asarray(X)))
    found = composit.evaluate(gradient(tensors.weight))
    np.testing.assert_array_equal(found, loss.grad(LAYER, X)[0])


def test_extents_of_parts_must_agree():
    with pytest.raises(ValueError, match="shape"):
        loss(Layer(np.ones((2, 3)), np.ones(3), 1.0), X)


def test_a_name_stands_for_a_tuple_with_an_array():
    @knossos.register
    def named(p: Pair) -> float:
        q = p.second
        if q[1] > 0.0:
            q = (q[0] * 2.0, q[1])
        return q[0][1] + q[1]

    for by in (1.0, -1.0):
        assert named(Pair(X, (X, by))) == X[1] * (2.0 if by > 0.0 else 1.0) + by
