"""Special functions that composit.numpy has no ufunc for, by composit::aten's
(composit/aten/special.h)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import composit._core as _core
from composit import numpy as cnp
from composit._core import LazyTensor
from composit.evaluation import evaluate
from composit.flashlight.operators.promotion import floating, together

Array = Any
_aten = _core.aten

# ----- of the normal distribution


def erfinv(input: Array) -> Array:
    """The x with erf(x) = y."""
    return _aten.erfinv(input)


def ndtr(input: Array) -> Array:
    """The area below the normal distribution, up to x."""
    return _aten.ndtr(input)


def ndtri(input: Array) -> Array:
    """The x with ndtr(x) = y."""
    return _aten.ndtri(input)


def erfcx(input: Array) -> Array:
    """exp(x^2) erfc(x): by its continued fraction where x is large."""
    return _aten.erfcx(input)


def log_ndtr(input: Array) -> Array:
    """log(ndtr(x)), also where ndtr(x) is 0."""
    return _aten.log_ndtr(input)


def entr(input: Array) -> Array:
    """-x log(x); 0 at 0, -inf below."""
    return _aten.entr(input)


def xlog1py(input: Any, other: Any) -> Array:
    """input log1p(other); 0 where input is 0."""
    return _aten.xlog1py(input, other)


# ----- gamma's


def zeta(input: Array, other: Array) -> Array:
    """Hurwitz's zeta function, by Euler and Maclaurin's formula, for input > 1 and other > 0."""
    return _aten.zeta(input, other)


def polygamma(n: int, input: Array) -> Array:
    """The nth derivative of digamma."""
    return _aten.polygamma(n, input)


def multigammaln(input: Array, p: int) -> Array:
    """The logarithm of the multivariate gamma function."""
    return _aten.multigammaln(input, p)


def gammainc(input: Array, other: Array) -> Array:
    """The lower incomplete gamma function, regularised."""
    return _aten.gammainc(input, other)


def gammaincc(input: Array, other: Array) -> Array:
    """The upper incomplete gamma function, regularised."""
    return _aten.gammaincc(input, other)


# ----- Bessel's


def i0(input: Array) -> Array:
    """The modified Bessel function of order 0."""
    return _aten.modified_bessel_i(0, input)


def i1(input: Array) -> Array:
    """The modified Bessel function of order 1."""
    return _aten.modified_bessel_i(1, input)


def i0e(input: Array) -> Array:
    """exp(-|x|) i0(x)."""
    return _aten.modified_bessel_i(0, input, True)


def i1e(input: Array) -> Array:
    """exp(-|x|) i1(x)."""
    return _aten.modified_bessel_i(1, input, True)


def bessel_j0(input: Array) -> Array:
    """J of order 0."""
    return _aten.bessel_j(0, input)


def bessel_j1(input: Array) -> Array:
    """J of order 1."""
    return _aten.bessel_j(1, input)


def bessel_y0(input: Array) -> Array:
    """Y of order 0; -inf at 0, NaN below."""
    return _aten.bessel_y(0, input)


def bessel_y1(input: Array) -> Array:
    """Y of order 1; -inf at 0, NaN below."""
    return _aten.bessel_y(1, input)


def modified_bessel_k0(input: Array) -> Array:
    """K of order 0."""
    return _aten.modified_bessel_k(0, input)


def modified_bessel_k1(input: Array) -> Array:
    """K of order 1."""
    return _aten.modified_bessel_k(1, input)


def scaled_modified_bessel_k0(input: Array) -> Array:
    """exp(x) K of order 0."""
    return _aten.modified_bessel_k(0, input, True)


def scaled_modified_bessel_k1(input: Array) -> Array:
    """exp(x) K of order 1."""
    return _aten.modified_bessel_k(1, input, True)


def airy_ai(input: Array) -> Array:
    """Airy's function Ai; NaN at infinities."""
    return _aten.airy_ai(input)


def spherical_bessel_j0(input: Array) -> Array:
    """sin(x) / x"""
    return _aten.spherical_bessel_j0(input)


# ----- orthogonal polynomials


def _of_degree(function: Callable[[Array, int], Array], input: Array, n: Any) -> Array:
    """The polynomial of degree n. A tensor of degrees is evaluated: each is a sum of its own."""
    if not isinstance(n, LazyTensor):
        return function(input, n)
    input, n = together(floating(input), n)
    degrees = np.trunc(np.asarray(evaluate(n))).astype(np.int64)
    made = cnp.zeros(np.broadcast_shapes(input.shape, degrees.shape), floating(input).dtype)
    for degree in np.unique(degrees).tolist():
        if degree >= 0:
            made = cnp.where(degrees == degree, function(input, degree), made)
    return made


def _chebyshev(kind: str, is_shifted: bool) -> Callable[[Array, Any], Array]:
    def function(input: Array, n: Any) -> Array:
        return _of_degree(lambda x, k: _aten.chebyshev_polynomial(kind, x, k, is_shifted), input, n)

    return function


polynomials: dict[str, Callable[[Array, Any], Array]] = {
    f"{'shifted_' * is_shifted}chebyshev_polynomial_{kind}": _chebyshev(kind, is_shifted)
    for is_shifted in (False, True)
    for kind in "tuvw"
}


def _polynomial(name: str) -> Callable[[Array, Any], Array]:
    def function(input: Array, n: Any) -> Array:
        return _of_degree(getattr(_aten, name), input, n)

    return function


for _name in ("hermite_polynomial_h", "hermite_polynomial_he", "laguerre_polynomial_l",
              "legendre_polynomial_p"):  # fmt: skip
    polynomials[_name] = _polynomial(_name)
