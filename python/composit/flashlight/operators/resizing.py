"""torch's resizing of images, by composit::aten's."""

from __future__ import annotations

import composit._core as _core
from composit.flashlight.operators.promotion import only_floats
from composit.flashlight.operators.table import operator

_resized = _core.aten.upsample


def _add_nearest(name: str, count: int, mode: str) -> None:
    @operator(f"{name}.vec")
    def _(input, output_size, scale_factors):
        return _resized(input, output_size, scale_factors, mode)

    @operator(name)
    def _(self, output_size, *scales):
        factors = [*scales, *[None] * count][:count]
        return _resized(self, output_size, factors, mode)


def _add_weighted(name: str, count: int, mode: str, antialias: bool = False) -> None:
    @operator(f"{name}.vec")
    def _(input, output_size, align_corners, scale_factors):
        only_floats(input, "resizing")
        return _resized(input, output_size, scale_factors, mode, align_corners, antialias)

    @operator(name)
    def _(self, output_size, align_corners, *scales):
        only_floats(self, "resizing")
        factors = [*scales, *[None] * count][:count]
        return _resized(self, output_size, factors, mode, align_corners, antialias)


for _count in (1, 2, 3):
    _add_nearest(f"upsample_nearest{_count}d", _count, "nearest")
    _add_nearest(f"_upsample_nearest_exact{_count}d", _count, "nearest-exact")
_add_weighted("upsample_linear1d", 1, "linear")
_add_weighted("upsample_bilinear2d", 2, "bilinear")
_add_weighted("upsample_trilinear3d", 3, "trilinear")
_add_weighted("upsample_bicubic2d", 2, "bicubic")
_add_weighted("_upsample_bilinear2d_aa", 2, "bilinear", True)
_add_weighted("_upsample_bicubic2d_aa", 2, "bicubic", True)
