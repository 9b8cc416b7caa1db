"""Random weights to start from, one node each, drawn when they are evaluated.

`in_axis` and `out_axis` say which axes are the layer's inputs and outputs: those of dense weights
unless given; 1 and 0 for filters (out, in, window…), -1 and 0 for (out, window…, in). Every other
axis is the window's, whose size multiplies both fans.
"""

from __future__ import annotations

from typing import Any

import composit._core as _core
from composit._core import LazyTensor

_c = _core.nn

__all__ = [
    "glorot_normal", "glorot_uniform", "he_normal", "he_uniform", "lecun_normal", "lecun_uniform",
    "variance_scaling",
]  # fmt: skip


def glorot_normal(
    key: Any, shape: Any, *, in_axis: int = -2, out_axis: int = -1, dtype: Any = "float32"
) -> LazyTensor:
    """Normal, variance 2 / (in + out) (Glorot and Bengio 2010)."""
    return _c.glorot_normal(key, shape, in_axis, out_axis, dtype)


def glorot_uniform(
    key: Any, shape: Any, *, in_axis: int = -2, out_axis: int = -1, dtype: Any = "float32"
) -> LazyTensor:
    """Uniform, variance 2 / (in + out) (Glorot and Bengio 2010)."""
    return _c.glorot_uniform(key, shape, in_axis, out_axis, dtype)


def he_normal(
    key: Any, shape: Any, *, in_axis: int = -2, out_axis: int = -1, dtype: Any = "float32"
) -> LazyTensor:
    """Normal, variance 2 / in, for relu (He et al. 2015)."""
    return _c.he_normal(key, shape, in_axis, out_axis, dtype)


def he_uniform(
    key: Any, shape: Any, *, in_axis: int = -2, out_axis: int = -1, dtype: Any = "float32"
) -> LazyTensor:
    """Uniform, variance 2 / in, for relu (He et al. 2015)."""
    return _c.he_uniform(key, shape, in_axis, out_axis, dtype)


def lecun_normal(
    key: Any, shape: Any, *, in_axis: int = -2, out_axis: int = -1, dtype: Any = "float32"
) -> LazyTensor:
    """Normal, variance 1 / in (LeCun et al. 1998)."""
    return _c.lecun_normal(key, shape, in_axis, out_axis, dtype)


def lecun_uniform(
    key: Any, shape: Any, *, in_axis: int = -2, out_axis: int = -1, dtype: Any = "float32"
) -> LazyTensor:
    """Uniform, variance 1 / in (LeCun et al. 1998)."""
    return _c.lecun_uniform(key, shape, in_axis, out_axis, dtype)


def variance_scaling(
    key: Any,
    shape: Any,
    *,
    scale: float,
    mode: str,
    distribution: str,
    in_axis: int = -2,
    out_axis: int = -1,
    dtype: Any = "float32",
) -> LazyTensor:
    """Variance scale / fan. mode: "fan_in", "fan_out", or "fan_avg", their mean; distribution:
    "normal", "truncated_normal" or "uniform"."""
    return _c.variance_scaling(key, shape, scale, mode, distribution, in_axis, out_axis, dtype)
