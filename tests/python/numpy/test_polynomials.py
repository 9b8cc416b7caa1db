"""Polynomials against NumPy's: within some ulp of the sizes of what is added."""

import numpy as np
import pytest
from against_numpy import agrees, same_bits_compiled
from differences import check_derivatives
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy_agreement import assert_agree

import composit
import composit.numpy as cnp

DTYPES = ["bool", "int8", "int64", "uint8", "float32", "float64"]
LENGTHS = [0, 1, 2, 5]


def drawn(dtype, shape, seed=0):
    draw = np.random.default_rng(seed)
    if dtype[0] == "f":
        return np.asarray(draw.normal(0, 3, shape).round(2).astype(dtype))
    return np.asarray(draw.integers(0, 2 if dtype == "bool" else 9, shape).astype(dtype))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("other", DTYPES)
def test_values_and_sums(dtype, other):
    for length in LENGTHS:
        p = drawn(dtype, (length,))
        for shape in ((), (4,), (2, 3), (0,)):
            agrees("polyval", p, drawn(other, shape, 1))
        agrees("polyval", p, 2)
        agrees("polyval", p, 0.5)
        for count in LENGTHS:
            q = drawn(other, (count,), 1)
            for name in ("polyadd", "polysub"):
                agrees(name, p, q)
                agrees(name, p, 3)
            agrees("polymul", p, q, ulp=4, scale=100.0)
            if dtype != "bool" and other != "bool" and count and q[0]:
                agrees("polydiv", p, q, ulp=64, scale=1000.0)


def test_leading_zeros():
    p, q = np.array([0.0, 0.0, 1.0, 2.0]), np.array([0, 0, 0])
    agrees("polymul", p, q)
    agrees("polymul", p, p)
    agrees("polydiv", p, [0.0, 2.0])
    agrees("polydiv", [1.0, 3.0, 2.0], [1.0, 1.0])
    agrees("polydiv", [2.0, 4.0], [2.0, 1.0, 3.0])
    agrees("polydiv", [], [1.0])
    agrees("polymul", [[1, 2]], [1, 2])
    agrees("polyval", 3, 2)
    with pytest.raises(NotImplementedError, match=r"polymul: the shape .* placeholder 'x'"):
        composit.compile(lambda x: cnp.polymul(x, x), p)


@pytest.mark.parametrize("dtype", DTYPES)
def test_derivatives_and_integrals(dtype):
    for length in LENGTHS:
        p = drawn(dtype, (length,))
        for m in (0, 1, 2, 3, 7):
            agrees("polyder", p, m)
            agrees("polyint", p, m, ulp=2)
            agrees("polyint", p, m, 2, ulp=2)
            agrees("polyint", p, m, [1.0, 2.5, 3.0], ulp=2)
    for m in (-1, 1.0):
        agrees("polyder", [1, 2, 3], m)
        agrees("polyint", [1, 2, 3], m)
    agrees("polyder", 3)
    agrees("polyint", 3)


@pytest.mark.parametrize("dtype", ["int64", "float32", "float64"])
def test_zeros(dtype):
    assert cnp.poly([]) == np.poly([]) == 1.0
    for length in LENGTHS[1:]:
        agrees("poly", drawn(dtype, (length,)), ulp=8, scale=1000.0)
    agrees("poly", [1, 2, 3])


@settings(max_examples=100, deadline=None)
@given(
    st.lists(st.integers(-5, 5), min_size=1, max_size=6),
    st.lists(st.integers(-5, 5), min_size=1, max_size=6),
)
def test_any_polynomials(p, q):
    p, q = np.array(p), np.array(q, "float64")
    for name in ("polyadd", "polysub", "polymul", "polyval"):
        agrees(name, p, q)
    if q[0]:
        quotient, remainder = cnp.polydiv(p, q)
        back = cnp.polyadd(cnp.polymul(quotient, q), remainder)
        np.testing.assert_allclose(cnp.polyval(back, 0.7), np.polyval(p, 0.7), atol=1e-6)


def test_compiled_and_derivatives():
    p, x = drawn("float64", (5,)), drawn("float64", (3, 7), 1)

    def all_of_them(p, x):
        return (cnp.polyval(p, x), cnp.polyadd(p, x[0]), cnp.polyder(p, 2), cnp.polyint(p, 2),
                cnp.poly(x[1]))  # fmt: skip

    same_bits_compiled(all_of_them, p, x)
    check_derivatives(lambda p: cnp.polyval(p, x), p)
    check_derivatives(lambda x: cnp.polyval(p, x), x)
    check_derivatives(lambda p: cnp.polyint(p, 2), p)
    check_derivatives(lambda z: cnp.poly(z), p)
    assert np.polyval(cnp.asarray(p), x).describe() == "LazyTensor(polyval: float64[3, 7])"


def test_fits():
    x, y = drawn("float64", (12,)), drawn("float64", (12, 3), 1)
    w = np.random.default_rng(2).random(12) + 0.5
    for dtype in ("int64", "float32", "float64"):
        a, b = (x * 10).astype(dtype), (y * 10).astype(dtype)
        for degree in (0, 1, 3):
            for weights in (None, w):
                options = {"w": weights, "ulp": 2**20, "scale": 1.0}
                agrees("polyfit", a, b[:, 0], degree, **options)
                agrees("polyfit", a, b, degree, **options)
                assert_agree(
                    cnp.polyfit, np.polyfit, (a, b, degree), {"full": True, "w": weights}, 2**20
                )
                assert_agree(
                    cnp.polyfit,
                    np.polyfit,
                    (a, b[:, 0], degree),
                    {"full": True, "w": weights},
                    2**20,
                )
                for cov in (True, "unscaled"):
                    agrees("polyfit", a, b[:, 0], degree, cov=cov, **options)
                    agrees("polyfit", a, b, degree, cov=cov, **options)
    options = {"rcond": 1e-10, "full": True}
    assert_agree(cnp.polyfit, np.polyfit, (x, y[:, 0], 2), options, 2**20)
    for arguments in ((x, y, -1), (x[:2], y, 1), (y, y, 1), (x[:0], y[:0], 1), (x, y[None], 1),
                      (x, 3.0, 1), (x, y, np.inf)):  # fmt: skip
        agrees("polyfit", *arguments)
    agrees("polyfit", x, y, 1, w=w[:3])
    agrees("polyfit", x, y, 1, w=y)
    agrees("polyfit", x[:2], y[:2], 1, cov=True)
    with pytest.warns(np.exceptions.RankWarning, match="polyfit: Polyfit may be poorly"):
        cnp.polyfit(np.ones(4), np.ones(4), 2)
    check_derivatives(lambda y: cnp.polyfit(x, y, 2), y[:, 0])


def test_roots():
    for p in ([1, -3, 2], [0, 0, 2.0, -8.0], [1, -1, 0, 0], [5], [0, 0], [], [3, 0]):
        agrees("roots", p, ulp=64, scale=1.0)
    agrees("roots", [[1, 2]])
    agrees("poly", np.array([[2.0, 1.0], [1.0, 3.0]]), ulp=64, scale=1.0)
    agrees("poly", np.zeros((2, 3)))
    p = [1.0, 2.0, 5.0]
    found = cnp.roots(p)
    assert found.dtype == np.complex128 and found.shape == (2,)
    with pytest.raises(NotImplementedError, match=r"roots: the shape .* placeholder 'x'"):
        composit.compile(lambda x: cnp.roots(x), np.ones(3))
