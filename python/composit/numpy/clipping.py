"""clip, whose bounds may be left out, and may be integers that the dtype does not hold."""

from __future__ import annotations

from typing import Any

import numpy as np

import composit._core as _core
from composit._core import LazyTensor

_not_given: Any = np._NoValue


def clip(
    a: Any, a_min: Any = _not_given, a_max: Any = _not_given, out: Any = None, *,
    min: Any = _not_given, max: Any = _not_given, dtype: Any = None, casting: str = "same_kind",
    order: str = "K", **kwargs: Any,
) -> LazyTensor:  # fmt: skip
    """Values below a_min become a_min, above a_max a_max; either may be None."""
    return _core.numpy.clip(a, a_min, a_max, out, min, max, dtype, casting, order, kwargs)
