"""Differences, running totals and integrals along an axis."""

from __future__ import annotations

import math
from typing import Any

import composit._core as _core
from composit._core import LazyTensor, value_error
from composit.numpy._outputs import write_out
from composit.numpy.creation import asarray
from composit.numpy.reductions import _running_dtype

_c = _core.numpy


def cumulative_sum(
    x: Any, /, *, axis: Any = None, dtype: Any = None, out: Any = None,
    include_initial: bool = False,
) -> LazyTensor:  # fmt: skip
    """Running sum along an axis, which only one dimension may leave out; with include_initial
    after a 0."""
    axis, dtype = _only(x, axis), _running_dtype(x, dtype, out)
    return write_out("add", _c.cumulative_sum(x, axis, dtype, include_initial), out, "unsafe")


def cumulative_prod(
    x: Any, /, *, axis: Any = None, dtype: Any = None, out: Any = None,
    include_initial: bool = False,
) -> LazyTensor:  # fmt: skip
    """Running product along an axis, which only one dimension may leave out; with include_initial
    after a 1."""
    axis, dtype = _only(x, axis), _running_dtype(x, dtype, out)
    return write_out("multiply", _c.cumulative_prod(x, axis, dtype, include_initial), out, "unsafe")


def _only(x: Any, axis: Any) -> Any:
    if axis is None and asarray(x).ndim > 1:
        raise value_error("accumulate: x has more than one dimension. An axis is required.")
    if not isinstance(axis, (tuple, list)):
        return axis
    return _c.one_axis("accumulate", axis, max(asarray(x).ndim, 1))


def ediff1d(ary: Any, to_end: Any = None, to_begin: Any = None) -> LazyTensor:
    """Differences of neighbours in the flattened array, between to_begin and to_end."""
    return _c.ediff1d(ary, to_end, to_begin)


def gradient(f: Any, *varargs: Any, axis: Any = None, edge_order: int = 1) -> Any:
    """Slopes along every axis: a tuple of tensors, or one tensor for one axis."""
    results = tuple(_c.gradient(f, varargs, axis, _core.integer(edge_order)))
    return results[0] if len(results) == 1 else results


def trapezoid(y: Any, x: Any = None, dx: Any = 1.0, axis: int = -1) -> LazyTensor:
    """The integral along an axis by the trapezoidal rule."""
    return _c.trapezoid(y, x, dx, axis)


def unwrap(p: Any, discont: Any = None, axis: int = -1, *, period: Any = 2 * math.pi) -> LazyTensor:
    """Jumps of neighbours brought below half a period by adding whole ones."""
    if asarray(p).ndim == 0:
        raise value_error("unwrap: p has no dimension. One at least is required.")
    return _c.unwrap(p, discont, axis, period)
