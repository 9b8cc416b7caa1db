"""Derivatives with respect to what a call was given: one leaf's derivative ends at the others,
however those were computed."""

import numpy as np
import pytest

from composit import cg, compile, evaluate, vmap
from composit import numpy as cnp
from composit.cg import op


def module(function, *names, params=()):
    return cg.Module.build("f", function, tuple(map(cg.Variable, names)), params)


def multiply():
    return module(lambda self, a, b: a * b, "a", "b")


def slopes(m, *values):
    result = m(*values)
    result.back()
    return [np.asarray(evaluate(result.grad(one))).tolist() for one in m.inputs]


def test_an_input_that_is_computed_from_another():
    t = cnp.asarray(3.0)
    assert slopes(multiply(), t, 2 * t) == [6, 3]
    assert slopes(multiply(), 2 * t, t) == [3, 6]
    assert slopes(multiply(), t, t) == [3, 3]
    h = module(lambda self, x: x * x, "x")(3.0).tensor
    assert slopes(multiply(), h, module(lambda self, x: x * x, "x")(h).tensor) == [81, 9]
    vector = cnp.asarray([3.0, 4.0])
    assert slopes(multiply(), vector, vector[0]) == [[[3, 0], [0, 3]], [3, 4]]


def test_parameters_of_which_one_is_computed_from_another():
    t = cnp.asarray(3.0)
    params = (cg.Parameter("w", 2 * t), cg.Parameter("v", t))
    m = module(lambda self, x: x * self.param("w") * self.param("v"), "x", params=params)
    result = m(5.0)
    result.back()
    assert [evaluate(result.grad(m.param(name))) for name in "wv"] == [15, 30]
    own = module(lambda self, x: x * self.param("w"), "x", params=cg.Parameter("w", 2 * t))
    result = own(t)
    result.back()
    assert evaluate(result.grad(own.param("w"))) == 3 and slopes(own, t) == [6]


def test_literals_that_are_computed_from_an_input():
    t = cnp.asarray(3.0)
    assert slopes(module(lambda self, x: x * (2 * t), "x"), t) == [6]


def test_within_compile_and_vmap():
    mul = multiply()

    def slope(t):
        result = mul(t, 2 * t)
        result.back()
        return result.grad(mul.input("a"))

    assert compile(slope)(np.array(3.0)) == 6
    assert np.array_equal(evaluate(vmap(slope)(np.array([3.0, 4.0]))), [6, 8])


@pytest.mark.parametrize("same", [
    lambda x: op.reshape(x, x.value.shape), lambda x: op.identity(x),
    lambda x: op.astype(x, "float64"), lambda x: op.transpose(op.transpose(x)),
    lambda x: op.broadcast_to(x, x.value.shape), lambda x: op.real(x),
])  # fmt: skip
def test_nodes_that_are_their_childs_tensor(same):
    def call(self, x):
        self.same = same(x)
        return op.sum(x * self.same)

    m = module(call, "x")
    result = m(np.array([3.0, 4.0]))
    result.back()
    assert np.array_equal(result.grad(m.input("x")), [6, 8])
    assert np.array_equal(m.same.gvalue, [3, 4])
