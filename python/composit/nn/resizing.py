"""Images of another size, and with their elements in other places.

Images are (batch, channels, spatial…), or (batch, spatial…, channels) with channels_last.
"""

from __future__ import annotations

from typing import Any

import composit._core as _core
from composit._core import LazyTensor

_c = _core.nn

__all__ = [
    "channel_shuffle", "fold", "interpolate", "pixel_shuffle", "pixel_unshuffle", "unfold",
]  # fmt: skip


def _lengths(value: Any) -> Any:
    return () if value is None else value


def interpolate(
    image: Any,
    size: Any = None,
    scale_factor: Any = None,
    mode: str = "nearest",
    *,
    align_corners: bool = False,
    antialias: bool = False,
    channels_last: bool = False,
) -> LazyTensor:
    """Images of another size, with the values and gradients of PyTorch's: of `size` along the
    spatial axes, or floor(length * scale_factor), a number for each axis or one for all. With both
    the lengths are size's, and positions go by the factor.

    mode: "nearest" (the elements at floor(i * length / size)), "nearest-exact" (the nearest to the
    centres), "linear" ("bilinear", "trilinear" with two and three spatial axes), "bicubic" (two
    spatial axes), "area" (means of what results cover). align_corners: the outermost elements stay
    where they are, else the outermost edges do. antialias: results take of all elements they cover
    (bilinear and bicubic). Nearest elements have any dtype; else integers become float64.
    ValueError for lengths below 1, and options that the mode does not have."""
    return _c.interpolate(
        image, _lengths(size), _lengths(scale_factor), mode, align_corners, antialias, channels_last
    )


def pixel_shuffle(image: Any, factor: int, *, channels_last: bool = False) -> LazyTensor:
    """(…, channels * factor**2, height, width) as (…, channels, height * factor, width * factor);
    with channels_last channels stand last in both. ValueError for channels that are no multiple."""
    return _c.pixel_shuffle(image, factor, channels_last)


def pixel_unshuffle(image: Any, factor: int, *, channels_last: bool = False) -> LazyTensor:
    """The reverse of `pixel_shuffle`. ValueError unless factor divides height and width."""
    return _c.pixel_unshuffle(image, factor, channels_last)


def channel_shuffle(image: Any, groups: int, *, channels_last: bool = False) -> LazyTensor:
    """Channels, in `groups` groups, taken one of each group in turn. ValueError unless groups
    divides their number."""
    return _c.channel_shuffle(image, groups, channels_last)


def unfold(
    image: Any, kernel_size: Any, *, strides: Any = None, padding: Any = None, dilation: Any = None
) -> LazyTensor:
    """Windows over the spatial axes as columns, as PyTorch's: (batch, channels, spatial…) ->
    (batch, channels * window, windows); padding is zeros. ValueError where no window fits."""
    return _c.unfold(image, kernel_size, _lengths(strides), _lengths(padding), _lengths(dilation))


def fold(
    columns: Any,
    output_size: Any,
    kernel_size: Any,
    *,
    strides: Any = None,
    padding: Any = None,
    dilation: Any = None,
) -> LazyTensor:
    """The reverse of `unfold`, overlapping windows added up: (batch, channels * window, windows) ->
    (batch, channels, output_size…); one length in output_size is one spatial axis. ValueError where
    the columns are not those of such images."""
    return _c.fold(
        columns,
        output_size,
        kernel_size,
        _lengths(strides),
        _lengths(padding),
        _lengths(dilation),
    )
