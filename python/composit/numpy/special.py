"""Elementwise functions that are made of several others."""

from __future__ import annotations

from typing import Any

import composit._core as _core
from composit._core import LazyTensor, value_error
from composit.numpy._outputs import write_out

_c = _core.numpy


def fix(x: Any, out: Any = None) -> LazyTensor:
    """Rounded towards zero."""
    return write_out("fix", _c.fix(x), out, widens=True)


def sinc(x: Any) -> LazyTensor:
    """sin(pi x) / (pi x)."""
    return _c.sinc(x)


def nan_to_num(
    x: Any, copy: bool = True, nan: Any = 0.0, posinf: Any = None, neginf: Any = None
) -> LazyTensor:
    """NaN and the infinities replaced; with copy=False in x itself, too."""
    result = _c.nan_to_num(x, nan, posinf, neginf)
    if copy:
        return result
    import numpy as np

    if not isinstance(x, (LazyTensor, np.ndarray)):
        raise value_error("nan_to_num: copy=False, but x is no array. An array is required.")
    return write_out("nan_to_num", result, x)
