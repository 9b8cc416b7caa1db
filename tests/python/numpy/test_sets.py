"""Sets against NumPy's, exactly: repetitions, NaN, slices, and what two arrays have in common."""

import numpy as np
import pytest
from against_numpy import agrees
from hypothesis import given, settings
from hypothesis import strategies as st

import composit
import composit.numpy as cnp
from composit import nn

DTYPES = ["bool", "int8", "uint8", "int64", "uint64", "float32", "float64"]
SHAPES = [(), (0,), (1,), (9,), (40,), (3, 0), (0, 3), (4, 3), (2, 3, 4)]
PAIRS = ["union1d", "intersect1d", "setdiff1d", "setxor1d"]


def drawn(dtype, shape, seed=0, nans=0.0):
    """Few different values, so that most are there several times."""
    draw = np.random.default_rng(seed)
    dtype = np.dtype(dtype)
    if dtype.kind == "b":
        return np.asarray(draw.random(shape) < 0.5)
    values = draw.integers(0 if dtype.kind == "u" else -3, 6, shape).astype(dtype)
    if dtype.kind == "f":
        values = np.where(draw.random(shape) < nans, np.nan, values * 1.5 + 0.25).astype(dtype)
    return np.asarray(values)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SHAPES)
def test_unique(dtype, shape):
    for nans in (0.0, 0.4, 1.0) if dtype[0] == "f" else (0.0,):
        x = drawn(dtype, shape, nans=nans)
        for number in range(8):
            wanted = {
                "return_index": bool(number & 1),
                "return_inverse": bool(number & 2),
                "return_counts": bool(number & 4),
            }
            agrees("unique", x, **wanted)
            # NumPy numbers several NaN in an order of its own unless it looks for first positions.
            if number & 1 or not number & 2 or not np.isnan(x).any():
                agrees("unique", x, equal_nan=False, **wanted)
            for axis in range(-len(shape) - 1, len(shape) + 1):
                if 0 not in shape or len(shape) < 2:
                    agrees("unique", x, axis=axis, **wanted)
        for name in ("unique_all", "unique_counts", "unique_inverse"):
            if name != "unique_inverse" or not np.isnan(x).any():
                agrees(name, x)
        np.testing.assert_array_equal(cnp.unique_values(x), np.sort(np.unique_values(x)))


def test_results_have_names():
    x = np.array([3, 1, 3])
    for name in ("unique_all", "unique_counts", "unique_inverse"):
        ours, theirs = getattr(cnp, name)(x), getattr(np, name)(x)
        assert type(ours).__name__ == type(theirs).__name__
        assert ours._fields == theirs._fields
    assert isinstance(np.unique(cnp.asarray(x)), cnp.LazyTensor)


@pytest.mark.parametrize("name", PAIRS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_pairs(name, dtype):
    for a in SHAPES:
        for b in ((), (0,), (7,), (3, 4)):
            for other in (dtype, "int16", "float64"):
                for nans in (0.0, 0.3):
                    agrees(name, drawn(dtype, a, 1, nans), drawn(other, b, 2, nans))
    x, y = np.unique(drawn(dtype, (30,), 3)), np.unique(drawn(dtype, (4,), 4))
    if name != "union1d":
        agrees(name, x[::-1].copy(), y, True)
        agrees(name, x, y, assume_unique=True)
    if name == "intersect1d":
        for is_unique in (False, True):
            agrees(name, x, y, is_unique, True)
        agrees(name, drawn(dtype, (4, 5)), drawn(dtype, (6,)), return_indices=True)


@pytest.mark.parametrize("dtype", DTYPES)
def test_isin(dtype):
    for a in SHAPES:
        for b in ((), (0,), (1,), (5,), (3, 40)):
            for nans in (0.0, 0.4):
                x, y = drawn(dtype, a, 1, nans), drawn(dtype, b, 2, nans)
                for kind in (None, "sort", "table"):
                    for invert in (False, True):
                        agrees("isin", x, y, invert=invert, kind=kind)
                agrees("isin", x, drawn("int32", b, 3))
                agrees("isin", x, drawn("float64", b, 3, nans))
    agrees("isin", [1, 2, 3], [2, 5])
    agrees("isin", 2, [2, 5])
    agrees("isin", [1, 2, 3], [2, 5], kind="hash")
    agrees("isin", np.array([1, -100, 100], "int8"), np.array([-100, 100], "int8"), kind="table")
    agrees("isin", np.array([1, -100, 100], "int8"), np.array([-100, 100], "int8"))


def test_isin_is_lazy():
    x = np.array([1.0, 2.0, 5.0])
    found = composit.compile(lambda x, y: cnp.isin(x, y), x, np.zeros(2))
    np.testing.assert_array_equal(found(x, np.array([5.0, 1.0])), [True, False, True])


def test_shapes_that_depend_on_placeholders():
    x = np.array([1.0, 2.0])
    for name in ("unique", "unique_all"):
        with pytest.raises(NotImplementedError, match=rf"{name}: the shape .* placeholder 'x'"):
            composit.compile(lambda x, name=name: getattr(cnp, name)(x), x)
    for name in PAIRS:
        with pytest.raises(NotImplementedError, match=rf"{name}: the shape .* placeholder 'x'"):
            composit.compile(lambda x, name=name: getattr(cnp, name)(x, [1.0]), x)


def test_gradient_goes_to_the_first_of_each():
    x = cnp.asarray(np.array([3.0, 1.0, 3.0, 2.0]))
    weights = cnp.asarray([1.0, 10.0, 100.0])
    (gradient,) = nn.chain_rule({cnp.unique(x): weights}, [x])
    np.testing.assert_array_equal(gradient, [100, 1, 0, 10])
    (gradient,) = nn.chain_rule({cnp.setdiff1d(x, [2.0]): weights[:2]}, [x])
    np.testing.assert_array_equal(gradient, [10, 1, 0, 0])


@settings(max_examples=150, deadline=None)
@given(
    st.lists(st.one_of(st.integers(-4, 4), st.just(float("nan"))), max_size=30),
    st.lists(st.integers(-4, 4), max_size=30),
)
def test_any_values(a, b):
    a, b = np.array(a, "float64"), np.array(b, "float32")
    agrees("unique", a, return_index=True, return_inverse=True, return_counts=True)
    for name in (*PAIRS, "isin"):
        agrees(name, a, b)


@pytest.mark.parametrize("equal_nan", [True, False])
@pytest.mark.parametrize("count", [0, 1, 3, 511, 512, 3000])
@pytest.mark.parametrize(
    "dtype", ["bool", "int8", "uint8", "int16", "int64", "uint64", "float16", "float32", "float64"]
)
def test_many_values_are_counted_as_numpys(dtype, count, equal_nan):
    draw = np.random.default_rng(count)
    x = draw.integers(-(2**62), 2**62, size=count)
    x = (x % 2 == 0) if dtype == "bool" else x.astype(dtype) if dtype[0] in "iu" else x / 2**61
    x = x.astype(dtype)
    x[: count // 3] = draw.permutation(x)[: count // 3]
    if x.dtype.kind == "f" and count > 3:
        x[draw.integers(0, count, 9)] = [
            np.nan,
            -np.nan,
            0,
            -0.0,
            np.inf,
            -np.inf,
            1e-45,
            0,
            np.nan,
        ]
    expected = np.unique(x, True, True, True, equal_nan=equal_nan)
    found = cnp.unique(cnp.asarray(x), True, True, True, equal_nan=equal_nan)
    for ours, theirs in zip(cnp.evaluate(*found), expected, strict=True):
        assert ours.dtype == theirs.dtype
        np.testing.assert_array_equal(ours, theirs)
