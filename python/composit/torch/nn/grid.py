"""grid_sample: values of an image or a volume at places between its elements; affine_grid, which
says where an affine map looks; images of another size."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np

from composit import numpy as cnp
from composit._floating_point import in_default_state
from composit.torch import calling
from composit.torch.calling import torch_function

_modes = ("bilinear", "nearest", "bicubic")
_paddings = ("zeros", "border", "reflection")


def _place(coordinate: Any, size: int, align_corners: bool) -> Any:
    """From [-1, 1] to numbers of elements."""
    if align_corners:
        return (coordinate + 1) / 2 * (size - 1)
    return ((coordinate + 1) * size - 1) / 2


def _reflected(place: Any, size: int, align_corners: bool) -> Any:
    low, high = (0, size - 1) if align_corners else (-0.5, size - 0.5)
    span = high - low
    if not span:
        return place * 0
    away = cnp.abs(place - low)
    turns = cnp.floor(away / span)
    rest = away - turns * span
    is_even = turns - 2 * cnp.floor(turns / 2) == 0
    return cnp.where(is_even, rest, span - rest) + low


def _padded(place: Any, size: int, padding: str, align_corners: bool) -> Any:
    if padding == "reflection":
        place = _reflected(place, size, align_corners)
    return place if padding == "zeros" else cnp.clip(place, 0, size - 1)


class _Image:
    """The elements by whole places, zeros beyond them."""

    def __init__(self, input: Any, length: int) -> None:
        self.sizes = tuple(input.shape[2:])
        self.shape = (*input.shape[:2], length)
        self.flat = cnp.reshape(input, (*input.shape[:2], math.prod(self.sizes)))

    def at(self, places: Any) -> Any:
        """(batch, channels, length) of places (batch, length), one for each dimension."""
        number: Any = 0
        is_inside: Any = True
        for place, size in zip(places, self.sizes):
            is_one_inside = (place >= 0) & (place <= size - 1)
            is_inside = is_inside & is_one_inside
            number = number * size + cnp.where(is_one_inside, place, 0)
        chosen = cnp.broadcast_to(cnp.astype(number, "int64")[:, None, :], self.shape)
        found = cnp.take_along_axis(self.flat, chosen, 2)
        return cnp.where(is_inside[:, None, :], found, 0)


def _linear(image: _Image, places: list[Any]) -> Any:
    lows = [cnp.floor(place) for place in places]
    total: Any = 0
    for corner in itertools.product((0, 1), repeat=len(places)):
        weight: Any = 1
        for place, low, side in zip(places, lows, corner):
            weight = weight * ((place - low) if side else (low + 1 - place))
        values = image.at([low + side for low, side in zip(lows, corner)])
        total = total + values * weight[:, None, :]
    return total


def _cubic_weights(t: Any) -> list[Any]:
    """The weights of four neighbours, of the place t behind the second (Keys, 1981; a = -3/4)."""
    a = -0.75

    def near(x: Any) -> Any:
        return ((a + 2) * x - (a + 3)) * x * x + 1

    def far(x: Any) -> Any:
        return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a

    return [far(t + 1), near(t), near(1 - t), far(2 - t)]


def _cubic(image: _Image, places: list[Any], pad: Any) -> Any:
    lows = [cnp.floor(place) for place in places]
    weights = [_cubic_weights(place - low) for place, low in zip(places, lows)]
    total: Any = 0
    for y, x in itertools.product(range(4), repeat=2):
        taps = [cnp.rint(pad(low + tap - 1, d))
                for d, (low, tap) in enumerate(zip(lows, (y, x)))]  # fmt: skip
        total = total + image.at(taps) * (weights[0][y] * weights[1][x])[:, None, :]
    return total


def _sampled(input: Any, grid: Any, mode: str, padding: str, align_corners: bool) -> Any:
    count = input.ndim - 2
    if count not in (2, 3) or grid.ndim != input.ndim or grid.shape[-1] != count:
        raise ValueError(
            f"grid_sampler(): expected 4D or 5D input and grid with same number of dimensions, "
            f"whose last one is {count}, but got input with sizes {list(input.shape)} and grid "
            f"with sizes {list(grid.shape)}"
        )
    if grid.shape[0] != input.shape[0]:
        raise ValueError(
            "grid_sampler(): expected grid and input to have same batch size, but got input with "
            f"sizes {list(input.shape)} and grid with sizes {list(grid.shape)}"
        )
    if mode == "bicubic" and count == 3:
        raise ValueError("grid_sampler(): bicubic interpolation only supports 4D input")
    out = tuple(grid.shape[1:-1])
    length = math.prod(out)
    image = _Image(input, length)

    def pad(place: Any, d: int) -> Any:
        return _padded(place, image.sizes[d], padding, align_corners)

    places = []
    for d, size in enumerate(image.sizes):
        coordinate = cnp.reshape(grid[..., count - 1 - d], (grid.shape[0], length))
        place = _place(coordinate, size, align_corners)
        places.append(place if mode == "bicubic" else pad(place, d))
    if mode == "bicubic":
        made = _cubic(image, places, pad)
    elif mode == "nearest":
        made = image.at([cnp.rint(place) for place in places])
    else:
        made = _linear(image, places)
    return cnp.reshape(made, (*input.shape[:2], *out))


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
    return _sampled(input, grid, mode, padding_mode, bool(align_corners))


@torch_function("grid_sampler", is_method=False)
def _grid_sampler(
    input: Any, grid: Any, interpolation_mode: int, padding_mode: int, align_corners: bool
) -> Any:
    """grid_sample, its modes by number."""
    mode, padding = _modes[interpolation_mode], _paddings[padding_mode]
    return _sampled(input, grid, mode, padding, align_corners)


@torch_function("affine_grid", is_function=False, is_method=False, is_neural=True)
@in_default_state
def _affine_grid(theta: Any, size: Any, align_corners: bool | None = None) -> Any:
    """Where grid_sample looks for an affine map: (batch, height, width, 2), or with depth 3."""
    lines = []
    for n in tuple(size)[2:]:
        line = np.linspace(-1, 1, n) if n > 1 else np.zeros(1)
        lines.append(line if align_corners else line * (n - 1) / n)
    grids = np.meshgrid(*lines, indexing="ij")
    places = np.stack([*reversed(grids), np.ones_like(grids[0])], axis=-1)
    flat = cnp.asarray(places.reshape(-1, places.shape[-1]).astype(np.dtype(theta.dtype)))
    found = cnp.matmul(flat, cnp.swapaxes(theta, 1, 2))
    return cnp.reshape(found, (theta.shape[0], *places.shape[:-1], places.shape[-1] - 1))


def upsample_nearest(input: Any, size: Any = None, scale_factor: Any = None) -> Any:
    """interpolate, by the nearest element."""
    return calling.neural["interpolate"](input, size, scale_factor, "nearest")


def upsample_bilinear(input: Any, size: Any = None, scale_factor: Any = None) -> Any:
    """interpolate, bilinearly with corners aligned."""
    return calling.neural["interpolate"](input, size, scale_factor, "bilinear", True)


calling.neural.update(upsample_nearest=upsample_nearest, upsample_bilinear=upsample_bilinear)
