"""Integers of negative fractions have no sign when they become floating numbers again, compiled
too: g++ 12 makes a truncation of both casts, through what it simplifies between them."""

import numpy as np
import pytest

import composit
import composit.numpy as cnp

X = np.array([-0.4, 0.4, -1.0, 2.6, -0.9, -0.0, -0.3, 5.5] * 4)
FUNCTIONS = {
    "astype": lambda m, x: x.astype("int64").astype("float64"),
    "float32": lambda m, x: x.astype("float32").astype("int32").astype("float32"),
    "narrow": lambda m, x: x.astype("int64").astype("int32").astype("float64"),
    "maximum": lambda m, x: m.maximum(x.astype("int64"), x.astype("int64")) * 1.0,
    "floor_divide": lambda m, x: (x.astype("int64") // 1).astype("float64"),
    "where": lambda m, x: m.where(x < 1.5, x.astype("int64"), 7).astype("float64"),
    "true_divide": lambda m, x: m.true_divide(x.astype("int64"), 2),
    "copysign": lambda m, x: m.copysign(1.0, x.astype("int64")),
    "arctan2": lambda m, x: m.arctan2(x.astype("int64"), -1.0),
    "sum": lambda m, x: m.sum(x.reshape(4, 8).astype("int64"), 0).astype("float64"),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_no_sign_is_left(name):
    function = FUNCTIONS[name]
    wanted = function(np, X)
    assert np.array_equal(np.signbit(np.asarray(function(cnp, cnp.asarray(X)))), np.signbit(wanted))
    compiled = composit.compile(lambda x: function(cnp, x), cnp.asarray(X))
    assert np.array_equal(np.signbit(np.asarray(compiled(X))), np.signbit(wanted))
