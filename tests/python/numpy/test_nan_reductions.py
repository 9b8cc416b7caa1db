"""Reductions that pass over NaN against NumPy: extrema, positions and counts exactly; sums and what
is made of them within 8 ulp of the greatest sum of magnitudes, as they add in another order."""

import numpy as np
import pytest
from against_numpy import agrees, same_bits_compiled
from differences import check_derivatives

import composit
import composit.numpy as cnp

DTYPES = ["bool", "int8", "int32", "int64", "uint8", "uint64", "float32", "float64"]
SHAPES = [(), (0,), (1,), (9,), (3, 0), (0, 3), (3, 4), (2, 3, 5), (40, 130)]
TOTALS = ["nansum", "nanprod"]
EXTREMA = ["nanmax", "nanmin"]
STATISTICS = ["nanmean", "nanvar", "nanstd"]
RUNNING = ["nancumsum", "nancumprod"]
POSITIONS = ["nanargmax", "nanargmin"]
OTHERS = [
    "sum", "prod", "max", "min", "ptp", "any", "all", "mean", "var", "std", "argmax", "argmin",
    "cumsum", "cumprod", "count_nonzero", "median", "nanmedian", "sort", "average",
]  # fmt: skip


def drawn(dtype, shape, nans=0.3, seed=0, special=False):
    """Numbers near 1, NaN among floats; one row of nothing but NaN where there are rows."""
    draw = np.random.default_rng(seed)
    dtype = np.dtype(dtype)
    if dtype.kind in "iu":
        return draw.integers(0 if dtype.kind == "u" else -3, 4, shape).astype(dtype)
    if dtype.kind == "b":
        return draw.random(shape) < 0.7
    values = draw.uniform(0.9, 1.1, shape)
    if special:
        values = np.where(draw.random(shape) < 0.3, draw.choice([np.inf, -np.inf], shape), values)
    values = np.where(draw.random(shape) < nans, np.nan, values)
    if len(shape) > 1 and values.size and nans:
        values[-1] = np.nan
    return values.astype(dtype)


def axes_of(shape):
    return [None, *range(-len(shape), len(shape)), tuple(range(len(shape))), len(shape) + 1]


@pytest.mark.long_tail
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SHAPES)
def test_axes_and_keepdims(dtype, shape):
    for nans, special in ((0.3, False), (0.0, False), (0.3, True), (1.0, False)):
        x = drawn(dtype, shape, nans, special=special)
        for axis in axes_of(shape):
            for keepdims in (False, True):
                options = {"axis": axis, "keepdims": keepdims}
                for name in TOTALS + STATISTICS:
                    agrees(name, x, ulp=8, scale=2.0, **options)
                for name in EXTREMA:
                    agrees(name, x, **options)
                for name in POSITIONS:
                    if not isinstance(axis, tuple):
                        agrees(name, x, **options)
            for name in RUNNING:
                if not isinstance(axis, tuple):
                    agrees(name, x, axis=axis, ulp=64, scale=2.0)


@pytest.mark.parametrize("dtype", ["int8", "uint8", "float32", "float64"])
@pytest.mark.parametrize("to", ["int16", "int64", "float32", "float64"])
def test_dtypes(dtype, to):
    x = drawn(dtype, (4, 5))
    for name in TOTALS + STATISTICS + RUNNING:
        if dtype[0] == "f" and to[0] == "i" and name in TOTALS + RUNNING:
            x = np.ones((4, 5), dtype)  # NumPy's conversion of a sum with NaN is undefined
        if dtype[0] != "f" and to[0] == "i" and name in STATISTICS:
            continue  # those of var itself
        agrees(name, x, axis=1, dtype=to, ulp=8, scale=2.0)
    agrees("nansum", x, 0, to, ulp=8, scale=2.0)


@pytest.mark.parametrize("dtype", ["bool", "int32", "float32", "float64"])
def test_initial_and_where(dtype):
    x = drawn(dtype, (4, 6))
    for mask in (x == x, x != x, np.arange(6) % 2 == 0, np.zeros((4, 1), bool)):
        for axis in (None, 0, 1):
            for name in TOTALS:
                agrees(name, x, axis=axis, where=mask, ulp=8, scale=2.0)
                agrees(name, x, axis=axis, where=mask, initial=3, ulp=8, scale=6.0)
            for name in STATISTICS:
                agrees(name, x, axis=axis, where=mask, ulp=8, scale=2.0)
            for name in EXTREMA:
                agrees(name, x, axis=axis, where=mask)
                for initial in (1, 0, 100) if dtype != "bool" else (True,):
                    agrees(name, x, axis=axis, where=mask, initial=initial)
                    agrees(name, x, axis=axis, initial=initial)
                if dtype[0] == "f":
                    agrees(name, x, axis=axis, where=mask, initial=np.nan)
    for name in EXTREMA:
        agrees(name, x[:0], initial=1)
        agrees(name, x[:0])


@pytest.mark.parametrize("name", ["nanvar", "nanstd"])
@pytest.mark.parametrize("dtype", ["int32", "float32", "float64"])
def test_degrees_of_freedom(name, dtype):
    x = drawn(dtype, (4, 6))
    for ddof in (0, 1, 0.5, 4, 6, 7, -1):
        for axis in (None, 0, 1):
            agrees(name, x, axis=axis, ddof=ddof, ulp=8, scale=2.0)
            agrees(name, x, axis=axis, correction=ddof, ulp=8, scale=2.0)
            agrees(name, x, axis=axis, ddof=ddof, dtype="float64", ulp=8, scale=2.0)
    agrees(name, x, ddof=1, correction=1)
    mean = np.nanmean(x[:3], axis=1, keepdims=True)
    agrees(name, x[:3], axis=1, mean=mean, ulp=8, scale=2.0)
    agrees(name, x[:3], axis=1, mean=mean + mean.dtype.type(1), ulp=8, scale=2.0)


def test_numbers_lists_and_outputs():
    for x in (2, True, np.nan, -1.5, [1.0, np.nan, 3.0], [[1, 2], [3, 4]]):
        for name in TOTALS + EXTREMA + STATISTICS + RUNNING + POSITIONS:
            agrees(name, x, ulp=4, scale=2.0)
    x = np.array([[1.0, np.nan], [4.0, 2.0]])
    for name in TOTALS + EXTREMA + STATISTICS:
        ours, theirs = np.zeros(2), np.zeros(2)
        assert getattr(cnp, name)(x, axis=0, out=ours) is ours
        getattr(np, name)(x, axis=0, out=theirs)
        np.testing.assert_array_equal(ours, theirs)
    with pytest.raises(TypeError):
        cnp.nanmean(x, axis=0, out=np.zeros(2, int))
    assert np.nanmean(cnp.asarray(x)).describe() == "LazyTensor(nanmean: float64[])"


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_complex_dtypes(dtype):
    draw = np.random.default_rng(5)
    z = (draw.normal(size=(3, 5)) + 1j * draw.normal(size=(3, 5))).astype(dtype)
    z[0, 1] = complex(np.nan, 1)
    z[2, 3] = complex(2, np.nan)
    for name in TOTALS + EXTREMA + STATISTICS + RUNNING + POSITIONS:
        for axis in (None, 0, 1):
            ulp = 0 if name in EXTREMA + POSITIONS else 16
            agrees(name, z, axis=axis, ulp=ulp, scale=30.0)
    same_bits_compiled(lambda z: (cnp.nansum(z), cnp.nanvar(z, 0), cnp.nanmax(z, 1)), z)


def test_positions_under_placeholders():
    x = np.array([1.0, np.nan, 3.0])
    with pytest.raises(
        NotImplementedError, match=r"nanargmax: .*'x'.*argmax\(where\(isnan\(x\), -"
    ):
        composit.compile(lambda x: cnp.nanargmax(x), x)
    with pytest.raises(ValueError, match="nanargmin: All-NaN slice encountered"):
        cnp.nanargmin(x * np.nan)
    integers = composit.compile(lambda x: cnp.nanargmin(x), np.arange(3))
    assert integers(np.array([3, 1, 2])) == 1


@pytest.mark.parametrize("dtype", ["int32", "float32", "float64"])
def test_compiled(dtype):
    def all_of_them(x):
        return tuple(
            getattr(cnp, name)(x, axis=axis)
            for name in TOTALS + EXTREMA + STATISTICS + RUNNING
            for axis in (0, 1)
        )

    same_bits_compiled(all_of_them, drawn(dtype, (5, 70)))


def test_derivatives():
    x = np.array([[0.5, np.nan, 2.0, -1.0], [3.0, 0.25, np.nan, 1.5]])
    number = ~np.isnan(x)

    def of_numbers(name, **options):
        """The function of an x whose NaN do not move."""
        return lambda y: getattr(cnp, name)(cnp.where(number, y, np.nan), axis=1, **options)

    y = np.nan_to_num(x)
    for name in TOTALS + EXTREMA + STATISTICS + RUNNING:
        check_derivatives(of_numbers(name), y)
    check_derivatives(of_numbers("nanvar", ddof=1), y)
    slope = composit.grad(lambda x: cnp.sum(cnp.nanmean(x, axis=1)))
    np.testing.assert_array_equal(cnp.evaluate(slope(x)), number / 3)


def test_axis_0_of_one_number():
    """NumPy's reductions by ufuncs take it, those that count elements do not."""
    for x in (np.array(3.0), np.array(np.nan), np.array(2, "int8"), np.array(True)):
        for name in (*TOTALS, *EXTREMA, *STATISTICS, *RUNNING, *POSITIONS, *OTHERS):
            for axis in (0, -1, 1, -2, (), (0,), (-1,), (0, 0), (0, 1), None):
                if x.dtype == bool and name == "ptp":
                    continue
                if isinstance(axis, tuple) and ("arg" in name or "cum" in name or name == "sort"):
                    continue  # one axis, of which NumPy says AxisError or TypeError
                agrees(name, x, axis=axis, ulp=2)
        for name in (*TOTALS, *EXTREMA, "nanmean", "sum", "max", "any"):
            agrees(name, x, axis=0, keepdims=True)


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint8", "int64", "float32", "float64"])
@pytest.mark.parametrize("to", ["int16", "int64", "uint8", "float32", "float64", None])
def test_variances_in_a_dtype(dtype, to):
    x = drawn(dtype, (4, 7), 0.0)
    x = x if np.dtype(dtype).kind == "b" else (x * 10).astype(dtype)
    for name in ("mean", "var", "std", "nanvar", "nanstd"):
        if name[0] == "n" and dtype[0] == "f" and to and to[0] != "f":
            continue
        for axis in (None, 0, 1):
            options = {"axis": axis, "dtype": to, "ulp": 16, "scale": 100.0}
            agrees(name, x, **options)
            agrees(name, x, keepdims=True, **options)
            agrees(name, x, where=x > x.min(), **options)
    for name in ("var", "std", "nanvar", "nanstd"):
        mean = x.mean(axis=1, keepdims=True)
        for given in (mean, mean.astype("float32"), np.zeros((4, 1), "int64")):
            agrees(name, x, axis=1, mean=given, ulp=16, scale=100.0)
            agrees(name, x, axis=1, mean=given, ddof=1, ulp=16, scale=100.0)
