"""Derivatives take tuples and records whole, as their kernels do, or their leaves one by one; and
calls within kernels take NamedTuples apart."""

# ruff: noqa: F821

import dataclasses
import math
from typing import NamedTuple

import numpy as np
import pytest
import torch

import composit
from composit import knossos
from composit.knossos import Tensor


class Point(NamedTuple):
    x: float
    y: float


class Scaled(NamedTuple):
    p: Point
    k: int


class Layer(NamedTuple):
    weight: "Tensor[float, n]"
    bias: float


class Number(NamedTuple):
    value: float


@knossos.register
def turned(p: Point, a: float) -> Point:
    c, s = math.cos(a), math.sin(a)
    return Point(c * p.x - s * p.y, s * p.x + c * p.y)


@knossos.register
def norm(q: Scaled, a: float) -> float:
    return q.p.x * q.p.x * a + q.p.y * q.k


@knossos.register
def applied(layer: Layer, x: "Tensor[float, n]") -> float:
    return np.sum(layer.weight * x) + layer.bias


@knossos.register
def product(t: tuple[float, float], x: float) -> float:
    return t[0] * t[1] * x


@knossos.register
def squared(number: Number) -> float:
    return number.value * number.value


P = Point(1.0, 2.0)
Q = Scaled(P, 3)
W = np.array([1.0, 2.0])
SAME = [
    (lambda: norm.grad(Q, 2.0), lambda: norm.grad(1.0, 2.0, 3, 2.0)),
    (lambda: norm.grad(((1.0, 2.0), 3), 2.0), lambda: norm.grad(1.0, 2.0, 3, 2.0)),
    (lambda: norm.vjp(Q, 2.0, 0.5), lambda: norm.vjp(1.0, 2.0, 3, 2.0, 0.5)),
    (lambda: norm.jvp(Q, 2.0, 1.0, 0.5, 3.0), lambda: norm.jvp(1.0, 2.0, 3, 2.0, 1.0, 0.5, 3.0)),
    (lambda: norm.grad.vjp(Q, 2.0, (1.0, 0.0, 2.0)),
     lambda: norm.grad.vjp(1.0, 2.0, 3, 2.0, 1.0, 0.0, 2.0)),
    (lambda: turned.vjp(P, 0.5, P), lambda: turned.vjp(1.0, 2.0, 0.5, 1.0, 2.0)),
    (lambda: turned.vjp(1.0, 2.0, 0.5, P), lambda: turned.vjp(1.0, 2.0, 0.5, 1.0, 2.0)),
    (lambda: turned.jvp(P, 0.5, P, 0.1), lambda: turned.jvp(1.0, 2.0, 0.5, 1.0, 2.0, 0.1)),
    (lambda: product.grad((2.0, 3.0), 4.0), lambda: product.grad(2.0, 3.0, 4.0)),
    (lambda: product.grad([2.0, 3.0], 4.0), lambda: product.grad(2.0, 3.0, 4.0)),
    (lambda: product.vjp([2.0, 3.0], 4.0, 1.0), lambda: product.vjp(2.0, 3.0, 4.0, 1.0)),
    (lambda: squared.grad(Number(3.0)), lambda: squared.grad(3.0)),
    (lambda: squared.vjp(Number(3.0), 2.0), lambda: squared.vjp(3.0, 2.0)),
    (lambda: applied.vjp(Layer(W, 1.0), W, 2.0), lambda: applied.vjp(W, 1.0, W, 2.0)),
    (lambda: applied.jvp(Layer(W, 1.0), W, Layer(W, 0.0), W),
     lambda: applied.jvp(W, 1.0, W, W, 0.0, W)),
    (lambda: knossos.vmap(applied).vjp(Layer(W[None], 1.0), W[None], np.ones(1)),
     lambda: knossos.vmap(applied).vjp(W[None], 1.0, W[None], np.ones(1))),
]  # fmt: skip


@pytest.mark.parametrize("whole, leaves", SAME)
def test_records_stand_for_their_leaves(whole, leaves):
    for _ in range(2):  # the general way, then short ones
        np.testing.assert_equal(whole(), leaves())
        np.testing.assert_equal(whole(), leaves())


def test_records_of_arrays_and_tensors():
    ones = np.ones(2)
    np.testing.assert_array_equal(norm.grad(Scaled(Point(ones, ones), 3), 2.0)[0], [4.0, 4.0])
    tensors = Point(torch.ones(2), torch.ones(2))
    made = turned.vjp(tensors, torch.zeros(2), tensors)
    assert [each.tolist() for each in made] == [[1.0, 1.0], [1.0, 1.0], [0.0, 0.0]]


def test_what_does_not_fit():
    with pytest.raises(TypeError, match=r"norm_grad: got 3 arguments\. 4 are required"):
        norm.grad(Q)
    with pytest.raises(TypeError, match=r"norm_grad: .*, as the annotation says"):
        norm.grad(P, 2.0)


def length(x: float, y: float) -> float:
    return math.sqrt(x * x + y * y)


@knossos.register
def distance(p: Point, scale: float) -> float:
    return length(*p) * scale


def test_named_tuples_as_arguments_of_calls():
    assert distance(Point(3.0, 4.0), 2.0) == 10.0
    np.testing.assert_allclose(distance.grad(Point(3.0, 4.0), 2.0), (1.2, 1.6, 5.0))


class Span(NamedTuple):
    x: float
    y: float


@dataclasses.dataclass
class Place:
    x: float
    y: float


@dataclasses.dataclass
class Spot:
    x: float
    y: float


class Named(Point):
    """A point, which has methods."""


@knossos.register
def first(p: Point, a: float) -> float:
    return p.x * a - 10.0 * p.y


@knossos.register
def second(p: Place) -> float:
    return p.x - 10.0 * p.y


REFUSED = [
    (lambda: first(Span(1.0, 2.0), 1.0), r"first: p is Span\(x=1.0, y=2.0\). A Point or a tuple "
     r"of 2 is required, as the annotation says. \[test_whole_records.py:"),
    (lambda: first([1.0, 2.0], 1.0), r"first: p is \[1.0, 2.0\]. A Point or"),
    (lambda: first(np.ones(2), 1.0), r"first: p is array\(\[1., 1.\]\). A Point or"),
    (lambda: first({"x": 1.0, "y": 2.0}, 1.0), r"first: p is {.*}. A Point or"),
    (lambda: first(1.0, 1.0), r"first: p is 1.0. A Point or"),
    (lambda: first((1.0, 2.0, 3.0), 1.0), r"first: p is \(1.0, 2.0, 3.0\), of 3 parts. A Point or"),
    (lambda: first(a=1.0, p=Span(1.0, 2.0)), r"first: p is Span"),
    (lambda: first.grad(Span(1.0, 2.0), 1.0), r"first_grad: argument 0 is Span\(x=1.0, y=2.0\)."),
    (lambda: first.vjp({"x": 1.0, "y": 2.0}, 1.0, 1.0), r"first_vjp: argument 0 is {.*}. A Point"),
    (lambda: first.vjp(Spot(1.0, 2.0), 1.0, 1.0), r"first_vjp: argument 0 is .*Spot.*. A Point or"),
    (lambda: turned.vjp(P, 1.0, Spot(1.0, 2.0)), r"turned_vjp: argument 2 is .*Spot.*. A Point or"),
    (lambda: second.vjp((1.0, 2.0), 1.0), r"second_vjp: argument 0 is \(1.0, 2.0\). A Place is"),
    (lambda: norm(Scaled(Span(1.0, 2.0), 3), 1.0), r"norm: q.p is Span\(x=1.0, y=2.0\). A Point"),
    (lambda: second(Spot(1.0, 2.0)), r"second: p is .*Spot\(x=1.0, y=2.0\). A Place is required"),
    (lambda: second((1.0, 2.0)), r"second: p is \(1.0, 2.0\). A Place is required"),
    (lambda: second(Place), r"second: p is <class .*>. A Place is required"),
    (lambda: product({2.0: 0, 3.0: 1}, 1.0), r"product: t is {.*}. A tuple or list of 2 is requi"),
    (lambda: product({2.0, 3.0}, 1.0), r"product: t is {2.0, 3.0}. A tuple"),
    (lambda: product((v for v in (1.0, 2.0)), 1.0), r"product: t is <generator .*>. A tuple"),
    (lambda: product(b"ab", 1.0), r"product: t is b'ab'. A tuple or list of 2"),
    (lambda: product("ab", 1.0), r"product: t is 'ab'. A tuple or list of 2"),
    (lambda: product(2.0, 1.0), r"product: t is 2.0. A tuple or list of 2"),
    (lambda: product([1.0], 1.0), r"product: t is \[1.0\], of 1 parts. A tuple or list of 2"),
]  # fmt: skip


@pytest.mark.parametrize("call, text", REFUSED)
def test_records_are_of_the_class_of_the_annotation(call, text):
    """Others may have their fields in another order."""
    with pytest.raises(TypeError, match=text):
        call()


def test_what_stands_for_records():
    for given in (Point(2.0, 1.0), (2.0, 1.0), Named(2.0, 1.0)):
        assert first(given, 1.0) == -8.0
    assert second(Place(2.0, 1.0)) == -8.0
    for pair in ((2.0, 3.0), [2.0, 3.0], Point(2.0, 3.0), np.array([2.0, 3.0])):
        assert product(pair, 1.0) == 6.0
    assert product(torch.tensor([2.0, 3.0]), 1.0).item() == 6.0


@dataclasses.dataclass
class Linear:
    weight: "Tensor[float, n, m]"
    bias: "Tensor[float, n]"


@knossos.register
def linear(layer: Linear, x: "Tensor[float, m]") -> "Tensor[float, n]":
    return layer.weight @ x + layer.bias


@knossos.register
def doubled(layer: Linear) -> Linear:
    return Linear(2.0 * layer.weight, layer.bias + 1.0)


def test_dataclasses_are_compiled():
    layer, x = Linear(np.ones((2, 3)), np.arange(2.0)), np.arange(3.0)
    assert np.array_equal(linear.compile(layer, x)(layer, x), linear(layer, x))
    dy = np.ones(2)
    compiled = linear.vjp.compile(layer, x, dy)
    for one, two in zip(compiled(layer, x, dy), linear.vjp(layer, x, dy), strict=True):
        assert np.array_equal(one, two)
    made = doubled.compile(layer)(layer)
    assert isinstance(made, Linear) and np.array_equal(made.weight, 2 * layer.weight)
    place = Place(np.arange(3.0), np.ones(3))
    assert np.array_equal(second.compile(place)(place), second(place))


def test_gradients_of_dataclasses():
    layer, x = Linear(np.ones((2, 3)), np.arange(2.0)), np.arange(3.0)
    made = composit.grad(lambda layer: composit.sum(linear(layer, x)))(layer)
    assert isinstance(made, Linear)
    for one, two in zip((made.weight, made.bias), linear.vjp(layer, x, np.ones(2))[:2]):
        assert np.array_equal(one, two)
