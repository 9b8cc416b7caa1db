"""clip, whose bounds may be left out, and may be integers that the dtype does not hold."""

from __future__ import annotations

from typing import Any

import composit._core as _core
from composit._core import LazyTensor, type_error, value_error
from composit.numpy._outputs import masked_by, refuse, write_out
from composit.numpy.creation import asarray

_not_given: Any = object()


def _bounds(a_min: Any, a_max: Any, min: Any, max: Any) -> tuple[Any, Any]:
    if a_min is _not_given and a_max is _not_given:
        return (None if min is _not_given else min), (None if max is _not_given else max)
    for name, value in (("a_min", a_min), ("a_max", a_max)):
        if value is _not_given:
            raise type_error(f"clip() missing 1 required positional argument: {name!r}")
    if min is not _not_given or max is not _not_given:
        raise value_error(
            "Passing `min` or `max` keyword argument when `a_min` and `a_max` are provided is "
            "forbidden."
        )
    return a_min, a_max


def clip(
    a: Any, a_min: Any = _not_given, a_max: Any = _not_given, out: Any = None, *,
    min: Any = _not_given, max: Any = _not_given, dtype: Any = None, casting: str = "same_kind",
    order: str = "K", **kwargs: Any,
) -> LazyTensor:  # fmt: skip
    """Values below a_min become a_min, above a_max a_max; either may be None."""
    import numpy as np

    where = kwargs.pop("where", True)
    for name, value in kwargs.items():
        raise type_error(f"clip: {name}={value!r}: there is no such option. where is one.")

    low, high = _bounds(a_min, a_max, min, max)
    if order not in ("K", "A", "C", "F"):
        refuse("clip", order=order)
    a = asarray(a)
    if low is None and high is None and a.dtype.kind == "b":
        raise type_error("clip: a is bool, and there is no bound. One is required.")
    if a.dtype.kind in "iu":  # integers beyond the dtype's bound nothing
        limits = np.iinfo(a.dtype)
        low = None if type(low) is int and low <= limits.min else low
        high = None if type(high) is int and high >= limits.max else high
    result = _core.numpy.clip(a, low, high)
    if result is a:
        result = a.copied()
    if dtype is not None:
        result = result.astype(dtype, casting=casting)
    if where is not True:
        result = masked_by("clip", result, where, out)
    if out is not None and casting != "same_kind":
        target = out[0] if isinstance(out, tuple) else out
        result = result.astype(target.dtype, casting=casting)
    return write_out("clip", result, out, widens=True)
