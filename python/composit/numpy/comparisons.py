"""Comparing tensors: within tolerances, as wholes, and with the infinities."""

from __future__ import annotations

import math
import warnings
from typing import Any

import composit._core as _core
from composit._core import LazyTensor
from composit.numpy._outputs import write_out
from composit.numpy.creation import asarray

_c = _core.numpy


def isclose(
    a: Any, b: Any, rtol: Any = 1e-5, atol: Any = 1e-8, equal_nan: bool = False
) -> LazyTensor:
    """Where |a - b| <= atol + rtol |b|, or a == b."""
    if any(
        isinstance(tolerance, float) and not math.isfinite(tolerance) for tolerance in (rtol, atol)
    ):
        warnings.warn(
            f"One of rtol or atol is not valid, atol: {atol}, rtol: {rtol}",
            RuntimeWarning,
            stacklevel=2,
        )
    return _c.isclose(a, b, rtol, atol, equal_nan)


def allclose(a: Any, b: Any, rtol: Any = 1e-5, atol: Any = 1e-8, equal_nan: bool = False) -> bool:
    """Whether isclose holds everywhere: evaluates, and is refused under placeholders."""
    return _c.allclose(a, b, rtol, atol, equal_nan)


def array_equal(a1: Any, a2: Any, equal_nan: bool = False) -> bool:
    """Whether shapes and elements are equal: evaluates, and is refused under placeholders."""
    arrays = _arrays(a1, a2)
    return arrays is not None and _c.array_equal(arrays[0], arrays[1], equal_nan)


def array_equiv(a1: Any, a2: Any) -> bool:
    """Whether the elements are equal after broadcasting: evaluates, and is refused under
    placeholders."""
    arrays = _arrays(a1, a2)
    return arrays is not None and _c.array_equiv(arrays[0], arrays[1])


def _arrays(a1: Any, a2: Any) -> tuple[LazyTensor, LazyTensor] | None:
    """Tensors of these; None where one is no array, as nested lists of unequal lengths."""
    try:
        return asarray(a1), asarray(a2)
    except ValueError:
        return None


def isneginf(x: Any, out: Any = None) -> LazyTensor:
    """Where x is -infinity."""
    return write_out("logical_and", _c.isneginf(x), out, widens=True)


def isposinf(x: Any, out: Any = None) -> LazyTensor:
    """Where x is +infinity."""
    return write_out("logical_and", _c.isposinf(x), out, widens=True)
