"""numpy.polynomial's functions of tensors, and lib.stride_tricks, against NumPy's."""

import importlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import composit
import composit.numpy as cnp

MODULES = {
    "polynomial": "poly", "chebyshev": "cheb", "legendre": "leg", "hermite": "herm",
    "hermite_e": "herme", "laguerre": "lag",
}  # fmt: skip
BASES = list(MODULES)
rng = np.random.default_rng(6)


def both(basis, function):
    """composit's function of this basis and NumPy's."""
    theirs = importlib.import_module(f"numpy.polynomial.{basis}")
    ours = getattr(cnp.polynomial, basis)
    return getattr(ours, MODULES[basis] + function), getattr(theirs, MODULES[basis] + function)


def same(basis, function, *arguments, bits=True, **options):
    ours, theirs = both(basis, function)
    x, y = np.asarray(ours(*arguments, **options)), np.asarray(theirs(*arguments, **options))
    assert (x.dtype, x.shape) == (y.dtype, y.shape)
    if bits:
        np.testing.assert_array_equal(x, y)
    else:
        tolerance = 1e-4 if x.dtype in (np.float32, np.complex64) else 1e-9
        np.testing.assert_allclose(x, y, rtol=tolerance, atol=tolerance)


def fails(basis, function, *arguments, **options):
    ours, theirs = both(basis, function)
    with pytest.raises(Exception) as expected:
        theirs(*arguments, **options)
    with pytest.raises(expected.type, match=rf"^{MODULES[basis]}{function}: "):
        ours(*arguments, **options)


def coefficients(n, dtype="float64", *shape):
    return rng.standard_normal((n, *shape)).astype(dtype)


@pytest.mark.parametrize("basis", BASES)
@pytest.mark.parametrize("dtype", ["float64", "float32", "complex128", "int64"])
def test_values(basis, dtype):
    points = rng.uniform(-1, 1, (3, 4)).astype("float32" if dtype == "float32" else "float64")
    for n in (1, 2, 3, 4, 7):
        c = (10 * rng.standard_normal(n)).astype(dtype)
        for x in (points, points[0], 0.5, 2, [0.1, 0.2], np.arange(4)):
            same(basis, "val", x, c, bits=dtype != "complex128")
        columns = (10 * rng.standard_normal((n, 4))).astype(dtype)
        for tensor in (True, False):
            same(basis, "val", points, columns, tensor=tensor, bits=dtype != "complex128")


@pytest.mark.parametrize("basis", BASES)
def test_values_in_several_variables(basis):
    x, y, z = rng.uniform(-1, 1, (3, 5))
    same(basis, "val2d", x, y, coefficients(3, "float64", 4))
    same(basis, "val3d", x, y, z, coefficients(3, "float64", 4, 2))
    same(basis, "grid2d", x, y[:3], coefficients(3, "float64", 4))
    same(basis, "grid3d", x, y[:3], z[:2], coefficients(3, "float64", 4, 2))
    fails(basis, "val2d", x, y[:2], coefficients(3, "float64", 4))
    fails(basis, "val3d", x, y, z[:2], coefficients(3, "float64", 4, 2))


@pytest.mark.parametrize("basis", BASES)
def test_matrices_of_values(basis):
    for x in (rng.uniform(-1, 1, (2, 3)), np.arange(3), 0.5, rng.random(4).astype("f4")):
        for degree in (0, 1, 2, 5):
            same(basis, "vander", x, degree)
    fails(basis, "vander", [1.0], -1)
    fails(basis, "vander", [1.0], 1.5)


@pytest.mark.parametrize("basis", BASES)
@pytest.mark.parametrize("dtype", ["float64", "float32", "int64"])
def test_derivatives_and_antiderivatives(basis, dtype):
    for n in (1, 2, 3, 4, 6):
        for shape in ((), (3,)):
            c = (5 * rng.standard_normal((n, *shape))).astype(dtype)
            for m in (0, 1, 2, 3, 7):
                same(basis, "der", c, m)
            for m in (0, 1, 2, 3):
                same(basis, "int", c, m)
            same(basis, "der", c, 2, 3)
            same(basis, "int", c, 2, [1, 0.5], 0.25, 2)
            same(basis, "int", c, 3, 2)
    for axis in (0, 1, -1):
        c = (5 * rng.standard_normal((4, 3))).astype(dtype)
        same(basis, "der", c, axis=axis)
        same(basis, "int", c, axis=axis)
    same(basis, "int", np.zeros(1, dtype), 2, [3])
    fails(basis, "der", [1.0, 2], -1)
    fails(basis, "int", [1.0, 2], -1)
    fails(basis, "int", [1.0, 2], 1, [1, 2])
    fails(basis, "int", [1.0, 2], 1, lbnd=[1, 2])
    fails(basis, "int", [1.0, 2], 1, scl=[1, 2])
    fails(basis, "der", [1.0, 2], axis=3)
    fails(basis, "der", [1.0, 2], 1.5)


@pytest.mark.parametrize("basis", BASES)
def test_zeros(basis):
    for n in (1, 2, 3, 4, 6, 9):
        c = coefficients(n)
        same(basis, "roots", c)
        same(basis, "roots", np.concatenate([c, [0, 0]]))
        same(basis, "roots", np.arange(1, n + 1))
        if n > 1:
            same(basis, "companion", c)
    same(basis, "roots", np.zeros(3))
    fails(basis, "companion", [1.0])
    fails(basis, "companion", [[1.0, 2]])
    fails(basis, "roots", [])


@pytest.mark.parametrize("basis", BASES)
def test_fits(basis):
    x = rng.uniform(-1, 1, 30)
    y, columns, w = rng.standard_normal(30), rng.standard_normal((30, 2)), rng.uniform(1, 2, 30)
    for degrees in (0, 3, [0, 2, 3], [4, 1]):
        for values in (y, columns):
            same(basis, "fit", x, values, degrees, bits=False)
            same(basis, "fit", x, values, degrees, w=w, bits=False)
    ours, theirs = both(basis, "fit")
    found, expected = ours(x, y, 3, full=True), theirs(x, y, 3, full=True)
    for a, b in zip((found[0], *found[1]), (expected[0], *expected[1])):
        np.testing.assert_allclose(np.asarray(a), b, rtol=1e-9)
    same(basis, "fit", x.astype("f4"), y.astype("f4"), 2, bits=False)
    for function in (ours, theirs):
        with pytest.warns(np.exceptions.RankWarning):
            function([1.0, 1.0, 1.0], [1.0, 2.0, 3.0], 2)
    for arguments in [
        ([1.0], [1.0], -1), ([[1.0]], [1.0], 1), ([], [1.0], 1), ([1.0], [[[1.0]]], 1),
        ([1.0, 2], [1.0], 1), ([1.0], [1.0], 1.5), ([1.0], [1.0], [[1]]), ([1.0], [1.0], []),
    ]:  # fmt: skip
        fails(basis, "fit", *arguments)
    fails(basis, "fit", [1.0], [1.0], 1, w=[[1.0]])
    fails(basis, "fit", [1.0], [1.0], 1, w=[1.0, 2])


@pytest.mark.parametrize("basis", BASES)
def test_they_are_differentiated_and_compiled(basis):
    val, reference = both(basis, "val")
    _, derivative = both(basis, "der")
    c, x = coefficients(5), rng.uniform(-1, 1, 7)
    step = composit.compile(lambda x, c: val(x, c), x, c)
    np.testing.assert_array_equal(step(x, c), reference(x, c))
    slope = composit.grad(lambda x: cnp.sum(val(x, c)))(x)
    np.testing.assert_allclose(composit.evaluate(slope), reference(x, derivative(c)), rtol=1e-10)


@given(st.data())
@settings(max_examples=60, deadline=None)
def test_any_series(data):
    basis = data.draw(st.sampled_from(BASES))
    numbers = st.floats(-100, 100)
    c = np.array(data.draw(st.lists(numbers, min_size=1, max_size=6)))
    x = np.array(data.draw(st.lists(st.floats(-2, 2), min_size=1, max_size=4)))
    same(basis, "val", x, c)
    same(basis, "der", c, data.draw(st.integers(0, 4)))
    same(basis, "int", c, data.draw(st.integers(1, 3)), [data.draw(numbers)])
    same(basis, "vander", x, data.draw(st.integers(0, 6)))


def test_strides():
    from numpy.lib import stride_tricks as theirs

    ours = cnp.lib.stride_tricks
    x = np.arange(24.0).reshape(4, 6)
    for shape, strides in [
        (None, None), ((2, 3), (48, 8)), ((5, 2), (8, 16)), ((4,), (56,)), ((3, 2), (0, 8)),
        ((), ()), ((0, 5), (800, 8)), (7, (8,)),
    ]:  # fmt: skip
        found = ours.as_strided(cnp.asarray(x), shape, strides)
        expected = theirs.as_strided(x, (shape,) if isinstance(shape, int) else shape, strides)
        np.testing.assert_array_equal(found.evaluated(), expected)
    np.testing.assert_array_equal(
        ours.sliding_window_view(x, (2, 3)).evaluated(), theirs.sliding_window_view(x, (2, 3))
    )
    np.testing.assert_array_equal(ours.broadcast_to(x, (2, 4, 6)), np.broadcast_to(x, (2, 4, 6)))
    for shape, strides in [
        ((2,), (8, 8)),
        ((-1,), (8,)),
        ((2,), (4,)),
        ((25,), (8,)),
        ((2,), (-8,)),
    ]:
        with pytest.raises(ValueError, match=r"^as_strided: "):
            ours.as_strided(x, shape, strides)
