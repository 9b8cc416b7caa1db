"""torch's convolutions, images with channels first."""

from __future__ import annotations

from typing import Any

from composit import nn
from composit import numpy as cnp
from composit._core import LazyTensor
from composit.flashlight.operators.promotion import only_floats
from composit.flashlight.operators.table import operator


def lengths(value: Any, count: int) -> tuple[int, ...]:
    """One length for each spatial axis."""
    values = (value,) if isinstance(value, int) else tuple(value)
    return values * count if len(values) == 1 else values


def _biased(result: LazyTensor, bias: Any) -> LazyTensor:
    if bias is None:
        return result
    return result + cnp.reshape(bias, (-1,) + (1,) * (result.ndim - 2))


def _batched(x: LazyTensor, weight: LazyTensor) -> tuple[LazyTensor, bool]:
    return (x, False) if x.ndim == weight.ndim else (x[None], True)


def stride_lengths(stride: Any) -> tuple[int, ...]:
    """A stride, one number or several, as several."""
    return (stride,) if isinstance(stride, int) else tuple(stride)


def convolved(x: Any, weight: Any, bias: Any, stride: Any, padding: Any, dilation: Any,
              groups: int) -> LazyTensor:  # fmt: skip
    """Cross-correlation with torch's arguments."""
    x, is_single = _batched(x, weight)
    count = weight.ndim - 2
    stride, dilation = lengths(stride, count), lengths(dilation, count)
    if padding == "valid":
        padding = 0
    if padding == "same" and any(n != 1 for n in stride_lengths(stride)):
        raise RuntimeError("padding='same' is not supported for strided convolutions")
    if padding == "same":
        total = [d * (k - 1) for d, k in zip(dilation, weight.shape[2:])]
        x = cnp.pad(x, [(0, 0), (0, 0)] + [(n // 2, n - n // 2) for n in total])
        padding = 0
    result = nn.convolution(
        x, weight, channels_last=False, strides=stride, padding=lengths(padding, count),
        dilation=dilation, groups=groups,
    )  # fmt: skip
    result = _biased(result, bias)
    return result[0] if is_single else result


@operator("conv1d", "conv2d", "conv3d", "conv1d.padding", "conv2d.padding", "conv3d.padding")
def _conv(input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1):
    return convolved(input, weight, bias, stride, padding, dilation, groups)


@operator("convolution")
def _convolution(
    input, weight, bias, stride, padding, dilation, transposed, output_padding, groups
):
    if transposed:
        return _transposed(input, weight, bias, stride, padding, output_padding, groups, dilation)
    return convolved(input, weight, bias, stride, padding, dilation, groups)


@operator("conv_transpose1d", "conv_transpose2d.input", "conv_transpose3d.input")
def _transposed(
    input, weight, bias=None, stride=1, padding=0, output_padding=0, groups=1, dilation=1
):
    only_floats(input, "a transposed convolution")
    x, is_single = _batched(input, weight)
    weight = cnp.conj(weight) if weight.dtype.kind == "c" else weight  # gradients conjugate it
    count = weight.ndim - 2
    options = [lengths(v, count) for v in (stride, padding, output_padding, dilation)]
    shape = [x.shape[0], weight.shape[1] * groups]
    for length, kernel, s, p, o, d in zip(x.shape[2:], weight.shape[2:], *options):
        shape.append((length - 1) * s - 2 * p + d * (kernel - 1) + o + 1)
    # The gradient of a convolution by its image, which it does not depend on.
    image = cnp.zeros(shape, x.dtype)
    image_of = nn.convolution(
        image, weight, channels_last=False, strides=options[0], padding=options[1],
        dilation=options[3], groups=groups,
    )  # fmt: skip
    after = [(0, m - n) for n, m in zip(x.shape, image_of.shape)]  # where padding is a whole stride
    after[1] = (0, 0)
    x = cnp.pad(x, after) if any(b for _, b in after) else x
    (result,) = nn.chain_rule({image_of: x}, [image])
    result = _biased(result, bias)
    return result[0] if is_single else result


@operator("im2col")
def _im2col(self, kernel_size, dilation, padding, stride):
    x = self if self.ndim == 4 else self[None]
    result = nn.unfold(x, kernel_size, strides=stride, padding=padding, dilation=dilation)
    return result if self.ndim == 4 else result[0]


@operator("col2im")
def _col2im(self, output_size, kernel_size, dilation, padding, stride):
    x = self if self.ndim == 3 else self[None]
    options = {"strides": stride, "padding": padding, "dilation": dilation}
    result = nn.fold(x, output_size, kernel_size, **options)
    return result if self.ndim == 3 else result[0]
