"""Covariances, correlations and interpolation against NumPy: interpolation exactly, what is summed
within some ulp of the sizes of what is summed."""

import numpy as np
import pytest
from against_numpy import agrees, same_bits_compiled
from differences import check_derivatives
from hypothesis import given, settings
from hypothesis import strategies as st

import composit
import composit.numpy as cnp

DTYPES = ["bool", "int8", "uint16", "int64", "float32", "float64"]
SHAPES = [(), (1,), (6,), (1, 5), (5, 1), (3, 8), (0, 4), (3, 2)]


def drawn(dtype, shape, seed=0):
    draw = np.random.default_rng(seed)
    if np.dtype(dtype).kind in "biu":
        return np.asarray(draw.integers(0, 2 if dtype == "bool" else 9, shape).astype(dtype))
    return np.asarray(draw.normal(1, 2, shape).astype(dtype))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SHAPES)
def test_covariances(dtype, shape):
    x = drawn(dtype, shape)
    y = drawn(dtype, shape, 1)
    for rowvar in (True, False):
        for options in ({}, {"bias": True}, {"ddof": 0}, {"ddof": 2}, {"dtype": "float32"}):
            agrees("cov", x, rowvar=rowvar, ulp=32, scale=20.0, **options)
            agrees("cov", x, y, rowvar=rowvar, ulp=32, scale=20.0, **options)
    if x.size and min(x.shape, default=0) > 2:
        for rowvar in (True, False):
            agrees("corrcoef", x, rowvar=rowvar, ulp=64, scale=1.0)
            agrees("corrcoef", x, y, rowvar=rowvar, ulp=64, scale=1.0)


def test_weights_of_observations():
    x, y = drawn("float64", (3, 8)), drawn("float64", (8,), 1)
    f, a = np.array([1, 2, 0, 3, 1, 1, 2, 1]), np.random.default_rng(3).random(8)
    for weights in ({"fweights": f}, {"aweights": a}, {"fweights": f, "aweights": a}):
        for options in ({}, {"ddof": 0}, {"ddof": 3}, {"bias": True}, {"ddof": 40}):
            agrees("cov", x, **weights, **options, ulp=64, scale=20.0)
            agrees("cov", x, y, **weights, **options, ulp=64, scale=20.0)
    for odd in (-f, f + 0.5, f[:3], f[None], np.zeros(8)):
        agrees("cov", x, fweights=odd)
        agrees("cov", x, aweights=odd, ulp=64, scale=20.0)
    for ddof in (1.5, 1.0):
        agrees("cov", x, ddof=ddof, ulp=64, scale=20.0)
    agrees("cov", np.zeros((2, 2, 2)))
    agrees("cov", x, np.zeros((2, 2, 2)))
    agrees("cov", x, np.zeros((2, 7)))


def test_correlations():
    x = drawn("float64", (4, 30))
    agrees("corrcoef", x, ulp=64, scale=1.0)
    agrees("corrcoef", x[0], x[1], ulp=64, scale=1.0)
    agrees("corrcoef", x[0])
    x[2] = 7
    agrees("corrcoef", x, ulp=64, scale=1.0)
    agrees("corrcoef", x.astype("float32"), dtype="float32", ulp=64, scale=1.0)
    with pytest.warns(RuntimeWarning, match="Degrees of freedom <= 0"):
        cnp.cov([[1.0], [2.0]])
    assert np.corrcoef(cnp.asarray(x)).describe() == "LazyTensor(corrcoef: float64[4, 4])"


POINTS = [
    ([0.0, 1.0, 2.5, 4.0], [3.0, -1.0, 2.0, 8.0]),
    ([1.0], [7.0]),
    ([0.0, 1.0, 1.0, 2.0], [0.0, 1.0, 5.0, 6.0]),
    ([0.0, 1.0, 2.0], [np.inf, 1.0, np.inf]),
    ([0.0, 1.0, 2.0], [np.inf, np.inf, -np.inf]),
    ([-np.inf, 0.0, np.inf], [1.0, 2.0, 3.0]),
    ([1, 2, 3], [1, 4, 9]),
    ([True], [2]),
]
WANTED = np.array([-1.0, 0.0, 0.3, 0.5, 1.0, 1.7, 2.0, 2.5, 4.0, 5.0, np.nan, np.inf, -np.inf])


@pytest.mark.parametrize("xp, fp", POINTS)
def test_interpolation(xp, fp):
    for x in (WANTED, WANTED.reshape(1, 13), 0.3, 1, np.float32(0.3), np.zeros((0, 2)), [1, 2]):
        agrees("interp", x, xp, fp)
        agrees("interp", x, np.array(xp), np.array(fp))
        agrees("interp", x, xp, fp, left=-7)
        agrees("interp", x, xp, fp, right=99.5)
        agrees("interp", x, xp, fp, left=np.nan, right=np.inf)
    agrees("interp", WANTED.astype("float32"), xp, fp)


def test_periods():
    x = [-180, -170, -185, 185, -10, -5, 0, 365]
    for period in (360, -360, 7.5, np.float64(90), 0):
        agrees("interp", x, [190, -190, 350, -350], [5, 10, 3, 4], period=period)
        agrees("interp", x, [190, -190, 350, -350], [5, 10, 3, 4], -1, 8, period)


def test_points_that_are_refused():
    for xp, fp in (([], []), ([1, 2], [1]), ([[1, 2]], [[1, 2]]), (1, 2), ([1, 2], [[1, 2]])):
        agrees("interp", 1.0, xp, fp)
        agrees("interp", 1.0, xp, fp, period=3)
    agrees("interp", 1.0, [1, 2], [1, 2], period=[1, 2])
    agrees("interp", 1.0, [1, 2], [1, 2], left=[1, 2])


@settings(max_examples=200, deadline=None)
@given(
    st.lists(st.floats(-5, 5), min_size=1, max_size=8, unique=True),
    st.lists(st.floats(-9, 9), min_size=8, max_size=8),
    st.lists(st.floats(-7, 7), max_size=12),
)
def test_any_points(xp, fp, x):
    agrees("interp", np.array(x), np.sort(xp), np.array(fp[: len(xp)]))


def test_compiled():
    x = drawn("float64", (4, 50))

    def all_of_them(x):
        weights = cnp.absolute(x[0])
        return (cnp.cov(x), cnp.corrcoef(x), cnp.cov(x, aweights=weights),
                cnp.interp(x, cnp.sort(x[1]), x[2]),
                cnp.interp(x, x[1], x[2], period=3))  # fmt: skip

    same_bits_compiled(all_of_them, x)


def test_derivatives():
    x = drawn("float64", (3, 6))
    check_derivatives(cnp.cov, x)
    check_derivatives(cnp.corrcoef, x)
    xp, fp = np.array([0.0, 1.0, 2.5]), np.array([1.0, -2.0, 4.0])
    at = np.array([-0.5, 0.3, 1.2, 2.2, 9.0])
    check_derivatives(lambda x: cnp.interp(x, xp, fp), at)
    check_derivatives(lambda fp: cnp.interp(at, xp, fp), fp)
    check_derivatives(lambda xp: cnp.interp(at, xp, fp), xp)
    slope = composit.grad(lambda x: cnp.sum(cnp.interp(x, xp, fp)))
    np.testing.assert_array_equal(cnp.evaluate(slope(at)), [0, -3, 4, 4, 0])
