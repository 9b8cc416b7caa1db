"""torch's operators that move elements and change none."""

from __future__ import annotations

from typing import Any

import composit._core as _core
from composit import nn
from composit import numpy as cnp
from composit.flashlight.operators.promotion import cast, number, result_dtype
from composit.flashlight.operators.table import operator

_aten = _core.aten


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


@operator("slice.Tensor")
def _slice(self, dim=0, start=None, end=None, step=1):
    if start in (None, 0) and (end is None or end >= self.shape[dim]) and step == 1:
        return self[...]
    return _aten.select(self, dim, slice(start, end, step))


operator("select.int")(_aten.select)


@operator("narrow")
def _narrow(self, dim, start, length):
    return _aten.narrow(self, dim, start, length)


@operator("split.Tensor", "split_with_sizes", "split.sizes")
def _split(self, split_sizes, dim=0):
    return _aten.split(self, split_sizes, dim)


@operator("unbind.int")
def _unbind(self, dim=0):
    return _aten.unbind(self, dim)


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
    return _aten.select(windows, axis, slice(None, None, step))


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
    return _aten.roll(self, shifts, dims)


@operator("tril")
def _tril(self, diagonal=0):
    return _aten.tril(self, diagonal)


@operator("triu")
def _triu(self, diagonal=0):
    return _aten.triu(self, diagonal)


@operator("diag_embed")
def _diag_embed(self, offset=0, dim1=-2, dim2=-1):
    return _aten.diag_embed(self, offset, dim1, dim2)


@operator("constant_pad_nd")
def _constant_pad(self, pad, value=0):
    return _aten.pad(self, pad, "constant", number(value, self.dtype))


@operator("pad")
def _pad(self, pad, mode="constant", value=None):
    return _aten.pad(self, pad, mode, None if value is None else number(value, self.dtype))


@operator("reflection_pad1d", "reflection_pad2d", "reflection_pad3d")
def _reflection_pad(self, padding):
    return _aten.pad(self, padding, "reflect")


@operator("replication_pad1d", "replication_pad2d", "replication_pad3d")
def _replication_pad(self, padding):
    return _aten.pad(self, padding, "replicate")


@operator("pixel_shuffle")
def _pixel_shuffle(self, upscale_factor):
    return nn.pixel_shuffle(self, upscale_factor)


@operator("pixel_unshuffle")
def _pixel_unshuffle(self, downscale_factor):
    return nn.pixel_unshuffle(self, downscale_factor)


@operator("channel_shuffle")
def _channel_shuffle(self, groups):
    return nn.channel_shuffle(self, groups)
