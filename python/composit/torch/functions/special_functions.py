"""Special functions that composit.numpy has no ufunc for, by composit::aten's
(composit/aten/special.h)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import composit._core as _core

Array = Any
_aten = _core.aten

# ----- of the normal distribution


def erfinv(x: Array) -> Array:
    """The x with erf(x) = y."""
    return _aten.erfinv(x)


def ndtr(x: Array) -> Array:
    """The area below the normal distribution, up to x."""
    return _aten.ndtr(x)


def ndtri(x: Array) -> Array:
    """The x with ndtr(x) = y."""
    return _aten.ndtri(x)


def erfcx(x: Array) -> Array:
    """exp(x^2) erfc(x): by its continued fraction where x is large."""
    return _aten.erfcx(x)


def log_ndtr(x: Array) -> Array:
    """log(ndtr(x)), also where ndtr(x) is 0."""
    return _aten.log_ndtr(x)


def entr(x: Array) -> Array:
    """-x log(x); 0 at 0, -inf below."""
    return _aten.entr(x)


def xlog1py(x: Any, y: Any) -> Array:
    """x log1p(y); 0 where x is 0."""
    return _aten.xlog1py(x, y)


# ----- gamma's


def zeta(x: Array, q: Array) -> Array:
    """Hurwitz's zeta function, by Euler and Maclaurin's formula, for x > 1 and q > 0."""
    return _aten.zeta(x, q)


def polygamma(n: int, x: Array) -> Array:
    """The nth derivative of digamma."""
    return _aten.polygamma(n, x)


def multigammaln(x: Array, p: int) -> Array:
    """The logarithm of the multivariate gamma function."""
    return _aten.multigammaln(x, p)


def gammainc(a: Array, x: Array) -> Array:
    """The lower incomplete gamma function, regularised."""
    return _aten.gammainc(a, x)


def gammaincc(a: Array, x: Array) -> Array:
    """The upper incomplete gamma function, regularised."""
    return _aten.gammaincc(a, x)


# ----- Bessel's


def i0(x: Array) -> Array:
    """The modified Bessel function of order 0."""
    return _aten.modified_bessel_i(0, x)


def i1(x: Array) -> Array:
    """The modified Bessel function of order 1."""
    return _aten.modified_bessel_i(1, x)


def i0e(x: Array) -> Array:
    """exp(-|x|) i0(x)."""
    return _aten.modified_bessel_i(0, x, True)


def i1e(x: Array) -> Array:
    """exp(-|x|) i1(x)."""
    return _aten.modified_bessel_i(1, x, True)


def bessel_j0(x: Array) -> Array:
    """J of order 0."""
    return _aten.bessel_j(0, x)


def bessel_j1(x: Array) -> Array:
    """J of order 1."""
    return _aten.bessel_j(1, x)


def bessel_y0(x: Array) -> Array:
    """Y of order 0; -inf at 0, NaN below."""
    return _aten.bessel_y(0, x)


def bessel_y1(x: Array) -> Array:
    """Y of order 1; -inf at 0, NaN below."""
    return _aten.bessel_y(1, x)


def modified_bessel_k0(x: Array) -> Array:
    """K of order 0."""
    return _aten.modified_bessel_k(0, x)


def modified_bessel_k1(x: Array) -> Array:
    """K of order 1."""
    return _aten.modified_bessel_k(1, x)


def scaled_modified_bessel_k0(x: Array) -> Array:
    """exp(x) K of order 0."""
    return _aten.modified_bessel_k(0, x, True)


def scaled_modified_bessel_k1(x: Array) -> Array:
    """exp(x) K of order 1."""
    return _aten.modified_bessel_k(1, x, True)


def spherical_bessel_j0(x: Array) -> Array:
    """sin(x) / x"""
    return _aten.spherical_bessel_j0(x)


# ----- orthogonal polynomials


def _chebyshev(kind: str, is_shifted: bool) -> Callable[[Array, Any], Array]:
    def function(input: Array, n: Any) -> Array:
        return _aten.chebyshev_polynomial(kind, input, n, is_shifted)

    return function


polynomials: dict[str, Callable[[Array, Any], Array]] = {
    f"{'shifted_' * is_shifted}chebyshev_polynomial_{kind}": _chebyshev(kind, is_shifted)
    for is_shifted in (False, True)
    for kind in "tuvw"
}


def _polynomial(name: str) -> Callable[[Array, Any], Array]:
    def function(input: Array, n: Any) -> Array:
        return getattr(_aten, name)(input, n)

    return function


for _name in ("hermite_polynomial_h", "hermite_polynomial_he", "laguerre_polynomial_l",
              "legendre_polynomial_p"):  # fmt: skip
    polynomials[_name] = _polynomial(_name)
