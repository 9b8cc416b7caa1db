"""Differences, running totals and integrals against NumPy: integers exactly, floats within 16 ulp
of the greatest number that is added."""

import math

import numpy as np
import pytest
from against_numpy import agrees, same_bits_compiled
from differences import check_derivatives

import composit.numpy as cnp

DTYPES = ["bool", "int8", "int32", "int64", "uint8", "uint64", "float32", "float64"]


def drawn(dtype, shape, seed=0):
    draw = np.random.default_rng(seed)
    dtype = np.dtype(dtype)
    if dtype.kind in "iu":
        return draw.integers(0 if dtype.kind == "u" else -90, 90, shape).astype(dtype)
    if dtype.kind == "b":
        return draw.random(shape) < 0.7
    return draw.uniform(-3, 3, shape).astype(dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(), (0,), (1,), (70,), (3, 4), (0, 3), (2, 3, 5)])
def test_running_totals(dtype, shape):
    x = drawn(dtype, shape)
    for name in ("cumulative_sum", "cumulative_prod"):
        for axis in (None, *range(-len(shape) - 1, len(shape) + 1)):
            for include_initial in (False, True):
                options = {"axis": axis, "include_initial": include_initial}
                size = 100 if name == "cumulative_sum" else 1e-3
                agrees(name, x, ulp=64, scale=size, **options)
                agrees(name, x, ulp=64, scale=size, dtype="float64", **options)
    agrees("cumulative_sum", [1, 2, 3], include_initial=True)
    ours, theirs = np.zeros(4), np.zeros(4)
    cnp.cumulative_sum([1.0, 2, 3], include_initial=True, out=ours)
    np.cumulative_sum([1.0, 2, 3], include_initial=True, out=theirs)
    np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(), (0,), (1,), (7,), (3, 4)])
def test_ediff1d(dtype, shape):
    x = drawn(dtype, shape)
    agrees("ediff1d", x)
    for end in (5, 2.5, True, np.int8(3), np.float32(1), np.arange(3), [[1, 2], [3, 4]], []):
        agrees("ediff1d", x, end)
        agrees("ediff1d", x, to_begin=end)
        agrees("ediff1d", x, end, end)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("edge_order", [0, 1, 2, 3])
def test_gradient(dtype, edge_order):
    even, uneven = np.arange(5) * 0.5, np.array([0, 1, 3, 3.5, 6])
    for shape in ((), (1,), (2,), (3,), (5,), (5, 5), (2, 5, 3)):
        x = drawn(dtype, shape)
        options = {"edge_order": edge_order, "ulp": 16, "scale": 400.0}
        agrees("gradient", x, **options)
        for axis in (0, -1, 1, (0, 1), (), (0, 0), None):
            agrees("gradient", x, axis=axis, **options)
            for spacing in (0.1, 2, np.float64(0.3), np.float32(0.3), even, uneven,
                            np.array([1, 2, 4, 8, 16]), even.astype("float32"),
                            uneven.astype("float32"), np.ones((1, 5)), np.arange(4)):  # fmt: skip
                agrees("gradient", x, spacing, axis=axis, **options)
        agrees("gradient", x, 0.5, 2, **options)
        agrees("gradient", x, uneven, 2.0, **options)
        agrees("gradient", x, 1, even, 2, **options)
    agrees("gradient", [1, 4, 9.0], **options)


@pytest.mark.parametrize("dtype", DTYPES)
def test_trapezoid(dtype):
    options = {"ulp": 16, "scale": 400.0}
    for shape in ((), (0,), (1,), (5,), (4, 5), (5, 4), (2, 3, 5)):
        y = drawn(dtype, shape)
        agrees("trapezoid", y, **options)
        for axis in (0, -1, 1, -2, 3):
            agrees("trapezoid", y, axis=axis, **options)
            agrees("trapezoid", y, dx=0.5, axis=axis, **options)
            agrees("trapezoid", y, dx=2, axis=axis, **options)
            agrees("trapezoid", y, drawn("float64", (5,)), axis=axis, **options)
            agrees("trapezoid", y, drawn("float32", (4, 5)), axis=axis, **options)
            agrees("trapezoid", y, [1, 2, 4, 7, 9], axis=axis, **options)
            agrees("trapezoid", y, np.array(1.0), axis=axis, **options)


@pytest.mark.parametrize("dtype", DTYPES)
def test_unwrap(dtype):
    for shape in ((), (0,), (1,), (60,), (4, 9), (3, 0)):
        p = drawn(dtype, shape)
        options = {"ulp": 16, "scale": 400.0}
        for axis in (-1, 0, 2):
            agrees("unwrap", p, axis=axis, **options)
            agrees("unwrap", p, axis=axis, period=12, **options)
            agrees("unwrap", p, axis=axis, period=7, **options)
            agrees("unwrap", p, axis=axis, period=2.5, **options)
            agrees("unwrap", p, 5, axis, **options)
            agrees("unwrap", p, 1.5, axis, period=4, **options)
    agrees("unwrap", [0, 3, 6, 9, 12, 2], period=4)
    agrees("unwrap", [0.0, math.pi, 0, -math.pi], ulp=4, scale=7.0)


@pytest.mark.parametrize("dtype", ["int32", "float32", "float64"])
def test_compiled(dtype):
    def all_of_them(x, coordinates):
        return (
            cnp.cumulative_sum(x, axis=1, include_initial=True),
            cnp.cumulative_prod(x, axis=0),
            cnp.ediff1d(x, 1, [2, 3]),
            *cnp.gradient(x),
            cnp.gradient(x, coordinates, axis=1, edge_order=2),
            cnp.trapezoid(x),
            cnp.trapezoid(x, coordinates),
            cnp.unwrap(x),
        )

    coordinates = np.cumsum(np.random.default_rng(1).uniform(0.5, 1, 30))
    same_bits_compiled(all_of_them, drawn(dtype, (4, 30)), coordinates)


def test_derivatives():
    x, coordinates = drawn("float64", (3, 4)), np.array([0.0, 0.5, 2.0, 2.25])
    check_derivatives(lambda x: cnp.cumulative_sum(x, axis=1, include_initial=True), x)
    check_derivatives(lambda x: cnp.cumulative_prod(x, axis=0), x)
    check_derivatives(lambda x, a, b: cnp.ediff1d(x, a, b), x, x[0], x[:, 0])
    for edge_order in (1, 2):
        options = {"edge_order": edge_order}
        check_derivatives(lambda x, options=options: list(cnp.gradient(x, 0.5, **options)), x)
        check_derivatives(
            lambda x, c, options=options: cnp.gradient(x, c, axis=1, **options),
            x, coordinates, tolerance=1e-5,
        )  # fmt: skip
    check_derivatives(lambda y, x: cnp.trapezoid(y, x), x, coordinates)
    check_derivatives(lambda y: cnp.trapezoid(y, dx=0.5, axis=0), x)
    check_derivatives(cnp.unwrap, 3 * x)
