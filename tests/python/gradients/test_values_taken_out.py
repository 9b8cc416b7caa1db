"""Inside of a function that is differentiated, values that leave the graph are no silent zeros."""

import re

import numpy as np
import pytest
import scipy.linalg

import composit
import composit.numpy as cnp
from composit import nn

X = np.linspace(0.1, 0.9, 8)
WHY = re.escape(
    "an array of a tensor's values would be a constant, through which no gradient goes, and the "
    "tensor depends on what is differentiated. Use composit's functions, or "
    "composit.nn.stop_gradient(x) where no gradient is wanted."
)
TAKEN = {
    "asarray": np.asarray,
    "memoryview": memoryview,
    "dlpack": np.from_dlpack,
    "data": lambda y: y.data,
    "method": lambda y: y.__array__("float32"),
    "of a result": lambda y: np.asarray(cnp.exp(y) + 1),
    "fit": lambda y: cnp.polynomial.Polynomial.fit(X, y, 2),
    "random": lambda y: np.random.default_rng(0).normal(y),
}


@pytest.mark.parametrize("name", TAKEN)
@pytest.mark.parametrize("way", ["grad", "vjp", "jvp", "grad of grad"])
def test_arrays_of_what_is_differentiated(name, way):
    def f(y):
        TAKEN[name](y)
        return cnp.sum(y * y)

    calls = {
        "grad": lambda: composit.grad(f)(X),
        "vjp": lambda: composit.vjp(f, X),
        "jvp": lambda: composit.jvp(f, (X,), (X,)),
        "grad of grad": lambda: composit.grad(lambda x: cnp.sum(composit.grad(f)(x)))(X),
    }
    with pytest.raises(TypeError, match=WHY + r" \[test_values_taken_out\.py:\d+\]"):
        calls[way]()
    assert np.asarray(cnp.asarray(X) * 2).tolist() == (X * 2).tolist()  # outside it is none


def test_functions_of_other_libraries():
    with pytest.raises(TypeError, match=WHY):
        composit.grad(lambda y: cnp.sum(cnp.asarray(scipy.linalg.expm(cnp.outer(y, y)))))(X)
    with pytest.raises(TypeError, match=WHY):
        composit.grad(lambda y: cnp.sum(cnp.ma.masked_array(y, y > 0.5).filled(0)))(X)
    with pytest.raises(NotImplementedError, match=r"bmat: an argument depends on what is differe"):
        composit.grad(lambda y: cnp.sum(cnp.asarray(cnp.bmat([[y[None]]]))))(X)


def test_looks_and_what_has_no_gradient():
    seen = []

    def f(y):
        seen.append(float(y[0]))
        seen.append(str(y))
        seen.append(cnp.array2string(y, precision=2))
        if y.sum() > 0:
            seen.append(np.asarray(y > 0.5).sum())  # truth values have no gradient
            seen.append(np.asarray(nn.stop_gradient(y) * 2)[1])
            seen.append(np.asarray(cnp.argsort(y))[0])
            seen.append(np.asarray(cnp.ones(3) + X[0])[0])  # does not depend on it
        return cnp.sum(y**2)

    np.testing.assert_array_equal(composit.grad(f)(X), 2 * X)
    assert seen == [X[0], str(X), np.array2string(X, precision=2), 4, 2 * X[1], 0, 1 + X[0]]


def test_arguments_that_are_not_differentiated():
    def f(x, y):
        return cnp.sum(x * np.asarray(y))

    with pytest.raises(TypeError, match=WHY):  # whoever asks for the gradient by x has y's, too
        composit.grad(f, (0, 1))(X, X)
    gradient = composit.grad(lambda x: f(x, cnp.asarray(X)))(X)
    np.testing.assert_array_equal(gradient, X)


@pytest.mark.parametrize("part", ["[:]", "[()]", "[0:2]", "[-2:, ...]", "[::1, :]", "[...]"])
def test_all_of_a_tensor_is_its_node_whether_its_values_are_known(part):
    """What is differentiated by a part that is all of a tensor is differentiated by the tensor."""

    def slope(x):
        whole = eval(f"x{part}")
        return composit.chain_rule({whole - x: whole - x}, [whole])[0]

    values = np.arange(6.0).reshape(2, 3)
    x = composit.placeholder("x", (2, 3), np.float64)
    for found in (
        slope(cnp.asarray(values)),
        slope(cnp.asarray(values) + 0),
        composit.evaluate(slope(x), {x: values}),
        composit.compile(slope, values)(values),
    ):
        assert (np.asarray(found) == 0).all()
