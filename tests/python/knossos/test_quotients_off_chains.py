"""Gradients that go from iteration to iteration are multiplied with quotients that do not depend on
them: beside forward mode, the interpreter and exact fractions, subnormal divisors too."""

# ruff: noqa: F821

from fractions import Fraction

import numpy as np
import pytest
from as_python import anew, bits, interpreted
from complex_steps import check_gradients

from composit.knossos import Tensor


def filtered(z: "Tensor[float, n]", q: float, r: float) -> float:
    mean, variance, total = z[0], r, 0.0
    for k in range(1, len(z)):
        variance = variance + q
        gain = variance / (variance + r)
        mean = mean + gain * (z[k] - mean)
        variance = (1 - gain) * variance
        total += mean * variance
    return total


def fraction(a: "Tensor[float, n]", b: "Tensor[float, n]") -> float:
    """A continued fraction."""
    x = 0.0
    for k in range(len(a)):
        x = a[k] / (b[k] + x)
    return x


def decay(u: "Tensor[float, n]", d: "Tensor[float, n]", x: float) -> float:
    for k in range(len(u)):
        x = u[k] + x / d[k]
    return x


def states(u: "Tensor[float, n]", d: "Tensor[float, n]") -> "Tensor[float, n]":
    """Elements in place of a variable."""
    y = np.zeros(len(u))
    for k in range(1, len(u)):
        y[k] = u[k] + y[k - 1] * u[k - 1] / (d[k] + 1.0)
    return y


def sweeps(a: "Tensor[float, n]", b: "Tensor[float, n]", f: "Tensor[float, n]") -> float:
    """Thomas's elimination: quotients of two values that are handed on."""
    c, d = 0.0, 0.0
    for k in range(len(a)):
        m = b[k] - a[k] * c
        c, d = a[k] / m, (f[k] - a[k] * d) / m
    return c + d


def apart(x: "Tensor[float, n]", d: "Tensor[float, n]") -> float:
    """No iteration waits for another one's quotient."""
    total = 0.0
    for k in range(len(x)):
        total += x[k] / d[k]
    return total


def halved(x: "Tensor[float, n]") -> float:
    """A divisor of the text."""
    y = 0.0
    for k in range(len(x)):
        y = (y + x[k]) / 3.0
    return y


def arguments(function, n=30, seed=0):
    random = np.random.default_rng(seed)
    if function is filtered:
        return random.normal(size=n), 0.3, 0.7
    arrays = [1 + random.random(n) for name in function.__annotations__ if name != "return"]
    if function is decay:
        return *arrays[:2], 0.4
    if function is sweeps:
        return arrays[0], 3 + arrays[1], arrays[2]
    return tuple(arrays)


CHAINS = [filtered, fraction, decay, states, sweeps]


@pytest.mark.parametrize("function", CHAINS)
def test_text(function):
    assert "scaled_quotient" in anew(function).vjp.procedure().source
    assert "scaled_quotient" not in anew(function).procedure().source


@pytest.mark.parametrize("function", [apart, halved])
def test_what_stays(function):
    assert "scaled_quotient" not in anew(function).vjp.procedure().source


@pytest.mark.parametrize("function", CHAINS)
def test_gradients(function):
    given = arguments(function)
    received = np.random.default_rng(3).normal(size=np.shape(function(*given)))
    check_gradients(anew(function), given, received if received.ndim else float(received))


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("function", CHAINS)
def test_bits(function, dtype):
    for n in (1, 2, 17, 70):
        given = [np.asarray(each, dtype) for each in arguments(function, n)]
        given = [each if each.ndim else float(each) for each in given]
        value = anew(function)(*given)
        g = np.ones_like(value) if np.ndim(value) else 1.0
        kernel, other = anew(function).vjp, interpreted(anew(function).vjp, dtype)
        assert bits(kernel(*given, g)) == bits(other(*given, g)), n


@pytest.mark.parametrize("factor", [1.0, 5e-309, 1e-320, 1e300])
def test_small_and_large_divisors(factor):
    """Slopes that are infinite, or have lost digits, of gradients for which nothing of this holds:
    beside fractions."""
    n, g = 6, 1e-310 if factor < 1e-300 else 1e200 if factor > 1 else 1.0
    d = 1 + np.random.default_rng(1).random(n)
    d[-1] *= factor
    _, dd, dx = anew(decay).vjp(np.zeros(n), d, factor, g)
    exact = Fraction(g)
    for each in d:
        exact /= Fraction(float(each))
    assert abs(Fraction(float(dx)) / exact - 1) < 1e-14
    assert np.all(np.isfinite(dd))


def test_zeros():
    """What receives nothing gets nothing, where the slope is infinite, too."""
    d = np.array([1.0, 5e-324, 2.0])
    _, dd, dx = anew(decay).vjp(np.zeros(3), d, 0.0, 0.0)
    assert dx == 0 and np.all(dd == 0)


def test_second_derivatives():
    kernel, given = anew(filtered), arguments(filtered, 8)
    hessian = kernel.vjp.jvp
    random = np.random.default_rng(2)
    v = random.normal(size=8), 0.2, -0.3
    step = 1e-6
    ahead = kernel.grad(*[a + step * b for a, b in zip(given, v)])
    behind = kernel.grad(*[a - step * b for a, b in zip(given, v)])
    found = hessian(*given, 1.0, *v, 0.0)
    for a, b, c in zip(ahead, behind, found, strict=True):
        np.testing.assert_allclose(c, (a - b) / (2 * step), rtol=1e-6, atol=1e-7)
