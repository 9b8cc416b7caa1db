"""Special functions that composit.numpy has no ufunc for: by the ones it has, by series, continued
fractions and recurrences, with gradients of the graph they make or of their own."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from composit import nn
from composit import numpy as cnp
from composit.flashlight.operators.promotion import floating, floats
from composit.flashlight.operators.table import function_of

Array = Any
lgamma, digamma = function_of("lgamma"), function_of("digamma")
erf, erfc = function_of("erf"), function_of("erfc")


def wide(function: Callable[..., Array]) -> Callable[..., Array]:
    """The function in float64, its result in the dtype of its arguments: series lose digits."""

    def computed(*args: Any) -> Array:
        tensors = [floating(x) if hasattr(x, "dtype") else x for x in args]
        kept = next(x.dtype for x in tensors if hasattr(x, "dtype"))
        made = [cnp.astype(x, "float64") if hasattr(x, "dtype") else x for x in tensors]
        return cnp.astype(function(*made), kept)

    computed.__doc__ = function.__doc__
    return computed


def with_derivative(x: Array, value: Array, slope: Array) -> Array:
    """value, whose derivative by x is slope, 0 where that is NaN; value is computed apart."""
    still, zero = nn.stop_gradient, cnp.zeros((), x.dtype)
    step = x - still(x)
    flat = cnp.where(cnp.isfinite(step), step, zero)
    slope = still(slope)
    made = still(value) + flat * cnp.where(cnp.isfinite(slope), slope, zero)
    # The root of 0 has the value 0 and an infinite slope, which no product with 0 has.
    steep = cnp.copysign(cnp.ones((), x.dtype), slope) * cnp.sqrt(flat)
    return cnp.where(cnp.isinf(slope), made + steep, made)


def polynomial(x: Array, coefficients: list[float]) -> Array:
    """Horner's scheme, the highest power first."""
    total = cnp.full(tuple(x.shape), coefficients[0], x.dtype)
    for c in coefficients[1:]:
        total = total * x + c
    return total


# ----- of the normal distribution

_SQRT2, _SQRT_PI = math.sqrt(2), math.sqrt(math.pi)


@wide
def erfinv(x: Array) -> Array:
    """The x with erf(x) = y."""
    return _erfinv(x, 1 - cnp.abs(x))


def _erfinv(x: Array, rest: Array) -> Array:
    """erfinv by a first guess by Winitzki, then steps of Halley's method, for float64; rest is
    1 - |x|, which may be more precise than x is."""
    still, rest = nn.stop_gradient(x), nn.stop_gradient(rest)
    is_inside = rest > 0
    inner = cnp.where(is_inside, still, cnp.zeros((), still.dtype))
    rest = cnp.where(is_inside, rest, cnp.ones((), still.dtype))
    logs = cnp.log(rest * (2 - rest))
    a = 0.147
    half = 2 / (math.pi * a) + logs / 2
    guess = cnp.sqrt(cnp.maximum(cnp.sqrt(half * half - logs / a) - half, 0))
    for _ in range(4):
        # Near 1 erf loses what erfc keeps, near 0 the other way.
        near = erf(guess) - cnp.abs(inner)
        error = cnp.where(rest > 0.5, near, rest - erfc(guess))
        ratio = error / (2 / _SQRT_PI * cnp.exp(-guess * guess))
        guess = guess - ratio / (1 + guess * ratio)
    ends = cnp.where(cnp.equal(cnp.abs(still), 1), cnp.full((), np.inf), cnp.full((), np.nan))
    found = cnp.copysign(cnp.where(is_inside, guess, ends), still)
    return with_derivative(x, found, _SQRT_PI / 2 * cnp.exp(found * found))


def ndtr(x: Array) -> Array:
    """The area below the normal distribution, up to x."""
    x = floating(x)
    return erfc(-x / _SQRT2) / 2


@wide
def ndtri(x: Array) -> Array:
    """The x with ndtr(x) = y."""
    return _SQRT2 * _erfinv(2 * x - 1, 2 * cnp.minimum(x, 1 - x))


@wide
def erfcx(x: Array) -> Array:
    """exp(x^2) erfc(x): by its continued fraction where x is large."""
    still = nn.stop_gradient(x)
    is_large = still > 3
    small = cnp.where(is_large, cnp.zeros((), x.dtype), still)
    near = cnp.exp(small * small) * erfc(small)
    large = cnp.where(is_large, still, cnp.full((), 3.0))
    fraction = large
    for k in range(60, 0, -1):
        fraction = large + (k / 2) / fraction
    found = cnp.where(is_large, 1 / (_SQRT_PI * fraction), near)
    return with_derivative(x, found, 2 * still * found - 2 / _SQRT_PI)


@wide
def log_ndtr(x: Array) -> Array:
    """log(ndtr(x)), also where ndtr(x) is 0."""
    is_low = x < -1
    low = cnp.where(is_low, x, cnp.full((), -1.0))
    high = cnp.where(is_low, cnp.zeros((), x.dtype), x)
    far = cnp.log(erfcx(-low / _SQRT2) / 2) - low * low / 2
    return cnp.where(is_low, far, cnp.log1p(-erfc(high / _SQRT2) / 2))


def entr(x: Array) -> Array:
    """-x log(x); 0 at 0, -inf below."""
    x = floating(x)
    is_positive = x > 0
    inner = cnp.where(is_positive, x, cnp.ones((), x.dtype))
    # At 0 the root has the value 0 and the slope infinity, as -log(x) - 1 has.
    at_zero = cnp.sqrt(cnp.where(cnp.equal(x, 0), x, cnp.zeros((), x.dtype)) + 0.0)  # not of -0
    ends = cnp.where(x < 0, cnp.full((), -np.inf, x.dtype), x * 0 + at_zero)
    # The slope of a logarithm of denormal numbers overflows, that of a multiple does not.
    is_tiny = inner < 1e-30
    multiple = cnp.where(is_tiny, inner * 2.0**64, inner)
    logs = cnp.log(multiple) - cnp.where(is_tiny, 64 * math.log(2), 0.0)
    return cnp.where(is_positive, -inner * cnp.astype(logs, x.dtype), ends)


def xlog1py(x: Any, y: Any) -> Array:
    """x log1p(y); 0 where x is 0."""
    x, y = floats(x, y)
    is_zero = x == 0
    logs = cnp.log1p(cnp.where(is_zero, cnp.zeros((), x.dtype), y))
    return cnp.where(is_zero & ~cnp.isnan(y), cnp.zeros((), x.dtype), x * logs)


# ----- gamma's

_BERNOULLI = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6, -3617 / 510)


@wide
def zeta(x: Array, q: Array) -> Array:
    """Hurwitz's zeta function, by Euler and Maclaurin's formula, for x > 1 and q > 0."""
    terms = 12
    total = cnp.zeros((), x.dtype)
    for k in range(terms):
        total = total + (q + k) ** -x
    end = q + terms
    total = total + end ** (1 - x) / (x - 1) + end**-x / 2
    factor, power = x, end ** (-x - 1)
    for j, number in enumerate(_BERNOULLI):
        total = total + number / math.factorial(2 * j + 2) * factor * power
        factor = factor * (x + 2 * j + 1) * (x + 2 * j + 2)
        power = power / (end * end)
    return total


def polygamma(n: int, x: Array) -> Array:
    """The nth derivative of digamma."""
    if n < 0:
        raise ValueError("polygamma(n, x) does not support negative n.")
    x = floating(x)
    if n == 0:
        return digamma(x)
    sign = (-1) ** (n + 1) * math.factorial(n)
    return sign * zeta(cnp.full(tuple(x.shape), n + 1.0, x.dtype), x)


def multigammaln(x: Array, p: int) -> Array:
    """The logarithm of the multivariate gamma function."""
    x = floating(x)
    total = cnp.full(tuple(x.shape), p * (p - 1) / 4 * math.log(math.pi), x.dtype)
    for j in range(p):
        total = total + lgamma(x - j / 2)
    return total


@wide
def gammainc(a: Array, x: Array) -> Array:
    """The lower incomplete gamma function, regularised."""
    return _incomplete(a, x)[0]


@wide
def gammaincc(a: Array, x: Array) -> Array:
    """The upper incomplete gamma function, regularised."""
    return _incomplete(a, x)[1]


def _incomplete(a: Array, x: Array) -> tuple[Array, Array]:
    """Both: by the series below a + 1, by Legendre's continued fraction above."""
    a0, x0 = nn.stop_gradient(a), nn.stop_gradient(x)
    is_low = x0 < a0 + 1
    low = cnp.where(is_low, x0, a0)
    term = total = 1 / a0
    for k in range(1, 200):
        term = term * low / (a0 + k)
        total = total + term
    front = cnp.exp(a0 * cnp.log(x0) - x0 - lgamma(a0))
    below = cnp.where(x0 == 0, cnp.zeros((), x.dtype), front * total)
    high = cnp.where(is_low, a0 + 1, x0)
    fraction = high + 399 - a0
    for k in range(199, 0, -1):
        fraction = high + 2 * k - 1 - a0 + k * (a0 - k) / fraction
    above = front / fraction
    lower = cnp.where(is_low, below, 1 - above)
    lower = cnp.where(cnp.isposinf(x0), cnp.ones((), x.dtype), lower)
    upper = cnp.where(is_low, 1 - below, above)
    slope = cnp.exp((a0 - 1) * cnp.log(x0) - x0 - lgamma(a0))
    return with_derivative(x, lower, slope), with_derivative(x, upper, -slope)


# ----- Bessel's


@wide
def i0(x: Array) -> Array:
    """The modified Bessel function of order 0."""
    return cnp.exp(cnp.abs(x)) * _scaled_modified(x, 0)


@wide
def i1(x: Array) -> Array:
    """The modified Bessel function of order 1."""
    return cnp.exp(cnp.abs(x)) * _scaled_modified(x, 1)


@wide
def i0e(x: Array) -> Array:
    """exp(-|x|) i0(x)."""
    return _scaled_modified(x, 0)


@wide
def i1e(x: Array) -> Array:
    """exp(-|x|) i1(x)."""
    return _scaled_modified(x, 1)


_NODES = 96


def _over_angles(function: Callable[[float], Array]) -> Array:
    """The mean over a half circle, by the trapezoidal rule, which converges exponentially here."""
    total = (function(0.0) + function(math.pi)) / 2
    for k in range(1, _NODES):
        total = total + function(math.pi * k / _NODES)
    return total / _NODES


def _scaled_modified(x: Array, order: int) -> Array:
    """exp(-|x|) I_n(x): Bessel's integral, by Hankel's series where x is large."""
    size = cnp.abs(x)
    is_large = size > 40
    near = cnp.where(is_large, cnp.zeros((), x.dtype), x)
    small = _over_angles(
        lambda angle: cnp.exp(near * math.cos(angle) - cnp.abs(near)) * math.cos(order * angle)
    )
    far = cnp.where(is_large, size, cnp.full((), 40.0))
    total = term = cnp.ones((), x.dtype)
    for k in range(1, 16):
        term = term * ((2 * k - 1) ** 2 - 4 * order**2) / (8 * k * far)
        total = total + term
    large = total / cnp.sqrt(2 * math.pi * far)
    large = cnp.copysign(large, x) if order else large
    return cnp.where(is_large, large, small)


def _hankel(far: Array, order: int) -> tuple[Array, Array]:
    """The sums of Hankel's expansion of J_n and Y_n for large arguments, even and odd terms."""
    even = term = cnp.ones((), far.dtype)
    odd: Array = cnp.zeros((), far.dtype)
    for k in range(1, 16):
        term = term * (4 * order**2 - (2 * k - 1) ** 2) / (8 * k * far)
        sign = (-1) ** (k // 2)
        even, odd = (even, odd + sign * term) if k % 2 else (even + sign * term, odd)
    return even, odd


def _ordinary(order: int) -> Callable[[Array], Array]:
    """J_n: Bessel's integral, by Hankel's series where x is large."""

    def function(x: Array) -> Array:
        size = cnp.abs(x)
        is_large = size > 40
        near = cnp.where(is_large, cnp.zeros((), x.dtype), x)
        small = _over_angles(lambda angle: cnp.cos(near * math.sin(angle) - order * angle))
        far = cnp.where(is_large, size, cnp.full((), 40.0))
        even, odd = _hankel(far, order)
        angle = far - order * math.pi / 2 - math.pi / 4
        large = cnp.sqrt(2 / (math.pi * far)) * (even * cnp.cos(angle) - odd * cnp.sin(angle))
        large = cnp.where(x < 0, -large, large) if order else large
        return cnp.where(is_large, large, small)

    return wide(function)


bessel_j0, bessel_j1 = _ordinary(0), _ordinary(1)


_TERMS = 40  # J_n(40) is below 1e-16 from n = 80 on


def _of_second_kind(order: int) -> Callable[[Array], Array]:
    """Y_n: Neumann's series, by Hankel's where x is large; -inf at 0, NaN below.

    Neumann's sum of J_2k (or J_2k+1) is one integral over angles: each J is one, and the sums of
    their cosines (or sines) are constants (Abramowitz and Stegun 9.1.88)."""

    def weight(angle: float) -> float:
        if order:
            return sum(
                (-1) ** k * (2 * k + 1) / (k * (k + 1)) * math.sin((2 * k + 1) * angle)
                for k in range(1, _TERMS)
            )
        return 2 * sum((-1) ** k / k * math.cos(2 * k * angle) for k in range(1, _TERMS + 1))

    def function(x: Array) -> Array:
        is_near = cnp.logical_and(x > 0, x <= 40)
        near = cnp.where(is_near, x, cnp.ones((), x.dtype))
        wave = cnp.sin if order else cnp.cos
        first = _over_angles(lambda angle: cnp.cos(near * math.sin(angle) - order * angle))
        series = _over_angles(lambda angle: wave(near * math.sin(angle)) * weight(angle))
        small = (cnp.log(near / 2) + (np.euler_gamma - order)) * first - series
        if order:
            small = small - _over_angles(lambda angle: cnp.cos(near * math.sin(angle))) / near
        small = small * (2 / math.pi)
        far = cnp.where(x > 40, x, cnp.full((), 40.0))
        even, odd = _hankel(far, order)
        angle = far - order * math.pi / 2 - math.pi / 4
        large = cnp.sqrt(2 / (math.pi * far)) * (even * cnp.sin(angle) + odd * cnp.cos(angle))
        ends = cnp.where(cnp.equal(x, 0), cnp.full((), -np.inf), cnp.full((), np.nan))
        return cnp.where(x > 0, cnp.where(is_near, small, large), ends)

    return wide(function)


bessel_y0, bessel_y1 = _of_second_kind(0), _of_second_kind(1)


def spherical_bessel_j0(x: Array) -> Array:
    """sin(x) / x"""
    return cnp.sinc(floating(x) / math.pi)


def _second_kind(order: int, is_scaled: bool) -> Callable[[Array], Array]:
    """K_n: its integral over hyperbolic angles, whose integrand falls doubly exponentially."""

    def function(x: Array) -> Array:
        inner = cnp.where(x > 0, x, cnp.ones((), x.dtype))
        # The integrand is as wide as 1 / sqrt(x) where x is large.
        step = 1 / (8 * cnp.sqrt(1 + inner / 8))
        total = cnp.exp(inner * 0) / 2
        for k in range(1, 200):
            angle = step * k
            # cosh(t) - 1 without the loss of digits near 0.
            grown = 2 * cnp.square(cnp.sinh(angle / 2))
            total = total + cnp.exp(-inner * grown) * (cnp.cosh(angle) if order else 1)
        found = total * step * (1 if is_scaled else cnp.exp(-inner))
        ends = cnp.where(cnp.equal(x, 0), cnp.full((), np.inf), cnp.full((), np.nan))
        return cnp.where(x > 0, found, ends)

    return wide(function)


modified_bessel_k0, modified_bessel_k1 = _second_kind(0, False), _second_kind(1, False)
scaled_modified_bessel_k0, scaled_modified_bessel_k1 = _second_kind(0, True), _second_kind(1, True)


def recurrence(first: Callable[[Array], Array], step: Callable[..., Array]) -> Any:
    """Orthogonal polynomials: p_0 = 1, p_1 = first(x), p_(k+1) = step(k, x, p_k, p_(k-1))."""

    def function(input: Array, n: Any) -> Array:
        x = floating(input)
        before, now = cnp.ones(tuple(x.shape), x.dtype), first(x)
        if int(n) == 0:
            return before
        for k in range(1, int(n)):
            before, now = now, step(k, x, now, before)
        return now

    return function


def _chebyshev(first: Callable[[Array], Array], is_shifted: bool = False) -> Any:
    def moved(x: Array) -> Array:
        return 2 * x - 1 if is_shifted else x

    return recurrence(
        lambda x: first(moved(x)), lambda k, x, now, before: 2 * moved(x) * now - before
    )


_kinds: dict[str, Callable[[Array], Array]] = {
    "t": lambda x: x, "u": lambda x: 2 * x, "v": lambda x: 2 * x - 1, "w": lambda x: 2 * x + 1,
}  # fmt: skip
polynomials = {
    f"{'shifted_' * is_shifted}chebyshev_polynomial_{kind}": _chebyshev(first, is_shifted)
    for is_shifted in (False, True)
    for kind, first in _kinds.items()
}
polynomials["hermite_polynomial_h"] = recurrence(
    lambda x: 2 * x, lambda k, x, now, before: 2 * x * now - 2 * k * before
)
polynomials["hermite_polynomial_he"] = recurrence(
    lambda x: x, lambda k, x, now, before: x * now - k * before
)
polynomials["laguerre_polynomial_l"] = recurrence(
    lambda x: 1 - x, lambda k, x, now, before: ((2 * k + 1 - x) * now - k * before) / (k + 1)
)
polynomials["legendre_polynomial_p"] = recurrence(
    lambda x: x, lambda k, x, now, before: ((2 * k + 1) * x * now - k * before) / (k + 1)
)
