"""Quantiles against NumPy's: exactly, in every method, with weights, and of what is not NaN."""

import numpy as np
import pytest
from against_numpy import agrees, same_bits_compiled
from differences import check_derivatives
from hypothesis import given, settings
from hypothesis import strategies as st

import composit
import composit.numpy as cnp

METHODS = [
    "inverted_cdf", "averaged_inverted_cdf", "closest_observation", "interpolated_inverted_cdf",
    "hazen", "weibull", "linear", "median_unbiased", "normal_unbiased", "lower", "higher",
    "midpoint", "nearest",
]  # fmt: skip
DTYPES = ["bool", "int8", "uint8", "int64", "uint64", "float32", "float64"]
SHAPES = [(), (0,), (1,), (2,), (9,), (3, 0), (0, 3), (3, 4), (2, 3, 5)]
SHARES = [0, 1, 0.5, 0.3, True, np.float32(0.7), np.array([0.0, 0.1, 0.25, 0.999, 1.0])]


def drawn(dtype, shape, seed=0, nans=0.0, special=False):
    draw = np.random.default_rng(seed)
    dtype = np.dtype(dtype)
    if dtype.kind == "b":
        return draw.random(shape) < 0.5
    if dtype.kind in "iu":
        bounds = np.iinfo(dtype)
        return draw.integers(max(-9, bounds.min), 20, shape).astype(dtype)
    values = (draw.standard_normal(shape) * 8).round(1) + 0.0  # NumPy: -0 of medians varies
    if special:
        values = np.where(draw.random(shape) < 0.3, draw.choice([np.inf, -np.inf], shape), values)
    values = np.where(draw.random(shape) < nans, np.nan, values)
    if len(shape) > 1 and nans and values.size:
        values[-1] = np.nan
    return np.asarray(values.astype(dtype))


@pytest.mark.long_tail
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_methods(dtype, method):
    for shape in SHAPES:
        x = drawn(dtype, shape)
        for q in SHARES:
            agrees("quantile", x, q, method=method)
        agrees("quantile", x, 0.3, -1, method=method)
        agrees("percentile", x, 30, 0, method=method, keepdims=True)
        agrees("nanquantile", x, [0.3, 0.5], axis=-1, method=method)


@pytest.mark.long_tail
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_nan_and_infinities(dtype, method):
    for shape in [(), (9,), (3, 4), (5, 40)]:
        for nans, special in ((0.3, False), (0.0, True), (0.3, True), (1.0, False)):
            x = drawn(dtype, shape, nans=nans, special=special)
            for axis in (None, 0, -1):
                for q in (0.5, 0.2, np.array([0.0, 0.3, 1.0], dtype)):
                    agrees("quantile", x, q, axis=axis, method=method)
                    agrees("nanquantile", x, q, axis=axis, method=method)
                agrees("nanpercentile", x, 70, axis=axis, method=method, keepdims=True)


@pytest.mark.parametrize("name", ["quantile", "nanquantile"])
@pytest.mark.parametrize("dtype", ["int16", "float32", "float64"])
def test_axes_and_shapes_of_q(name, dtype):
    x = drawn(dtype, (3, 4, 5), nans=0.2 if name[0] == "n" else 0)
    for axis in (None, 0, 1, -1, (0, 1), (2, 0), (0, 1, 2), (-1, 0), 3, (0, 0)):
        for q in (0.4, np.array(0.4), np.array([0.4]), np.array([[0.1, 0.2], [0.3, 0.9]])):
            if name[0] == "n" and np.ndim(q) == 2 and isinstance(axis, tuple) and len(axis) == 2:
                continue  # NumPy's mixes up the dimensions of q and x
            for keepdims in (False, True):
                agrees(name, x, q, axis=axis, keepdims=keepdims)
    for q in (
        np.zeros((1, 1, 1)),
        -0.1,
        1.1,
        np.nan,
        [0.5, 2.0],
        np.array(1j),
        [],
        np.zeros((0, 2)),
    ):
        agrees(name, x, q)
    for q in (np.array([0, 1]), np.array(1, "int8"), np.array(True), np.float64(0.5), [0, 0.5]):
        for method in METHODS:
            agrees(name, x, q, axis=0, method=method)
    agrees(name, x, 0.5, method="median")
    agrees(name, np.array([1j]), 0.5)


@pytest.mark.parametrize("q", [0, 100, 50, 33.3, np.float32(70), np.array([0, 25.0, 99]), 101, -1])
def test_percentages(q):
    for dtype in DTYPES:
        for name in ("percentile", "nanpercentile"):
            agrees(name, drawn(dtype, (4, 6)), q, axis=1)


@pytest.mark.parametrize("name", ["quantile", "nanquantile", "percentile", "nanpercentile"])
def test_weights(name):
    scale = 100 if name.endswith("percentile") else 1
    for dtype in ("int32", "float32", "float64"):
        x = drawn(dtype, (4, 6), nans=0.2 if name[0] == "n" and dtype[0] == "f" else 0)
        if dtype[0] == "f":
            x[-1] = [3, 1, 2, 5, 5, 4]
        weights = np.random.default_rng(1).integers(0, 4, (4, 6)).astype("float64")
        for q in (0.3, 0.0, 1.0, np.array([0.2, 0.8]), np.array([0.2, 0.8], "float32")):
            for axis in (None, 0, 1, (0, 1), (1, 0)):
                for keepdims in (False, True):
                    options = {"method": "inverted_cdf", "weights": weights + 1}
                    agrees(name, x, q * scale, axis=axis, keepdims=keepdims, **options)
            agrees(name, x, q * scale, method="inverted_cdf", weights=weights)
            if name[0] != "n":  # NumPy's fails for weights of one axis
                agrees(name, x, q * scale, axis=1, method="inverted_cdf", weights=np.arange(6))
                agrees(name, x.T, q * scale, axis=(1, 0), method="inverted_cdf", weights=weights)
    x = drawn("float64", (4,))
    agrees(name, x, 0.5, weights=np.ones(4))
    for weights in ([1, -1, 1, 1], [0, 0, 0, 0], [1, np.nan, 1, 1], [1, np.inf, 1, 1], [1, 2]):
        agrees(name, x, 0.5, method="inverted_cdf", weights=weights)
        agrees(name, x, 0.5, axis=0, method="inverted_cdf", weights=weights)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [*SHAPES, (3, 1000)])
def test_nanmedian(dtype, shape):
    for nans, special in ((0.3, False), (0.0, False), (0.3, True), (1.0, False)):
        x = drawn(dtype, shape, nans=nans, special=special)
        for axis in (None, *range(-len(shape), len(shape)), tuple(range(len(shape))), 5):
            for keepdims in (False, True):
                agrees("nanmedian", x, axis=axis, keepdims=keepdims)


def test_outputs_and_lists():
    x = np.array([[1.0, 5.0, 2.0], [4.0, np.nan, 3.0]])
    for name, q in (("quantile", (0.5,)), ("nanpercentile", (50,)), ("nanmedian", ())):
        ours, theirs = np.zeros(3), np.zeros(3)
        assert getattr(cnp, name)(x, *q, axis=0, out=ours) is ours
        getattr(np, name)(x, *q, axis=0, out=theirs)
        np.testing.assert_array_equal(ours, theirs)
    for value in (3, 2.5, [1, 2, 4], [[1.0, 2.0], [3.0, 5.0]]):
        agrees("quantile", value, 0.3)
        agrees("quantile", value, 0.3, overwrite_input=True)
    assert np.quantile(cnp.asarray(x), 0.5).describe() == "LazyTensor(quantile: float64[])"


def test_under_placeholders():
    x = drawn("float64", (3, 8))
    both = composit.compile(lambda x, q: cnp.quantile(x, q, axis=1), x, np.array([0.1, 0.7]))
    q = np.array([0.25, 0.5])
    np.testing.assert_array_equal(both(x, q), np.quantile(x, q, axis=1))
    each = composit.vmap(lambda row: cnp.nanquantile(row, 0.3))(x)
    np.testing.assert_array_equal(each, np.nanquantile(x, 0.3, axis=1))


@settings(max_examples=100, deadline=None)
@given(
    st.integers(0, 2**32 - 1),
    st.sampled_from(METHODS),
    st.sampled_from(["int32", "float32", "float64"]),
    st.lists(st.floats(0, 1), max_size=4),
    st.integers(1, 40),
)
def test_any_shares(seed, method, dtype, q, length):
    x = drawn(dtype, (3, length), seed)
    agrees("quantile", x, np.array(q), axis=1, method=method)
    agrees("nanquantile", x, np.array(q), axis=0, method=method)


@pytest.mark.parametrize("dtype", ["int32", "float32", "float64"])
def test_compiled(dtype):
    def all_of_them(x):
        shares = np.array([0.1, 0.6])
        found = [cnp.quantile(x, shares, i, method=method) for method in METHODS for i in (0, 1)]
        return *found, cnp.nanquantile(x, 0.3, axis=1), cnp.nanmedian(x, axis=0)

    same_bits_compiled(all_of_them, drawn(dtype, (5, 70), nans=0.1))


def test_derivatives():
    x = np.array([[0.5, -2.0, 2.0, -1.0, 4.0], [3.0, 0.25, 9.0, 1.5, -7.0]])
    for method in METHODS:
        check_derivatives(lambda x, method=method: cnp.quantile(x, 0.37, 1, method=method), x)
    check_derivatives(lambda q: cnp.quantile(x, q, axis=1), np.array([0.3, 0.6]))
    check_derivatives(lambda x: cnp.nanmedian(x, axis=1), x)
    number = np.array([[True, True, False, True, True]] * 2)
    check_derivatives(lambda x: cnp.nanquantile(cnp.where(number, x, np.nan), 0.4, axis=1), x)
    slope = composit.grad(lambda x: cnp.sum(cnp.quantile(x, 0.5, axis=1)))
    assert cnp.evaluate(slope(x)).tolist() == [[1, 0, 0, 0, 0], [0, 0, 0, 1, 0]]
