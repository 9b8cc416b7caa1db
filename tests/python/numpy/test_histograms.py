"""Histograms, their edges, and counts of integers against NumPy: counts and edges exactly, sums of
weights and densities within some ulp."""

import numpy as np
import pytest
from against_numpy import agrees, same_bits_compiled
from differences import check_derivatives
from hypothesis import given, settings
from hypothesis import strategies as st

import composit
import composit.numpy as cnp

DTYPES = ["bool", "int8", "uint8", "int32", "int64", "uint64", "float32", "float64"]
SHAPES = [(), (0,), (1,), (50,), (3, 0), (4, 30)]
ESTIMATORS = ["auto", "doane", "fd", "rice", "scott", "sqrt", "stone", "sturges"]


def drawn(dtype, shape, seed=0):
    draw = np.random.default_rng(seed)
    dtype = np.dtype(dtype)
    if dtype.kind == "b":
        return np.asarray(draw.random(shape) < 0.5)
    if dtype.kind in "iu":
        return np.asarray(draw.integers(0 if dtype.kind == "u" else -20, 60, shape).astype(dtype))
    return np.asarray(draw.normal(3, 10, shape).round(1).astype(dtype))


@pytest.mark.filterwarnings("ignore:.*Converting input from bool")
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SHAPES)
def test_bins_and_ranges(dtype, shape):
    x = drawn(dtype, shape)
    for bins in (10, 1, 7, np.int8(3), [0, 1, 5, 5, 9], [1.5, 2.5], [3], np.arange(-20.0, 60)):
        for name in ("histogram", "histogram_bin_edges"):
            agrees(name, x, bins)
            for limits in ((0, 5), (0.5, 20.25), (3, 3), (-1.0, np.float32(7))):
                agrees(name, x, bins, limits)
        for density in (True, False):
            agrees("histogram", x, bins, density=density, ulp=4)


def test_refused_arguments():
    x = drawn("float64", (20,))
    for bins in (0, -2, 1.5, None, "rule", [3, 2, 1], [[1, 2]], [], 2j, np.float64(3)):
        agrees("histogram", x, bins)
        agrees("histogram_bin_edges", x, bins)
    for limits in ((1, 0), (0, np.inf), (np.nan, 1), (1, 2, 3), (1,), 5, "ab"):
        agrees("histogram", x, 4, limits)
    for bad in (np.nan, np.inf):
        y = x.copy()
        y[3] = bad
        agrees("histogram", y)
        agrees("histogram", y, 5, (0, 10))
        agrees("histogram", y, [0.0, 5.0, 10.0])
    agrees("histogram", np.array([1e17, 1e17 + 100]), 1000)
    agrees("histogram", x, weights=np.ones(19))
    agrees("histogram", x, "auto", weights=np.ones(20))


@pytest.mark.parametrize("dtype", ["int8", "int64", "uint8", "float32", "float64", "bool"])
def test_weights(dtype):
    x, weights = drawn("float64", (300,)), drawn(dtype, (300,), 1)
    for bins in (5, 12, [-10.0, 0.0, 3.0, 3.0, 40.0]):
        for density in (False, True):
            single = 2.0**29 if dtype == "float32" else 1  # sums of float32 make float64 densities
            ulp = 64 * (single if density else 1)
            agrees("histogram", x, bins, weights=weights, density=density, ulp=ulp, scale=100.0)
    agrees("histogram2d", x, x[::-1].copy(), 4, weights=weights, ulp=64, scale=100.0)


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_estimators(estimator):
    for dtype in ("int8", "uint8", "int64", "float32", "float64"):
        for shape in ((0,), (1,), (2,), (3,), (50,), (30, 40)):
            for seed in range(3):
                agrees("histogram_bin_edges", drawn(dtype, shape, seed), estimator)
        agrees("histogram", drawn(dtype, (500,)), estimator, (0, 20))
        agrees("histogram", np.full(20, 3, dtype), estimator)
    with pytest.raises(NotImplementedError, match=r"histogram: the shape .* placeholder 'x'"):
        composit.compile(lambda x: cnp.histogram(x, estimator)[0], np.ones(3))


def test_several_dimensions():
    x, y, z = (drawn("float64", (200,), seed) for seed in range(3))
    for bins in (3, [4, 5], [[0.0, 1.0, 20.0], 3], [0.0, 5.0, 9.0], (2, np.arange(-5.0, 30))):
        for density in (False, True):
            agrees("histogram2d", x, y, bins, density=density, ulp=4)
        agrees("histogram2d", x, y, bins, [(0, 10), (-3, 4.5)])
        agrees("histogram2d", x, y, bins, [None, (-3, 4.5)])
    sample = np.stack([x, y, z], 1)
    for bins in (3, [2, 3, 4], [2, [0.0, 1.0, 9.0], 3]):
        agrees_dd(sample, bins)
        agrees_dd([x, y, z], bins)
    agrees_dd(x, 5)
    agrees_dd(sample.astype("float32"), 4)
    agrees_dd(sample.astype("int64"), 4, density=True)
    agrees_dd(sample[:0], 2)
    for bins in ([2, 3], [1, 2, 0], [1, 2, 1.5], [[3, 2], 1, 1], "auto", [[], 1, 1]):
        agrees_dd(sample, bins)
    for limits in ([(0, 1)], [(1, 0), None, None], [(0, np.inf), None, None]):
        agrees_dd(sample, 2, limits)
    agrees("histogram2d", x, y[:-1])


def agrees_dd(sample, *args, **options):
    """histogramdd of NumPy and composit: counts and each dimension's edges."""
    try:
        counts, edges = np.histogramdd(sample, *args, **options)
    except Exception as error:
        with pytest.raises(type(error)):
            composit.evaluate(cnp.histogramdd(sample, *args, **options)[0])
        return
    ours, found = cnp.histogramdd(sample, *args, **options)
    assert (ours.dtype, ours.shape) == (counts.dtype, counts.shape)
    np.testing.assert_allclose(ours, counts, rtol=1e-14)
    assert len(found) == len(edges)
    for a, b in zip(found, edges):
        assert a.dtype == b.dtype
        np.testing.assert_array_equal(a, b)


@settings(max_examples=100, deadline=None)
@given(
    st.integers(0, 2**32 - 1),
    st.sampled_from(["int16", "float32", "float64"]),
    st.integers(1, 60),
    st.integers(1, 200),
)
def test_any_number_of_bins(seed, dtype, bins, count):
    x = drawn(dtype, (count,), seed)
    agrees("histogram", x, bins)
    agrees("histogram", x, np.unique(drawn(dtype, (bins,), seed + 1)))


def test_under_placeholders_and_compiled():
    x = drawn("float32", (4, 200))
    weights = drawn("float32", (4, 200), 1)

    def all_of_them(x, w):
        return (*cnp.histogram(x, 9), *cnp.histogram(x, 9, (0, 5), weights=w, density=True),
                cnp.histogram(x, [0.0, 1.0, 4.0])[0], cnp.digitize(x, [0.0, 3.0]))  # fmt: skip

    same_bits_compiled(all_of_them, x, weights)
    counts = composit.compile(lambda x: cnp.histogram(x, 9)[0], x)
    np.testing.assert_array_equal(counts(x), np.histogram(x, 9)[0])
    assert isinstance(np.histogram(cnp.asarray(x))[0], cnp.LazyTensor)


def test_digitize():
    for dtype in ("int8", "float32", "float64", "bool"):
        x = drawn(dtype, (5, 7))
        for bins in ([0, 1, 5], [5, 1, 0], [2], [], [1, 1, 1], [0.5, 2.5, 2.5, 9], [9, 2.5, 0.5]):
            for right in (False, True):
                agrees("digitize", x, np.array(bins), right)
                agrees("digitize", x, bins, right)
    x = np.array([1.0, np.nan, np.inf, -np.inf])
    agrees("digitize", x, [0.0, 2.0])
    for bins in ([1, 3, 2], [[1, 2]], 3, [2.0, 1.0, 4.0]):
        agrees("digitize", x, bins)
    agrees("digitize", np.array([1j]), [1, 2])
    falls = composit.compile(lambda x, b: cnp.digitize(x, b), x, np.zeros(3))
    for bins in (np.array([0.0, 1.0, 2.0]), np.array([2.0, 1.0, 0.0])):
        np.testing.assert_array_equal(falls(x, bins), np.digitize(x, bins))


def test_bincount():
    for dtype in ("int8", "uint8", "int64", "bool", "uint32"):
        x = drawn(dtype, (100,)).astype(dtype)
        x = np.abs(x) if np.dtype(dtype).kind == "i" else x
        for least in (0, 5, 200):
            agrees("bincount", x, minlength=least)
            for weights in (drawn("float64", (100,)), drawn("int32", (100,)), x):
                agrees("bincount", x, weights, least)
    for x in ([], [1, 2], [0], np.zeros(0, int), [1, -1], [[1]], 3, np.array([1.5]), np.zeros(0)):
        agrees("bincount", x)
    agrees("bincount", np.array([1], "uint64"))
    agrees("bincount", [1, 2], [1.0])
    agrees("bincount", [1, 2], [1.0, 2j])
    agrees("bincount", [1, 2], [[1.0, 2.0]])
    agrees("bincount", [1, 2], minlength=-1)
    agrees("bincount", [1, 2], minlength=1.5)
    agrees("bincount", [1, 2], minlength=None)
    with pytest.raises(NotImplementedError, match=r"bincount: the shape .* placeholder 'x'"):
        composit.compile(lambda x: cnp.bincount(x), np.ones(3, int))
    labels = np.array([0, 2, 2, 1])
    check_derivatives(lambda w: cnp.bincount(labels, w), np.array([0.5, 1.0, 2.0, -1.0]))


def test_gradient_of_weights():
    x = drawn("float64", (30,))
    check_derivatives(lambda w: cnp.histogram(x, 4, weights=w)[0], drawn("float64", (30,), 1))
