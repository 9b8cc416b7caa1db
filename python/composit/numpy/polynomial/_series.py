"""The functions of numpy.polynomial's modules: one set for every basis."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

import composit._core as _core
from composit._core import LazyTensor, type_error, value_error
from composit.numpy.creation import asarray

_c = _core.polynomial


def _integer(function: str, value: Any, what: str) -> int:
    try:
        return operator.index(value)
    except TypeError:
        raise type_error(f"{function}: {what} must be an integer, received {value}") from None


def _check_numbers(function: str, c: Any) -> None:
    if asarray(c).dtype == bool:
        message = f"{function}: Coefficient arrays have no common type: c is bool."
        raise value_error(f"{message} Numbers are required.")


def functions(basis: Any, prefix: str) -> dict[str, Any]:
    """Those of one basis, by NumPy's names."""

    def val(x: Any, c: Any, tensor: bool = True) -> LazyTensor:
        """The series with coefficients c at x."""
        return _c.val(basis, asarray(x) if isinstance(x, (list, tuple)) else x, c, bool(tensor))

    def val2d(x: Any, y: Any, c: Any) -> LazyTensor:
        """The series in products of two polynomials at points (x, y)."""
        return _at_points(f"{prefix}val2d", val, c, x, y)

    def val3d(x: Any, y: Any, z: Any, c: Any) -> LazyTensor:
        """The series in products of three polynomials at points (x, y, z)."""
        return _at_points(f"{prefix}val3d", val, c, x, y, z)

    def grid2d(x: Any, y: Any, c: Any) -> LazyTensor:
        """The series in products of two polynomials on the grid of x and y."""
        return val(y, val(x, c))

    def grid3d(x: Any, y: Any, z: Any, c: Any) -> LazyTensor:
        """The series in products of three polynomials on the grid of x, y and z."""
        return val(z, val(y, val(x, c)))

    def vander(x: Any, deg: Any) -> LazyTensor:
        """The polynomials up to a degree at x, along a new last axis."""
        return _c.vander(basis, x, _integer(f"{prefix}vander", deg, "deg"))

    def der(c: Any, m: Any = 1, scl: Any = 1, axis: Any = 0) -> LazyTensor:
        """The m-th derivative, times scl at each step."""
        order = _integer(f"{prefix}der", m, "the order of derivation")
        return _c.der(basis, c, order, scl, _integer(f"{prefix}der", axis, "the axis"))

    def integ(
        c: Any, m: Any = 1, k: Any = (), lbnd: Any = 0, scl: Any = 1, axis: Any = 0
    ) -> LazyTensor:
        """The m-th antiderivative, times scl at each step, with values k at lbnd."""
        order = _integer(f"{prefix}int", m, "the order of integration")
        constants = list(k) if np.iterable(k) else [k]
        place = _integer(f"{prefix}int", axis, "the axis")
        return _c.integ(basis, c, order, constants, lbnd, scl, place)

    def companion(c: Any) -> LazyTensor:
        """The matrix whose eigenvalues are the zeros: evaluates c now."""
        _check_numbers(f"{prefix}companion", c)
        return _c.companion(basis, c)

    def roots(c: Any) -> LazyTensor:
        """The zeros, in order: evaluates c now."""
        _check_numbers(f"{prefix}roots", c)
        return _c.roots(basis, c)

    def fit(x: Any, y: Any, deg: Any, rcond: Any = None, full: bool = False, w: Any = None) -> Any:
        """The series up to a degree, or of these degrees, that is nearest to y at x by the squares
        of the distances; with `full`, also what lstsq says."""
        return _c.fit(f"{prefix}fit", basis, x, y, deg, rcond, full, w)

    made = [val, val2d, val3d, grid2d, grid3d, vander, der, companion, roots, fit]
    named = {prefix + function.__name__: function for function in made}
    named[f"{prefix}int"] = integ
    for name, function in named.items():
        function.__name__ = function.__qualname__ = name  # also in messages:
        function.__code__ = function.__code__.replace(co_name=name, co_qualname=name)
    return named


def _at_points(name: str, val: Any, c: Any, *points: Any) -> LazyTensor:
    x, *others = (asarray(point) for point in points)
    if any(other.shape != x.shape for other in others):
        names = "x, y, z" if len(points) == 3 else "x, y"
        raise value_error(f"{name}: {names} are incompatible")
    result = val(x, c)
    for other in others:
        result = val(other, result, tensor=False)
    return result
