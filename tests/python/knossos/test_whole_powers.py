"""x**3 and x**4 of kernels: rounded once in effect, infinities and their signs, slopes."""

from fractions import Fraction

import numpy as np
import pytest

from composit import asarray, evaluate, knossos


@knossos.register
def cube(x: float) -> float:
    return x**3


@knossos.register
def fourth(x: float) -> float:
    return x**4


@pytest.mark.parametrize(("power", "exponent"), [(cube, 3), (fourth, 4)])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_values(power, exponent, dtype):
    """Nearest to the exact power, but for numbers half way between two, as it seems."""
    random = np.random.default_rng(0)
    largest = np.finfo(dtype).max ** (1 / exponent)
    x = np.concatenate([random.normal(size=300), 0.99 * largest * random.uniform(-1, 1, 300)])
    x = x.astype(dtype)
    exact = [Fraction(float(each)) ** exponent for each in x]
    found = power(x)
    unit = np.spacing(np.abs(found))
    for value, wanted, one in zip(found, exact, unit):
        assert abs(Fraction(float(value)) - wanted) <= Fraction(float(one)) * Fraction(501, 1000)


@pytest.mark.parametrize(("power", "exponent"), [(cube, 3), (fourth, 4)])
def test_beyond(power, exponent):
    x = np.array([1e103, 1.3e108, 1e120, 1.1e154, 1.3e154, 1e160, 1e308, np.inf, 1e-110, 5e-324,
                  0.0, np.nan])  # fmt: skip
    for each in (x, -x):
        with np.errstate(all="ignore"):
            wanted = np.power(each, exponent)
            found = power(each)
            np.testing.assert_array_equal(found, wanted)
            np.testing.assert_array_equal(np.signbit(found[:-1]), np.signbit(wanted[:-1]))
            np.testing.assert_array_equal(found, [power(one) for one in each.tolist()])
            np.testing.assert_array_equal(evaluate(asarray(each) ** exponent), wanted)


def test_slopes():
    assert fourth.grad(2.0) == 32.0 and fourth.grad(0.0) == 0.0 and fourth.jvp(3.0, 2.0) == 216.0
    assert fourth.grad.grad(2.0) == 48.0
    assert "fourth_float64(x)" in fourth.source and "power_float64" not in fourth.vjp.source
