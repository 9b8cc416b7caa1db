"""Comparisons, parts of complex numbers, fix, sinc and nan_to_num against NumPy: exactly, sinc
within 2 ulp."""

import math

import numpy as np
import pytest
from against_numpy import agrees, same_bits_compiled
from differences import check_derivatives

import composit
import composit.numpy as cnp

DTYPES = ["bool", "int8", "int32", "int64", "uint8", "uint64", "float32", "float64"]
SHAPES = [(), (0,), (7,), (3, 1), (2, 0, 3), (2, 3, 4), (4097,)]
SPECIAL = [0.0, -0.0, 1.0, np.nan, np.inf, -np.inf, 1e-30, -2.5, 3e38, 1e-45, 0.5, -1e-8, 7.0]


def drawn(dtype, shape, seed=0):
    """Numbers, special ones among them where the dtype has them; every integer is likely twice."""
    draw = np.random.default_rng(seed)
    dtype = np.dtype(dtype)
    if dtype.kind in "iu":
        bounds = np.iinfo(dtype)
        small = draw.integers(max(bounds.min, -3), 4, shape)
        return np.where(draw.random(shape) < 0.2, bounds.min, small).astype(dtype)
    if dtype.kind == "b":
        return draw.random(shape) < 0.5
    values = draw.standard_normal(shape) * 3
    return np.where(draw.random(shape) < 0.4, draw.choice(SPECIAL, shape), values).astype(dtype)


def near(a, seed):
    """Values of which some equal a's, some are almost theirs, some are not."""
    draw = np.random.default_rng(seed)
    if a.dtype.kind != "f":
        return np.where(draw.random(a.shape) < 0.5, a, drawn(a.dtype, a.shape, seed))
    with np.errstate(all="ignore"):
        steps = draw.choice([0, 1e-9, 0.9e-5, 1e-5, 1.1e-5, 1], a.shape)
        return (a * (1 + steps)).astype(a.dtype)


@pytest.mark.long_tail
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("other", [*DTYPES, "same"])
def test_isclose(dtype, other):
    for shape in SHAPES:
        a = drawn(dtype, shape)
        b = near(a, 1) if other == "same" else drawn(other, shape, 2)
        for options in ({}, {"equal_nan": True}, {"rtol": 0}, {"rtol": 0.5, "atol": 1}):
            agrees("isclose", a, b, **options)
            agrees("allclose", a, b, **options)
        agrees("array_equal", a, b)
        agrees("array_equal", a, a.copy(), equal_nan=True)
        agrees("array_equal", a, b, equal_nan=True)
        agrees("array_equiv", a, b)


@pytest.mark.parametrize("dtype", DTYPES)
def test_numbers_and_broadcasting(dtype):
    a = drawn(dtype, (3, 5))
    for b in (1, 0, 1.0, 1.00001, True, np.inf, np.nan, -np.inf, np.float32(1), np.float64(1e-9)):
        for shape in ((), (5,)):
            agrees("isclose", drawn(dtype, shape), b)
            agrees("isclose", b, drawn(dtype, shape), equal_nan=True)
            agrees("allclose", drawn(dtype, shape), b)
            agrees("array_equal", drawn(dtype, shape), b)
            agrees("array_equiv", drawn(dtype, shape), b)
    agrees("isclose", a, drawn("float64", (1, 5)), rtol=np.full((3, 1), 1e-3), atol=np.array(1e-3))
    agrees("isclose", a, drawn("float32", (5,)), np.float32(0.25), np.zeros(5))
    agrees("isclose", a, a, rtol=[0.1] * 5)
    agrees("array_equiv", a, a[0])
    agrees("array_equiv", np.broadcast_to(a[0], (3, 5)), a[0])
    for b in (drawn(dtype, (4,)), drawn(dtype, (5, 3))):
        for name in ("isclose", "allclose", "array_equal", "array_equiv"):
            agrees(name, a, b)


def test_borders_of_the_tolerance_are_numpys():
    a = np.linspace(0.99999, 1.00001, 2001, dtype="float32")
    for b in (1.0, 1, np.float32(1), np.float64(1)):
        agrees("isclose", a, b, atol=0)
        agrees("isclose", a.astype("float64"), b, atol=0)
        agrees("isclose", a, b, rtol=0, atol=1e-5)
    agrees("isclose", np.array([250, 3, 255], "uint8"), 252, rtol=0, atol=3)
    agrees("isclose", 2, 2.00001)
    agrees("isclose", 1, 1)
    agrees("isclose", [1, 2.0], [1.0, 2.1])
    assert type(cnp.allclose(1, 1)) is type(cnp.array_equal(1, 2)) is bool
    assert (
        type(cnp.array_equiv(1, 1)) is type(cnp.iscomplexobj(1)) is type(cnp.isrealobj(1)) is bool
    )


def test_lists_of_unequal_lengths_are_not_equal():
    ragged = [[1, 2], [3]]
    assert cnp.array_equal(ragged, [1, 2]) is np.array_equal(ragged, [1, 2]) is False
    assert cnp.array_equiv([1], ragged) is False


def test_placeholders_are_refused_by_name():
    x = np.arange(3.0)
    cases = {
        "allclose": r"allclose: it needs the values .* placeholder 'x'.* all\(isclose\(a, b\)\)",
        "array_equal": r"array_equal: it needs .* use all\(equal\(a1, a2\)\)",
        "array_equiv": r"array_equiv: it needs .* use all\(equal\(a1, a2\)\)",
    }
    for name, message in cases.items():
        with pytest.raises(NotImplementedError, match=message):
            composit.compile(lambda x, name=name: getattr(cnp, name)(x, 1 * x), x)
    assert composit.compile(lambda x: cnp.all(cnp.isclose(x, x)), x)(x)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SHAPES)
def test_of_one_tensor(dtype, shape):
    x = drawn(dtype, shape, 3)
    for name in ("isneginf", "isposinf", "fix", "real", "imag", "conj", "conjugate", "iscomplex",
                 "isreal", "iscomplexobj", "isrealobj", "real_if_close", "nan_to_num"):  # fmt: skip
        agrees(name, x)
    agrees("angle", x)
    agrees("angle", x, deg=True)
    # sin at the multiples of pi that are computed for it, and huge ones.
    agrees("sinc", x, ulp=2)


@pytest.mark.parametrize("dtype", ["float32", "float64", "int16", "bool"])
def test_nan_to_num(dtype):
    x = drawn(dtype, (3, 5), 4)
    agrees("nan_to_num", x, nan=1)
    agrees("nan_to_num", x, nan=-2.5, posinf=7, neginf=-8.5)
    agrees("nan_to_num", x, True, 0.25, None, True)
    agrees("nan_to_num", x, nan=np.arange(5.0), posinf=np.arange(3)[:, None], neginf=[[1.5]])
    agrees("nan_to_num", x, nan=np.complex128(1j))
    agrees("nan_to_num", x, nan=np.arange(4.0))
    for make in (np.array, cnp.asarray):
        target = make(x)
        returned = cnp.nan_to_num(target, copy=False, nan=3.0)
        assert returned is target
        np.testing.assert_array_equal(np.asarray(target), np.nan_to_num(x, nan=3.0))
    with pytest.raises(ValueError, match="nan_to_num: copy=False"):
        cnp.nan_to_num([1.0], copy=False)


def test_numbers():
    for x in (2, True, -1.5, 0.0, -0.0, np.nan, np.float32(3), [1, -2.5], []):
        for name in ("isneginf", "isposinf", "fix", "real", "imag", "conjugate", "iscomplex",
                     "isreal", "iscomplexobj", "isrealobj", "real_if_close", "nan_to_num",
                     "angle"):  # fmt: skip
            agrees(name, x)
        agrees("sinc", x, ulp=2)


def test_sinc_of_many():
    x = np.random.default_rng(0).uniform(-30, 30, 20000)
    agrees("sinc", x, ulp=3, scale=1e-3)
    agrees("sinc", x.astype("float32"), ulp=3, scale=1e-3)


def test_outputs():
    x = np.array([1.5, -np.inf, np.inf, -2.5])
    for name in ("isneginf", "isposinf", "fix", "conjugate"):
        ours, theirs = np.zeros(4), np.zeros(4)
        assert getattr(cnp, name)(x, out=ours) is ours
        getattr(np, name)(x, out=theirs)
        np.testing.assert_array_equal(ours, theirs)
    with pytest.raises(TypeError):
        cnp.fix(x, out=np.zeros(4, int))
    ours = cnp.zeros(4)
    assert cnp.conjugate(x, out=ours, where=x > 0) is ours
    np.testing.assert_array_equal(np.asarray(ours), [1.5, 0, np.inf, 0])


def test_complex_dtypes():
    z = cnp.asarray(np.array([1 + 2j]))
    assert cnp.iscomplexobj(z) and not cnp.isrealobj(z)
    assert cnp.real_if_close(z) is z
    for parts in (1e-15, 1e-9, 0):
        near = np.array([1 + parts * 1j, -2])
        ours, theirs = cnp.real_if_close(near), np.real_if_close(near)
        assert ours.dtype == theirs.dtype
        np.testing.assert_array_equal(ours, theirs)
        assert cnp.real_if_close(near, 0.1).dtype == np.real_if_close(near, 0.1).dtype
    for name in ("isneginf", "isposinf"):
        with pytest.raises(TypeError, match=f"{name}: This operation is not supported for complex"):
            getattr(cnp, name)(z)


def test_real_parts_share_their_tensor():
    x = cnp.asarray([1.0, 2.0])
    assert cnp.real(x) is x and cnp.real_if_close(x) is x


@pytest.mark.parametrize("dtype", ["int8", "float32", "float64"])
def test_compiled(dtype):
    x, y = drawn(dtype, (50,), 5), drawn(dtype, (50,), 6)

    def all_of_them(x, y):
        return (
            cnp.isclose(x, y, equal_nan=True), cnp.isneginf(x), cnp.isposinf(x), cnp.fix(x),
            cnp.sinc(x), cnp.nan_to_num(x), cnp.real(x), cnp.imag(x), cnp.conj(x),
            cnp.iscomplex(x), cnp.isreal(x), *([] if dtype == "int8" else [cnp.angle(x, True)]),
        )  # fmt: skip

    same_bits_compiled(all_of_them, x, y)


def test_derivatives_of_sinc_near_zero():
    values, slopes = np.array([0.0, 1e-160, 1e-9, 0.15, 0.16, 0.3]), []
    slope = cnp.sinc
    for _ in range(4):
        slope = composit.grad(lambda x, before=slope: cnp.sum(before(x)))
        slopes.append(cnp.evaluate(slope(values)))
    for order, made in enumerate(slopes, 1):  # of the series, with exact coefficients
        powers = [
            (k, (-1) ** (k // 2) * math.pi**k / math.factorial(k + 1) * math.perm(k, order))
            for k in range(0, 60, 2)
            if k >= order
        ]
        expected = [math.fsum(c * x ** (k - order) for k, c in powers) for x in values]
        np.testing.assert_allclose(made, expected, rtol=1e-11)


def test_derivatives():
    x = np.array([0.3, -1.7, 2.0, 5.25])
    check_derivatives(cnp.sinc, x)
    check_derivatives(lambda x: cnp.nan_to_num(x * x), x)
    check_derivatives(lambda x: cnp.real(x) * cnp.conj(x) + cnp.real_if_close(x), x)
    slope = composit.grad(lambda x: cnp.sum(cnp.sinc(x) + cnp.nan_to_num(x, nan=5.0)))
    np.testing.assert_array_equal(
        cnp.evaluate(slope(np.array([0.0, np.nan, np.inf]))), [1, np.nan, np.nan]
    )
    slope = composit.grad(lambda x: cnp.sum(cnp.nan_to_num(x) + cnp.fix(x)))
    assert cnp.evaluate(slope(np.array([0.5, np.nan, -np.inf]))).tolist() == [1, 0, 0]
    slope = composit.grad(lambda x: cnp.sum(cnp.angle(x, deg=True)))
    assert cnp.evaluate(slope(np.array([0.5, -3.0, np.inf]))).tolist() == [0, 0, 0]
