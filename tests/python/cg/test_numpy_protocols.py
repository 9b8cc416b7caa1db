"""Functions of NumPy itself, given nodes, are the operators of their names."""

import operator

import numpy as np
import pytest

import composit.numpy as cnp
from composit import cg
from composit.cg import op

X = np.array([[3.0, 1.0], [0.5, 4.0]])

FUNCTIONS = {
    "sin": lambda x, w: np.sin(x),
    "multiply": lambda x, w: np.multiply(w, x),
    "array on the left": lambda x, w: X[0] * x,
    "number on the left": lambda x, w: np.float64(3.0) ** x,
    "where": lambda x, w: np.where(np.less(x, w), x, w),
    "sum": lambda x, w: np.sum(x * w, axis=0),
    "sum, keepdims": lambda x, w: np.sum(x, axis=1, keepdims=True),
    "concatenate": lambda x, w: np.concatenate([x, x * w], axis=1),
    "einsum": lambda x, w: np.einsum("ij,jk", x, x),
    "norm": lambda x, w: np.linalg.norm(x),
    "solve": lambda x, w: np.linalg.solve(x, X),
    "clip": lambda x, w: np.clip(x, 0.75, 2),
    "reshape": lambda x, w: np.reshape(x, (4,)),
    "dot": lambda x, w: np.dot(x, X),
    "amax": lambda x, w: np.amax(x),
    "shape": lambda x, w: x * np.shape(x)[0] + np.ndim(x) * np.size(x),
}


def module(function):
    class Model(cg.Module):
        def __init__(self):
            super().__init__(inputs=(cg.Variable("x"),), params=(cg.Parameter("w", 2.0),))

        def call(self, x):
            return function(x, self.param("w"))

    return Model()


@pytest.mark.parametrize("name", FUNCTIONS)
def test_values_are_numpys_and_derivatives_come_along(name):
    function = FUNCTIONS[name]
    model = module(function)
    result = model(X)
    expected = function(X, 2.0)
    assert np.array_equal(result.value, expected)
    result.back()
    slope = result.grad(model.input("x"))
    for index in np.ndindex(X.shape):
        step = np.zeros_like(X)
        step[index] = 1e-6
        difference = (function(X + step, 2.0) - function(X - step, 2.0)) / 2e-6
        assert np.allclose(slope[(..., *index)], difference, atol=1e-7)


@pytest.mark.parametrize(
    "of_numpy, of_op",
    [
        (lambda x, w: np.sin(x), lambda x, w: op.sin(x)),
        (lambda x, w: cnp.sin(x), lambda x, w: op.sin(x)),
        (lambda x, w: np.multiply(x, w), lambda x, w: x * w),
        (lambda x, w: X * x, lambda x, w: op.mult(X, x)),
        (lambda x, w: np.linalg.inv(x), lambda x, w: op.linalg.inv(x)),
        (lambda x, w: np.mean(x, 0), lambda x, w: op.mean(x, 0)),
    ],
)
def test_nodes_are_those_of_operators(of_numpy, of_op):
    one, other = module(of_numpy)(X), module(of_op)(X)
    assert type(one.root.operator) is type(other.root.operator)
    assert np.array_equal(one.value, other.value)


@pytest.mark.parametrize(
    "function, message",
    [
        (
            lambda x, w: np.allclose(x, x),
            r"numpy\.allclose: InputNode\(.*\.x\) is no array, and composit\.cg\.op has no "
            r"allclose\. An operator of composit\.cg\.op, or the value \(x\.value\), is required\.",
        ),
        (
            lambda x, w: np.sin(x, out=np.zeros(2)),
            r"numpy\.sin: out is given with InputNode\(.*\.x\)\. Operators make new nodes, and "
            r"write into no array\.",
        ),
        (
            lambda x, w: np.multiply.outer(x, x),
            r"numpy\.multiply\.outer: InputNode\(.*\.x\) is no array, and composit\.cg\.op has no "
            r"multiply\.outer\. An operator of",
        ),
        (
            lambda x, w: np.lib.stride_tricks.sliding_window_view(x, 2),
            r"numpy\.lib\..*sliding_window_view: InputNode\(.*\.x\) is no array, and",
        ),
        (
            lambda x, w: operator.eq(X, x),
            r"float64\[2, 2\], of type ndarray\. A node is equal to nodes alone",
        ),
        (lambda x, w: np.equal(x, 3.0), r"or an operator \(op\.equal\), is required\."),
        (lambda x, w: np.array([x, w]), r"is no array\. An operator of composit\.cg\.op, or"),
    ],
)
def test_what_no_operator_is_is_refused(function, message):
    with pytest.raises(TypeError, match=message):
        module(function)(X)


def built(function, *names):
    return cg.Module.build("m", function, tuple(map(cg.Variable, names)))


METHODS = [
    lambda x: x.sum(), lambda x: x.sum(0), lambda x: x.mean(1, keepdims=True), lambda x: x.std(),
    lambda x: x.var(axis=0), lambda x: x.max(1), lambda x: x.min(), lambda x: x.prod(),
    lambda x: x.cumsum(1), lambda x: x.cumprod(0), lambda x: x.argmax(1), lambda x: x.argsort(1),
    lambda x: x.reshape(3, 2), lambda x: x.reshape((3, -1)), lambda x: x.reshape(-1),
    lambda x: x.transpose(), lambda x: x.transpose(1, 0), lambda x: x.transpose((1, 0)),
    lambda x: x.swapaxes(0, 1), lambda x: x.ravel(), lambda x: x.squeeze(), lambda x: x.repeat(2),
    lambda x: x.dot(np.ones(3)), lambda x: x.clip(2, 4), lambda x: x.round(),
    lambda x: x.trace(), lambda x: x.diagonal(), lambda x: x.take(np.array([0, 2])),
    lambda x: x.astype("float32"), lambda x: (x > 2).any(), lambda x: (x > 2).all(axis=0),
    lambda x: x * (x.dtype == np.float64), lambda x: x.clip(2.25), lambda x: x.clip(max=3),
    lambda x: x.clip(min=2.25), lambda x: x.flatten(), lambda x: x.copy(), lambda x: x.conj(),
    lambda x: x.conjugate(), lambda x: (x * (1 + 2j)).real, lambda x: (x * (1 + 2j)).imag,
]  # fmt: skip


@pytest.mark.parametrize("number", range(len(METHODS)))
def test_methods_of_arrays(number):
    function = METHODS[number]
    x = np.array([[1.0, 5.0, 2.5], [3.0, 2.0, 4.0]])
    made = np.asarray(built(lambda self, x: function(x), "x")(x).value)
    expected = np.asarray(function(x))
    assert made.dtype == expected.dtype and made.shape == expected.shape
    assert np.allclose(made, expected, rtol=1e-15)


def test_lists_of_nodes_are_arrays_of_one_axis_more():
    m = built(lambda self, x, y: op.sum([x, y, 2 * x], axis=0), "x", "y")
    x, y = np.array([1.0, 2.0]), np.array([3.0, 4.0])
    result = m(x, y)
    result.back()
    assert result.value.tolist() == [6, 10]
    assert result.grad(m.input("x")).tolist() == [[3, 0], [0, 3]]
    nested = built(lambda self, x: op.exp([[x[0], 1.0], [x[1], x[0]]]), "x")
    assert np.allclose(nested(x).value, np.exp([[1, 1], [2, 1]]))
    assert np.allclose(built(lambda self, x: op.softmax([x[0], 1.0]), "x")(x).value, 0.5)
