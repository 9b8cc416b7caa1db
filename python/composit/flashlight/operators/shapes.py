"""torch's operators that move elements and change none."""

from __future__ import annotations

from typing import Any

import composit._core as _core
from composit import nn
from composit import numpy as cnp
from composit.flashlight.operators.promotion import cast, number, result_dtype
from composit.flashlight.operators.table import operator


@operator(
    "view", "reshape", "_unsafe_view", "flatten.using_ints", "unsqueeze", "squeeze", "squeeze.dim",
    "squeeze.dims", "unflatten.int", "view_as", "reshape_as", "ravel", "_reshape_alias",
    "view_copy", "squeeze_copy", "unsqueeze_copy", shape=True,
)  # fmt: skip
def _reshape(self, *_, shape, **__):
    return self if tuple(self.shape) == shape else cnp.reshape(self, shape)


@operator("expand", "expand_as", "expand_copy", "broadcast_to", shape=True)
def _expand(self, *_, shape, **__):
    return self if tuple(self.shape) == shape else cnp.broadcast_to(self, shape)


@operator("permute", "permute_copy")
def _permute(self, dims):
    return cnp.transpose(self, tuple(dims))


@operator("transpose.int", "swapaxes", "swapdims")
def _transpose(self, dim0, dim1):
    return cnp.swapaxes(self, dim0, dim1) if self.ndim else self


@operator("t", "mT", "numpy_T")
def _t(self):
    return cnp.transpose(self) if self.ndim < 3 else cnp.swapaxes(self, -1, -2)


@operator("adjoint")
def _adjoint(self):
    return _core.numpy.conjugated_of(_t(self)) if self.dtype.kind == "c" else _t(self)


@operator("movedim.intlist", "movedim.int", "moveaxis.intlist", "moveaxis.int")
def _movedim(self, source, destination):
    return cnp.moveaxis(self, source, destination)


def _at(axis: int, index: Any, ndim: int) -> tuple[Any, ...]:
    return (slice(None),) * (axis % ndim) + (index,)


@operator("slice.Tensor")
def _slice(self, dim=0, start=None, end=None, step=1):
    if start in (None, 0) and (end is None or end >= self.shape[dim]) and step == 1:
        return self[...]
    return self[_at(dim, slice(start, end, step), self.ndim)]


@operator("select.int")
def _select(self, dim, index):
    return self[_at(dim, index, self.ndim)]


@operator("narrow")
def _narrow(self, dim, start, length):
    start = start % (self.shape[dim] + 1) if start < 0 else start
    return self[_at(dim, slice(start, start + length), self.ndim)]


def _parts(self: Any, sizes: Any, dim: int) -> list[Any]:
    starts = [sum(sizes[:i]) for i in range(len(sizes))]
    return [
        self[_at(dim, slice(start, start + size), self.ndim)] for start, size in zip(starts, sizes)
    ]


@operator("split.Tensor")
def _split(self, split_size, dim=0):
    length = self.shape[dim]
    sizes = [min(split_size, length - start) for start in range(0, length, split_size)] or [0]
    return _parts(self, sizes, dim)


@operator("split_with_sizes", "split.sizes")
def _split_with_sizes(self, split_sizes, dim=0):
    return _parts(self, split_sizes, dim)


@operator("unbind.int")
def _unbind(self, dim=0):
    return [self[_at(dim, i, self.ndim)] for i in range(self.shape[dim])]


@operator("as_strided")
def _as_strided(self, size, stride, storage_offset=None):
    if not self.lies_in_memory:
        raise NotImplementedError("this is a view by strides of what is computed from a memory.")
    return _core.numpy.as_strided_of(self, list(size), list(stride), storage_offset)


@operator("diagonal")
def _diagonal(self, offset=0, dim1=0, dim2=1):
    return _core.numpy.diagonal_of(self, offset, dim1, dim2, True)


@operator("unfold")
def _unfold(self, dimension, size, step):
    if not self.ndim:
        return cnp.reshape(self, (1,))
    axis = dimension % self.ndim
    windows = _core.numpy.windows_of(self, [size], axis, True)
    return windows[_at(axis, slice(None, None, step), windows.ndim)]


def _joined(tensors: Any) -> list[Any]:
    dtype = result_dtype(*tensors)
    return [cast(x, dtype) for x in tensors]


@operator("cat", "concat", "concatenate")
def _cat(tensors, dim=0):
    wide = [x for x in tensors if x.shape != (0,)] or tensors[:1]
    dtype = result_dtype(*tensors)
    parts = [cast(x, dtype) for x in wide]
    return parts[0] if len(parts) == 1 else cnp.concatenate(parts, axis=dim)


@operator("stack")
def _stack(tensors, dim=0):
    return cnp.stack(_joined(tensors), axis=dim)


@operator("repeat")
def _repeat(self, repeats):
    return cnp.tile(self, tuple(repeats))


@operator("tile")
def _tile(self, dims):
    return cnp.tile(self, tuple(dims))


@operator("repeat_interleave.self_int")
def _repeat_interleave(self, repeats, dim=None, *, output_size=None):
    return cnp.repeat(self, repeats, axis=dim)


@operator("flip")
def _flip(self, dims):
    return cnp.flip(self, tuple(dims)) if dims else self


@operator("roll")
def _roll(self, shifts, dims=()):
    if not dims:
        return cnp.roll(self, shifts[0])
    return cnp.roll(self, tuple(shifts), tuple(dims))


@operator("tril")
def _tril(self, diagonal=0):
    return cnp.tril(self, diagonal)


@operator("triu")
def _triu(self, diagonal=0):
    return cnp.triu(self, diagonal)


@operator("diag_embed")
def _diag_embed(self, offset=0, dim1=-2, dim2=-1):
    length = self.shape[-1] + abs(offset)
    eye = cnp.eye(length, length, offset, dtype=self.dtype)
    before = (max(-offset, 0), max(offset, 0))
    rows = cnp.pad(self, [(0, 0)] * (self.ndim - 1) + [before])
    return cnp.moveaxis(rows[..., :, None] * eye, (-2, -1), (dim1, dim2))


@operator("constant_pad_nd")
def _constant_pad(self, pad, value=0):
    value = number(value, self.dtype)
    return cnp.pad(_cropped(self, pad), _outside(self, pad), constant_values=value)


def _widths(self: Any, pad: Any) -> list[tuple[int, int]]:
    """torch's widths are of the last axis first."""
    given = [(pad[i], pad[i + 1]) for i in range(0, len(pad), 2)]
    return [(0, 0)] * (self.ndim - len(given)) + given[::-1]


@operator("pad")
def _pad(self, pad, mode="constant", value=None):
    if mode == "constant":
        return _constant_pad(self, pad, 0 if value is None else value)
    if mode == "circular":  # what is left after cropping goes round
        return cnp.pad(_cropped(self, pad), _outside(self, pad), "wrap")
    return _extended(self, pad, {"reflect": "reflect", "replicate": "edge"}[mode])


def _outside(self: Any, pad: Any) -> list[tuple[int, int]]:
    return [(max(a, 0), max(b, 0)) for a, b in _widths(self, pad)]


def _cropped(self: Any, pad: Any) -> Any:
    """x without what negative widths take away."""
    widths = _widths(self, pad)
    if not any(a < 0 or b < 0 for a, b in widths):
        return self
    ends = zip(self.shape, widths)
    return self[tuple(slice(max(-a, 0), length - max(-b, 0)) for length, (a, b) in ends)]


def _extended(self: Any, pad: Any, mode: str) -> Any:
    """Padded by elements of x itself, then cropped."""
    wide = cnp.pad(self, _outside(self, pad), mode)
    return _cropped(wide, [min(width, 0) for width in pad])


@operator("reflection_pad1d", "reflection_pad2d", "reflection_pad3d")
def _reflection_pad(self, padding):
    return _extended(self, padding, "reflect")


@operator("replication_pad1d", "replication_pad2d", "replication_pad3d")
def _replication_pad(self, padding):
    return _extended(self, padding, "edge")


@operator("pixel_shuffle")
def _pixel_shuffle(self, upscale_factor):
    return nn.pixel_shuffle(self, upscale_factor)


@operator("pixel_unshuffle")
def _pixel_unshuffle(self, downscale_factor):
    return nn.pixel_unshuffle(self, downscale_factor)


@operator("channel_shuffle")
def _channel_shuffle(self, groups):
    return nn.channel_shuffle(self, groups)
