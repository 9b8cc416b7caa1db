"""torch's resizing of images: positions and weights along each axis are constants."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from composit import numpy as cnp
from composit.flashlight.operators.pooling import along
from composit.flashlight.operators.promotion import only_floats
from composit.flashlight.operators.table import operator


def _ratio(length: int, new: int, align_corners: bool, scale: Any) -> float:
    if align_corners:
        return (length - 1) / (new - 1) if new > 1 else 0.0
    return 1.0 / scale if scale is not None and scale > 0 else length / new


def _sizes(x: Any, output_size: Any, scale_factors: Any, count: int) -> list[tuple[int, int, Any]]:
    """Axis, new length and scale of each spatial axis."""
    found = []
    for i in range(count):
        axis = x.ndim - count + i
        scale = None if scale_factors is None else scale_factors[i]
        new = int(x.shape[axis] * scale) if output_size is None else output_size[i]
        found.append((axis, new, scale))
    return found


def _nearest(x: Any, sizes: Any, is_exact: bool) -> Any:
    for axis, new, scale in sizes:
        length = x.shape[axis]
        if new == length and scale in (None, 1.0):
            continue
        ratio = np.float32(_ratio(length, new, False, scale))
        offset = np.float32(0.5 if is_exact else 0)
        positions = np.floor((np.arange(new, dtype=np.float32) + offset) * ratio)
        places = np.minimum(positions.astype(np.int64), length - 1)
        if new % length == 0 and np.array_equal(places, np.arange(new) // (new // length)):
            x = cnp.repeat(x, new // length, axis=axis)
        else:
            x = cnp.take(x, places, axis=axis)
    return x


def _cubic(t: Any, a: float = -0.75) -> Any:
    t = np.abs(t)
    near = ((a + 2) * t - (a + 3)) * t * t + 1
    far = ((a * t - 5 * a) * t + 8 * a) * t - 4 * a
    return np.where(t <= 1, near, np.where(t < 2, far, 0))


def _matrix(length: int, new: int, align: bool, scale: Any, kind: str) -> Any:
    """(length, new): what each new position takes of the old ones."""
    ratio = _ratio(length, new, align, scale)
    matrix = np.zeros((length, new))
    for i in range(new):
        position = i * ratio if align else (i + 0.5) * ratio - 0.5
        if kind == "linear":
            position = max(position, 0.0)
        start = math.floor(position)
        share = position - start
        if kind == "linear":
            taps = [(start, 1 - share), (start + 1, share)]
        else:
            taps = [(start + k, float(_cubic(share - k))) for k in (-1, 0, 1, 2)]
        for place, weight in taps:
            matrix[min(max(place, 0), length - 1), i] += weight
    return matrix


def _antialiased(length: int, new: int, align: bool, scale: Any, kind: str) -> Any:
    """The same, each new position taking of all old ones that it covers."""
    ratio = _ratio(length, new, align, scale)
    reach = {"linear": 1.0, "cubic": 2.0}[kind]
    stretch = max(ratio, 1.0)
    matrix = np.zeros((length, new))
    for i in range(new):
        centre = ratio * (i + 0.5)
        low = max(int(centre - reach * stretch + 0.5), 0)
        high = min(int(centre + reach * stretch + 0.5), length)
        away = (np.arange(low, high) - centre + 0.5) / stretch
        weights = np.maximum(1 - np.abs(away), 0) if kind == "linear" else _cubic(away, -0.5)
        matrix[low:high, i] = weights / weights.sum()
    return matrix


def _resized(x: Any, sizes: Any, align: bool, kind: str, make: Any = _matrix) -> Any:
    only_floats(x, "resizing")
    for axis, new, scale in sizes:
        if new != x.shape[axis] or (scale not in (None, 1.0)):
            x = along(x, axis, make(x.shape[axis], new, align, scale, kind).astype(x.dtype))
    return x


def _add_nearest(name: str, count: int, is_exact: bool) -> None:
    @operator(f"{name}.vec")
    def _(input, output_size, scale_factors):
        return _nearest(input, _sizes(input, output_size, scale_factors, count), is_exact)

    @operator(name)
    def _(self, output_size, *scales):
        factors = [*scales, *[None] * count][:count]
        return _nearest(self, _sizes(self, output_size, factors, count), is_exact)


def _add_weighted(name: str, count: int, kind: str, make: Any) -> None:
    @operator(f"{name}.vec")
    def _(input, output_size, align_corners, scale_factors):
        sizes = _sizes(input, output_size, scale_factors, count)
        return _resized(input, sizes, align_corners, kind, make)

    @operator(name)
    def _(self, output_size, align_corners, *scales):
        factors = [*scales, *[None] * count][:count]
        return _resized(self, _sizes(self, output_size, factors, count), align_corners, kind, make)


for _count in (1, 2, 3):
    _add_nearest(f"upsample_nearest{_count}d", _count, False)
    _add_nearest(f"_upsample_nearest_exact{_count}d", _count, True)
_add_weighted("upsample_linear1d", 1, "linear", _matrix)
_add_weighted("upsample_bilinear2d", 2, "linear", _matrix)
_add_weighted("upsample_trilinear3d", 3, "linear", _matrix)
_add_weighted("upsample_bicubic2d", 2, "cubic", _matrix)
_add_weighted("_upsample_bilinear2d_aa", 2, "linear", _antialiased)
_add_weighted("_upsample_bicubic2d_aa", 2, "cubic", _antialiased)
