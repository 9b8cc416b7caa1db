"""torch's convolutions, images with channels first."""

from __future__ import annotations

import composit._core as _core
from composit import nn
from composit.flashlight.operators.table import operator


@operator("conv1d", "conv2d", "conv3d", "conv1d.padding", "conv2d.padding", "conv3d.padding")
def _conv(input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1):
    return _core.aten.convolution(input, weight, bias, stride, padding, dilation, groups)


@operator("convolution")
def _convolution(
    input, weight, bias, stride, padding, dilation, transposed, output_padding, groups
):
    if transposed:
        return _transposed(input, weight, bias, stride, padding, output_padding, groups, dilation)
    return _core.aten.convolution(input, weight, bias, stride, padding, dilation, groups)


@operator("conv_transpose1d", "conv_transpose2d.input", "conv_transpose3d.input")
def _transposed(
    input, weight, bias=None, stride=1, padding=0, output_padding=0, groups=1, dilation=1
):
    return _core.aten.transposed_convolution(
        input, weight, bias, stride, padding, output_padding, groups, dilation
    )


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
