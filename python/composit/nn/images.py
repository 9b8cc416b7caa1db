"""Operations of images: convolution, pooling and padding.

Images are (batch, channels, spatial…), or (batch, spatial…, channels) with channels_last, of 1 to 3
spatial axes. Lengths (strides, padding, …) are one number for all spatial axes, or one for each.
"""

from __future__ import annotations

from typing import Any

import composit._core as _core
from composit._core import LazyTensor

_c = _core.nn

__all__ = [
    "adaptive_average_pool", "adaptive_max_pool", "average_pool", "convolution",
    "global_average_pool", "global_max_pool", "lp_pool", "max_pool", "max_unpool", "pad",
    "transposed_convolution",
]  # fmt: skip


def _lengths(value: Any) -> Any:
    return () if value is None else value


def convolution(
    image: Any,
    filters: Any,
    *,
    channels_last: bool,
    strides: Any = None,
    padding: Any = None,
    dilation: Any = None,
    groups: int = 1,
    bias: Any = None,
    padding_mode: str = "zeros",
) -> LazyTensor:
    """Cross-correlation in 1, 2 or 3 dimensions. Filters: (out, in / groups, window…), or
    (out, window…, in / groups) with channels_last; bias: (out,). padding: zeros on both sides, or
    "same" (as many as keep the lengths; strides 1) or "valid" (none); padding_mode: "zeros",
    "reflect", "replicate" or "circular". ValueError naming the shapes when they do not fit."""
    is_same = isinstance(padding, str) and padding == "same"
    if is_same or (isinstance(padding, str) and padding == "valid"):
        padding = None
    return _c.convolution(
        image,
        filters,
        channels_last,
        _lengths(strides),
        _lengths(padding),
        _lengths(dilation),
        groups,
        bias,
        padding_mode,
        is_same,
    )


def transposed_convolution(
    image: Any,
    filters: Any,
    *,
    channels_last: bool,
    strides: Any = None,
    padding: Any = None,
    output_padding: Any = None,
    dilation: Any = None,
    groups: int = 1,
    bias: Any = None,
) -> LazyTensor:
    """The derivative of `convolution` by its image, as PyTorch's conv_transpose. Filters:
    (in, out / groups, window…), or (in, window…, out / groups) with channels_last; bias: (out,).
    Lengths: (n - 1) * stride - 2 * padding + (window - 1) * dilation + output_padding + 1."""
    return _c.transposed_convolution(
        image,
        filters,
        channels_last,
        _lengths(strides),
        _lengths(padding),
        _lengths(output_padding),
        _lengths(dilation),
        groups,
        bias,
    )


def max_pool(
    image: Any,
    *,
    kernel_size: Any,
    channels_last: bool,
    strides: Any = (1, 1),
    padding: Any = (0, 0),
    dilation: Any = None,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:
    """Maximum over windows; padding is -inf; the gradient goes to the first maximum. With
    ceil_mode a last window may end outside. return_indices: also where the maxima are (int64), in
    the row-major spatial axes of the image."""
    function = _c.max_pool_with_indices if return_indices else _c.max_pool
    return function(
        image,
        kernel_size,
        channels_last,
        *_windows(strides, padding),
        _lengths(dilation),
        ceil_mode,
        True,
    )


def max_unpool(
    image: Any,
    indices: Any,
    *,
    kernel_size: Any,
    channels_last: bool,
    strides: Any = (1, 1),
    padding: Any = (0, 0),
    output_size: Any = None,
) -> LazyTensor:
    """The way back from `max_pool(…, return_indices=True)` with the same windows: its maxima where
    its indices say, zeros elsewhere. Lengths: (n - 1) * stride - 2 * padding + window, or
    output_size, less than a stride off. An element that several write gets the last of them, and
    each of them its gradient, as PyTorch's max_unpool1d, 2d and 3d.

    TypeError for indices that are no integers, ValueError for shapes that do not fit, IndexError
    when evaluated for an index that is out of range (negative ones count from the end)."""
    return _c.max_unpool(
        image,
        indices,
        kernel_size,
        channels_last,
        *_windows(strides, padding),
        _lengths(output_size),
    )


def average_pool(
    image: Any,
    *,
    kernel_size: Any,
    channels_last: bool,
    strides: Any = (1, 1),
    padding: Any = (0, 0),
    ceil_mode: bool = False,
    count_include_pad: bool = True,
) -> LazyTensor:
    """Mean over windows; padding is zeros, which count unless count_include_pad is false. What
    ceil_mode adds behind them never counts."""
    return _c.average_pool(
        image,
        kernel_size,
        channels_last,
        *_windows(strides, padding),
        (),
        ceil_mode,
        count_include_pad,
    )


def lp_pool(
    image: Any,
    norm_type: float,
    *,
    kernel_size: Any,
    channels_last: bool,
    strides: Any = (1, 1),
    ceil_mode: bool = False,
) -> LazyTensor:
    """The norm of windows: the norm_type-th root of the sum of image**norm_type. Of windows that
    ceil_mode lets end behind the image, the sum is the mean times the whole window's size. The
    gradient of a sum that is 0 is 0. ValueError: a norm_type that is 0 or not finite."""
    strides, _ = _windows(strides, None)
    return _c.lp_pool(image, norm_type, kernel_size, channels_last, strides, ceil_mode)


def _windows(strides: Any, padding: Any) -> tuple[Any, Any]:
    """The defaults are written for two spatial axes, and mean "1 and 0" for any number."""
    return (
        () if strides is None or _tuple_of(strides) == (1, 1) else strides,
        () if padding is None or _tuple_of(padding) == (0, 0) else padding,
    )


def _tuple_of(value: Any) -> tuple[Any, ...]:
    """A single length as a tuple."""
    return tuple(value) if isinstance(value, (tuple, list)) else (value,)


def adaptive_average_pool(
    image: Any, output_size: Any, *, channels_last: bool = False
) -> LazyTensor:
    """output_size means along each spatial axis: number i of the elements from
    floor(i * length / output_size) to ceil((i + 1) * length / output_size)."""
    return _c.adaptive_average_pool(image, output_size, channels_last)


def adaptive_max_pool(image: Any, output_size: Any, *, channels_last: bool = False) -> LazyTensor:
    """The maxima of adaptive_average_pool's windows; the gradient goes to the first one."""
    return _c.adaptive_max_pool(image, output_size, channels_last)


def global_average_pool(image: Any, *, channels_last: bool = False) -> LazyTensor:
    """The mean over all spatial axes, kept with length 1."""
    return _c.global_average_pool(image, channels_last)


def global_max_pool(image: Any, *, channels_last: bool = False) -> LazyTensor:
    """The maximum over all spatial axes, kept with length 1; the gradient goes to the first."""
    return _c.global_max_pool(image, channels_last)


def pad(x: Any, padding: Any, mode: str = "constant", value: float = 0.0) -> LazyTensor:
    """Elements around x: (before, after) of the last axis, then of the one before it, …; negative
    lengths crop. Modes: "constant" (of value), "reflect" (mirrored; less than the length),
    "replicate" (the outermost element), "circular" (from the other end; up to the length)."""
    return _c.pad(x, padding, mode, value)
