"""Sums, products and comparisons that are asked for in dtype=bool."""

import itertools

import numpy as np
import pytest

import composit
import composit.numpy as cnp

ARRAYS = [
    np.array([[2, 0, 1], [0, 0, 0]], "int8"),
    np.array([[0.5, np.nan], [0.0, -0.0]]),
    np.array([[1j, 0], [1, 1]]),
    np.array([[True, False], [True, True]]),
    np.zeros((0, 2), "float32"),
]


def assert_equal(ours, theirs):
    values = ours.evaluated()
    assert values.dtype == theirs.dtype == bool
    np.testing.assert_array_equal(values, theirs)


@pytest.mark.parametrize("a", ARRAYS)
@pytest.mark.parametrize("name", ["sum", "prod", "nansum", "nanprod"])
def test_totals(name, a):
    ours, theirs = getattr(cnp, name), getattr(np, name)
    for axis, keepdims in itertools.product((None, 0, 1, (0, 1)), (False, True)):
        options = {"axis": axis, "keepdims": keepdims, "dtype": bool}
        assert_equal(ours(cnp.asarray(a), **options), np.asarray(theirs(a, **options)))
        options["initial"] = True
        assert_equal(ours(cnp.asarray(a), **options), np.asarray(theirs(a, **options)))
        options["where"] = a == a[..., :1]
        assert_equal(ours(cnp.asarray(a), **options), np.asarray(theirs(a, **options)))


@pytest.mark.parametrize("a", ARRAYS)
@pytest.mark.parametrize("name", ["cumsum", "cumprod", "nancumsum", "nancumprod"])
def test_running_totals(name, a):
    for axis in (None, 0, 1):
        ours = getattr(cnp, name)(cnp.asarray(a), axis, bool)
        assert_equal(ours, getattr(np, name)(a, axis, bool))
    compiled = composit.compile(lambda x: getattr(cnp, name)(x, 1, bool), cnp.asarray(a))
    np.testing.assert_array_equal(compiled(a), getattr(np, name)(a, 1, bool))


@pytest.mark.parametrize("a", ARRAYS[:4])
@pytest.mark.parametrize(
    "name",
    [
        "add", "multiply", "equal", "not_equal", "less", "less_equal", "greater", "greater_equal",
        "logical_and", "logical_or", "logical_xor",
    ],
)  # fmt: skip
def test_ufuncs(name, a):
    ours, theirs = getattr(cnp, name), getattr(np, name)
    for axis in (0, 1):
        for method in ("reduce", "accumulate"):
            found = getattr(ours, method)(cnp.asarray(a), axis, dtype=bool)
            assert_equal(found, getattr(theirs, method)(a, axis, dtype=bool))
    if name not in ("add", "multiply"):
        assert_equal(ours(cnp.asarray(a), 1, dtype=bool), theirs(a, 1, dtype=bool))


@pytest.mark.parametrize("name", ["isnan", "isfinite", "isinf", "signbit", "logical_not"])
def test_answers_about_one_operand(name):
    x = np.array([0.0, -1.0, np.nan, np.inf])
    assert_equal(getattr(cnp, name)(cnp.asarray(x), dtype=bool), getattr(np, name)(x, dtype=bool))


@pytest.mark.parametrize("place", [None, 0, 4095, 4096, 9999])
@pytest.mark.parametrize("shape", [(10_000,), (3, 10_000)])
def test_one_element_decides_wherever_it_is(place, shape):
    a = np.ones(shape, bool)
    if place is not None:
        a[..., place] = False
    for axis in (None, -1):
        assert_equal(cnp.all(cnp.asarray(a), axis), np.asarray(np.all(a, axis)))
        assert_equal(cnp.any(cnp.asarray(~a), axis), np.asarray(np.any(~a, axis)))
    compiled = composit.compile(lambda x: cnp.all(x, -1), cnp.asarray(a), backend="cpp")
    np.testing.assert_array_equal(compiled(a), np.all(a, -1))
