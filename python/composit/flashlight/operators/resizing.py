"""torch's resizing of images, by composit.nn's."""

from __future__ import annotations

from typing import Any

from composit import nn
from composit.flashlight.operators.promotion import only_floats
from composit.flashlight.operators.table import operator


def _resized(x: Any, output_size: Any, factors: Any, **options: Any) -> Any:
    """With both a size and factors, positions go by the factors; those that are missing, or not
    positive, are the lengths' ratios."""
    if factors is not None and output_size is not None:
        count = len(factors)
        if any(factor is None or factor <= 0 for factor in factors):
            given = [f if f is not None and f > 0 else None for f in factors]
            ratios = [new / n for new, n in zip(output_size, x.shape[-count:])]
            factors = [f or ratio for f, ratio in zip(given, ratios)] if any(given) else None
    return nn.interpolate(
        x, None if output_size is None else tuple(output_size), factors, **options
    )


def _add_nearest(name: str, count: int, mode: str) -> None:
    @operator(f"{name}.vec")
    def _(input, output_size, scale_factors):
        return _resized(input, output_size, scale_factors, mode=mode)

    @operator(name)
    def _(self, output_size, *scales):
        factors = [*scales, *[None] * count][:count]
        return _resized(self, output_size, factors, mode=mode)


def _add_weighted(name: str, count: int, mode: str, antialias: bool = False) -> None:
    @operator(f"{name}.vec")
    def _(input, output_size, align_corners, scale_factors):
        only_floats(input, "resizing")
        options = {"mode": mode, "align_corners": align_corners, "antialias": antialias}
        return _resized(input, output_size, scale_factors, **options)

    @operator(name)
    def _(self, output_size, align_corners, *scales):
        only_floats(self, "resizing")
        factors = [*scales, *[None] * count][:count]
        options = {"mode": mode, "align_corners": align_corners, "antialias": antialias}
        return _resized(self, output_size, factors, **options)


for _count in (1, 2, 3):
    _add_nearest(f"upsample_nearest{_count}d", _count, "nearest")
    _add_nearest(f"_upsample_nearest_exact{_count}d", _count, "nearest-exact")
_add_weighted("upsample_linear1d", 1, "linear")
_add_weighted("upsample_bilinear2d", 2, "bilinear")
_add_weighted("upsample_trilinear3d", 3, "trilinear")
_add_weighted("upsample_bicubic2d", 2, "bicubic")
_add_weighted("_upsample_bilinear2d_aa", 2, "bilinear", True)
_add_weighted("_upsample_bicubic2d_aa", 2, "bicubic", True)
