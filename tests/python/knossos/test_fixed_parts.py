"""What functions compute of operands that no iteration changes is computed once where kernels are
loaded, with the bits of the interpreter: the logarithm of the base of powers."""

# ruff: noqa: F821

import math

import numpy as np
import pytest
from as_python import anew, bits, interpreted

from composit import _core
from composit.knossos import Tensor

SPECIAL = [0.0, -0.0, 1.0, -1.0, 0.5, 1.05, -2.5, 5e-324, -5e-324, 2e-308, 1e308, math.inf,
           -math.inf, math.nan]  # fmt: skip


def powers(a: float, x: "Tensor[float, n]") -> "Tensor[float, n]":
    y = np.zeros(len(x))
    for i in range(len(x)):
        y[i] = a ** x[i]
    return y


def discounted(a: float, x: "Tensor[float, n]") -> float:
    """Whole exponents, two powers of one base, which the gradient takes once more."""
    total = 0.0
    for i in range(len(x)):
        total += x[i] * (1.0 + a) ** (i - 3) - (1.0 + a) ** (2 * i)
    return total


def nested(a: float, x: "Tensor[float, n]") -> float:
    """A base that the outer loop changes."""
    total = 0.0
    for i in range(len(x)):
        base = a + x[i]
        for k in range(len(x)):
            total += math.exp(-(base ** (0.1 * k)))
    return total


def found(kernel, *given):
    """Any NaN is any other (semantics 1)."""
    try:
        values = kernel(*given)
        return bits(np.where(np.isnan(values), np.nan, values))
    except ArithmeticError as error:
        return type(error)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_bits_of_powers(dtype):
    exponents = np.array([*SPECIAL, *np.linspace(-40, 40, 81), 2.0, 3.0, -1.5, 1.5, -0.5, 1e300])
    for x in (exponents, exponents[exponents > 0]):
        x = x.astype(dtype)
        kernel, other = anew(powers), interpreted(anew(powers), dtype)
        for a in SPECIAL:
            assert found(kernel, a, x) == found(other, a, x), a


@pytest.mark.parametrize("function", [discounted, nested])
def test_bits(function):
    for n in (0, 1, 2, 5, 64, 130):
        x = np.random.default_rng(n).random(n)
        for a in (0.05, 1.0, 3.0):
            kernel, other = anew(function), interpreted(anew(function))
            assert bits(kernel(a, x)) == bits(other(a, x)), (a, n)
            slope, other = anew(function).grad, interpreted(anew(function).grad)
            assert bits(slope(a, x)) == bits(other(a, x)), (a, n)


def test_one_logarithm():
    text = _core.procedure.print_loadable("of", [[anew(powers).procedure()]])
    assert "power_sv_rest" in text
    assert "power_sv_rest" not in anew(powers).procedure().source
