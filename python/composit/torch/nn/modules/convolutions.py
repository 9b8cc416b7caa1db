"""Convolutions as modules."""

from __future__ import annotations

import math
from typing import Any

import composit._core as _core
from composit._core import value_error
from composit._floating_point import in_default_state
from composit.torch import calling
from composit.torch.nn import init
from composit.torch.nn.module import Module
from composit.torch.nn.modules.plain import hold

__all__ = [
    "Conv1d", "Conv2d", "Conv3d", "ConvTranspose1d", "ConvTranspose2d", "ConvTranspose3d",
]  # fmt: skip


def _lengths(value: Any, count: int) -> tuple[int, ...]:
    return (value,) * count if isinstance(value, int) else tuple(value)


class _Convolution:
    """What convolutions and transposed ones do alike."""

    bias: Any
    weight: Any
    register_parameter: Any
    _count = 2
    _is_transposed = False

    def _hold(
        self, in_channels: int, out_channels: int, kernel_size: Any, stride: Any, padding: Any,
        dilation: Any, groups: int, bias: bool, padding_mode: str, output_padding: Any,
        device: Any, dtype: Any,
    ) -> None:  # fmt: skip
        super().__init__()
        count = self._count
        self.in_channels, self.out_channels, self.groups = in_channels, out_channels, groups
        self.kernel_size = _lengths(kernel_size, count)
        self.stride, self.dilation = _lengths(stride, count), _lengths(dilation, count)
        self.padding = padding if isinstance(padding, str) else _lengths(padding, count)
        self.output_padding, self.padding_mode = _lengths(output_padding, count), padding_mode
        shapes = _core.aten.convolution_parameters(self._is_transposed, *self._sizes(bias))
        hold(self, shapes, dtype=dtype, device=device)
        self.reset_parameters()

    @in_default_state
    def reset_parameters(self) -> None:
        """Draws weights as torch does: uniform within 1 / sqrt(fan in)."""
        init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        if self.bias is not None:
            fan = math.prod(self.weight.shape[1:])
            bound = 1 / math.sqrt(fan) if fan else 0
            init.uniform_(self.bias, -bound, bound)

    def extra_repr(self) -> str:
        """Its sizes and options, as torch writes them."""
        return _core.aten.shown_convolution(*self._sizes(self.bias is not None))

    def _sizes(self, has_bias: Any) -> tuple[Any, ...]:
        """What composit::aten::ConvolutionSizes holds, in its order."""
        return (self.in_channels, self.out_channels, self.groups, self.kernel_size, self.stride,
                self.dilation, self.output_padding, self.padding, self.padding_mode,
                has_bias)  # fmt: skip


class _Straight(_Convolution, Module):
    """A convolution (cross-correlation), channels first."""

    def __init__(
        self, in_channels: int, out_channels: int, kernel_size: Any, stride: Any = 1,
        padding: Any = 0, dilation: Any = 1, groups: int = 1, bias: bool = True,
        padding_mode: str = "zeros", device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        self._hold(in_channels, out_channels, kernel_size, stride, padding, dilation, groups, bias,
                   padding_mode, 0, device, dtype)  # fmt: skip

    def forward(self, input: Any) -> Any:
        """The convolution of input."""
        padding: Any = self.padding
        if self.padding_mode != "zeros":
            input, padding = self._padded(input), 0
        return calling.neural[f"conv{self._count}d"](
            input, self.weight, self.bias, self.stride, padding, self.dilation, self.groups
        )

    def _padded(self, input: Any) -> Any:
        widths = _core.aten.widths_before(*self._sizes(self.bias is not None))
        return calling.neural["pad"](input, list(widths), self.padding_mode)


class _Transposed(_Convolution, Module):
    """The gradient of a convolution, as an operation."""

    _is_transposed = True

    def __init__(
        self, in_channels: int, out_channels: int, kernel_size: Any, stride: Any = 1,
        padding: Any = 0, output_padding: Any = 0, groups: int = 1, bias: bool = True,
        dilation: Any = 1, padding_mode: str = "zeros", device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        if padding_mode != "zeros":
            raise value_error('Only "zeros" padding mode is supported for transposed convolutions')
        self._hold(in_channels, out_channels, kernel_size, stride, padding, dilation, groups, bias,
                   padding_mode, output_padding, device, dtype)  # fmt: skip

    def forward(self, input: Any, output_size: Any = None) -> Any:
        """The transposed convolution of input, of a size that is chosen."""
        extra = self.output_padding
        if output_size is not None:
            shape, wanted = tuple(input.shape), tuple(output_size)
            sizes = self._sizes(self.bias is not None)
            extra = _core.aten.padding_for(shape, wanted, *sizes)
        return calling.neural[f"conv_transpose{self._count}d"](
            input, self.weight, self.bias, self.stride, self.padding, extra, self.groups,
            self.dilation,
        )  # fmt: skip


class Conv1d(_Straight):
    __doc__ = _Straight.__doc__
    _count = 1


class Conv2d(_Straight):
    __doc__ = _Straight.__doc__
    _count = 2


class Conv3d(_Straight):
    __doc__ = _Straight.__doc__
    _count = 3


class ConvTranspose1d(_Transposed):
    __doc__ = _Transposed.__doc__
    _count = 1


class ConvTranspose2d(_Transposed):
    __doc__ = _Transposed.__doc__
    _count = 2


class ConvTranspose3d(_Transposed):
    __doc__ = _Transposed.__doc__
    _count = 3
