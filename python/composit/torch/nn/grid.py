"""grid_sample: values of an image or a volume at places between its elements; affine_grid, which
says where an affine map looks; images of another size."""

from __future__ import annotations

from typing import Any

import composit._core as _core
from composit.torch import calling
from composit.torch.calling import torch_function

_modes = ("bilinear", "nearest", "bicubic")
_paddings = ("zeros", "border", "reflection")


@torch_function("grid_sample", is_function=False, is_method=False, is_neural=True)
def _grid_sample(
    input: Any, grid: Any, mode: str = "bilinear", padding_mode: str = "zeros",
    align_corners: bool | None = None,
) -> Any:  # fmt: skip
    """input (batch, channels, height, width), or with depth, at the places of grid (batch, height,
    width, 2): x and y, or x, y and z, from -1 to 1. ValueError for other modes and shapes."""
    if mode not in _modes or padding_mode not in _paddings:
        raise ValueError(
            f"nn.functional.grid_sample(): mode {mode!r} and padding_mode {padding_mode!r}; "
            f"expected one of {', '.join(_modes)} and one of {', '.join(_paddings)}"
        )
    return _core.aten.grid_sample(
        input, grid, _modes.index(mode), _paddings.index(padding_mode), bool(align_corners)
    )


@torch_function("grid_sampler", is_method=False)
def _grid_sampler(
    input: Any, grid: Any, interpolation_mode: int, padding_mode: int, align_corners: bool
) -> Any:
    """grid_sample, its modes by number."""
    return _core.aten.grid_sample(input, grid, interpolation_mode, padding_mode, align_corners)


@torch_function("affine_grid", is_function=False, is_method=False, is_neural=True)
def _affine_grid(theta: Any, size: Any, align_corners: bool | None = None) -> Any:
    """Where grid_sample looks for an affine map: (batch, height, width, 2), or with depth 3."""
    return _core.aten.affine_grid(theta, tuple(size), bool(align_corners))


def upsample_nearest(input: Any, size: Any = None, scale_factor: Any = None) -> Any:
    """interpolate, by the nearest element."""
    return calling.neural["interpolate"](input, size, scale_factor, "nearest")


def upsample_bilinear(input: Any, size: Any = None, scale_factor: Any = None) -> Any:
    """interpolate, bilinearly with corners aligned."""
    return calling.neural["interpolate"](input, size, scale_factor, "bilinear", True)


calling.neural.update(upsample_nearest=upsample_nearest, upsample_bilinear=upsample_bilinear)
