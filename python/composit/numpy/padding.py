"""numpy.pad: what the core pads with, and values that are computed from what is there."""

from __future__ import annotations

import functools
import math
from collections.abc import Hashable
from typing import Any

import numpy as np

import composit._core as _core
from composit import _opaque
from composit._core import LazyTensor, value_error
from composit.numpy.creation import asarray

__all__ = ["pad"]

_c = _core.numpy


def pad(array: Any, pad_width: Any, mode: Any = "constant", **kwargs: Any) -> LazyTensor:
    """Elements added around: constant, edge, linear_ramp, maximum, mean, median, minimum, reflect,
    symmetric, wrap, or empty, which are zeros here; or by a function, which is called with NumPy's
    vectors when the result is evaluated."""
    array = asarray(array)
    widths = _c.pad_widths(pad_width, array.ndim)
    if callable(mode):
        return _by_function(array, widths, pad_width, mode, kwargs)
    return _c.pad(array, widths, mode, kwargs)


def _by_function(
    array: LazyTensor,
    widths: list[tuple[int, int]],
    pad_width: Any,
    function: Any,
    options: dict[str, Any],
) -> LazyTensor:
    if any(low < 0 or high < 0 for low, high in widths):
        raise value_error("pad: index can't contain negative values")
    widths = [(low, high) for low, high in widths]
    # NumPy calls the function with a tuple where one pair holds for all axes, else with a list.
    shape = np.shape(widths if isinstance(pad_width, dict) else pad_width)
    is_pair = math.prod(shape) <= 2 and shape != (2, 1) and len(set(widths)) == 1
    around = widths[0] if is_pair else tuple(widths)
    make = _calling_of_before if isinstance(function, Hashable) else _calling
    return make(function, around, array.shape)(array, **options)


def _calling(function: Any, widths: Any, shape: tuple[int, ...]) -> Any:
    """numpy.pad with this function as an operation, of which nothing but its type is known."""

    def pad(array: Any, **options: Any) -> Any:
        return np.pad(array, widths, function, **options)

    pairs = np.broadcast_to(np.asarray(widths), (len(shape), 2)).tolist()
    padded = tuple(low + n + high for n, (low, high) in zip(shape, pairs))
    return _opaque.operation(pad, lambda array: (padded, array.dtype))


# Calls of one function share their plans.
_calling_of_before = functools.lru_cache(maxsize=128)(_calling)
