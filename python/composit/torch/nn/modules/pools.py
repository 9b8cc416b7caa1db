"""Pools and their inverses, padding, resizing and dropout as modules."""

from __future__ import annotations

from typing import Any

from composit.torch import calling
from composit.torch.nn import grid, self_normalising, unpooling
from composit.torch.nn.module import Module
from composit.torch.nn.modules.of_function import module_of

assert grid and self_normalising and unpooling  # they fill the table that is read here
__all__: list[str] = [
    "MaxUnpool1d", "MaxUnpool2d", "MaxUnpool3d", "UpsamplingBilinear2d", "UpsamplingNearest2d",
]  # fmt: skip


def _enter(made: Any) -> None:
    globals()[made.__name__] = made
    __all__.append(made.__name__)


class _Pool(Module):
    _function = ""
    _names: tuple[str, ...] = ()

    def _hold(self, kernel_size: Any, stride: Any, **options: Any) -> None:
        Module.__init__(self)
        self.kernel_size = kernel_size
        self.stride = kernel_size if stride is None else stride
        self._names = tuple(options)
        for name, value in options.items():
            setattr(self, name, value)

    def forward(self, input: Any) -> Any:
        """The pool of input."""
        options = {name: getattr(self, name) for name in self._names}
        return calling.neural[self._function](input, self.kernel_size, self.stride, **options)


class _MaxPool(_Pool):
    """The largest element of each window."""

    def __init__(
        self, kernel_size: Any, stride: Any = None, padding: Any = 0, dilation: Any = 1,
        return_indices: bool = False, ceil_mode: bool = False,
    ) -> None:  # fmt: skip
        self._hold(kernel_size, stride, padding=padding, dilation=dilation,
                   return_indices=return_indices, ceil_mode=ceil_mode)  # fmt: skip

    def extra_repr(self) -> str:
        """Its options."""
        return (
            f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}, "
            f"dilation={self.dilation}, ceil_mode={self.ceil_mode}"
        )


class _AvgPool(_Pool):
    """The mean of each window."""

    def __init__(
        self, kernel_size: Any, stride: Any = None, padding: Any = 0, ceil_mode: bool = False,
        count_include_pad: bool = True, divisor_override: int | None = None,
    ) -> None:  # fmt: skip
        options = {"padding": padding, "ceil_mode": ceil_mode,
                   "count_include_pad": count_include_pad}  # fmt: skip
        if divisor_override is not None:
            options["divisor_override"] = divisor_override
        self._hold(kernel_size, stride, **options)

    def extra_repr(self) -> str:
        """Its options."""
        shown = [self.kernel_size, self.stride, self.padding]
        if self._function == "avg_pool1d":
            shown = [(value,) if isinstance(value, int) else value for value in shown]
        return "kernel_size={}, stride={}, padding={}".format(*shown)


def _derived(base: Any, name: str, function: str) -> Any:
    return type(name, (base,), {"_function": function, "__doc__": base.__doc__,
                                "__module__": "composit.torch.nn"})  # fmt: skip


for _n in (1, 2, 3):
    _enter(_derived(_MaxPool, f"MaxPool{_n}d", f"max_pool{_n}d"))
    _enter(_derived(_AvgPool, f"AvgPool{_n}d", f"avg_pool{_n}d"))
    _enter(module_of(f"AdaptiveAvgPool{_n}d", f"adaptive_avg_pool{_n}d", "output_size"))
    _enter(module_of(f"AdaptiveMaxPool{_n}d", f"adaptive_max_pool{_n}d",
                     "output_size, return_indices=False", extra="output_size"))  # fmt: skip
for _n in (1, 2, 3):
    _enter(module_of(f"LPPool{_n}d", f"lp_pool{_n}d",
                     "norm_type, kernel_size, stride=None, ceil_mode=False"))  # fmt: skip


class _Pad(Module):
    _mode, _count = "constant", 1

    def __init__(self, padding: Any, value: Any = None) -> None:
        super().__init__()
        self.padding = (padding,) * (2 * self._count) if isinstance(padding, int) else padding
        self.value = value

    def forward(self, input: Any) -> Any:
        """input with elements around it."""
        return calling.neural["pad"](input, self.padding, self._mode, self.value)

    def extra_repr(self) -> str:
        """The widths."""
        shown = f"padding={self.padding}" if self.value not in (None, 0.0) else f"{self.padding}"
        return shown if self.value in (None, 0.0) else f"{shown}, value={self.value}"


class _ZeroPad(_Pad):
    def __init__(self, padding: Any) -> None:
        super().__init__(padding, 0.0)


_modes = {"Constant": "constant", "Zero": "constant", "Reflection": "reflect",
          "Replication": "replicate", "Circular": "circular"}  # fmt: skip
for _kind, _mode in _modes.items():
    for _n in (1, 2, 3):
        _base = _ZeroPad if _kind == "Zero" else _Pad
        _enter(type(f"{_kind}Pad{_n}d", (_base,), {
            "_mode": _mode, "_count": _n, "__doc__": f"Elements added around: {_mode}.",
            "__module__": "composit.torch.nn",
        }))  # fmt: skip

_enter(module_of("PixelShuffle", "pixel_shuffle", "upscale_factor"))
_enter(module_of("PixelUnshuffle", "pixel_unshuffle", "downscale_factor"))
_enter(module_of("ChannelShuffle", "channel_shuffle", "groups"))
_enter(module_of(
    "Upsample", "interpolate",
    "size=None, scale_factor=None, mode=nearest, align_corners=None, recompute_scale_factor=None",
))  # fmt: skip
_enter(module_of("Unfold", "unfold", "kernel_size, dilation=1, padding=0, stride=1"))
_enter(module_of("Fold", "fold", "output_size, kernel_size, dilation=1, padding=0, stride=1"))
_enter(module_of("CosineSimilarity", "cosine_similarity", "dim=1, eps=1e-8"))
_enter(module_of("PairwiseDistance", "pairwise_distance", "p=2.0, eps=1e-6, keepdim=False"))


class _DropoutNd(Module):
    """The base of all dropouts."""


_enter(module_of("Dropout", "dropout", "p=0.5, inplace=False", in_training=True, base=_DropoutNd,
                 extra="p,inplace"))  # fmt: skip
for _n in (1, 2, 3):
    _enter(module_of(f"Dropout{_n}d", f"dropout{_n}d", "p=0.5, inplace=False", in_training=True,
                     base=_DropoutNd))  # fmt: skip
for _name, _function in (("AlphaDropout", "alpha_dropout"),
                         ("FeatureAlphaDropout", "feature_alpha_dropout")):  # fmt: skip
    _enter(module_of(_name, _function, "p=0.5, inplace=False", in_training=True,
                     doc="Dropout that keeps mean and variance of what SELU gives."))  # fmt: skip


class _MaxUnpool(Module):
    """Elements back where max_pool's indices say, zeros elsewhere."""

    _function = ""

    def __init__(self, kernel_size: Any, stride: Any = None, padding: Any = 0) -> None:
        super().__init__()
        self.kernel_size, self.padding = kernel_size, padding
        self.stride = kernel_size if stride is None else stride

    def forward(self, input: Any, indices: Any, output_size: Any = None) -> Any:
        """input unpooled; output_size where several would fit."""
        return calling.neural[self._function](
            input, indices, self.kernel_size, self.stride, self.padding, output_size
        )

    def extra_repr(self) -> str:
        """Its options."""
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


class MaxUnpool1d(_MaxUnpool):
    """The inverse of MaxPool1d."""

    _function = "max_unpool1d"


class MaxUnpool2d(_MaxUnpool):
    """The inverse of MaxPool2d."""

    _function = "max_unpool2d"


class MaxUnpool3d(_MaxUnpool):
    """The inverse of MaxPool3d."""

    _function = "max_unpool3d"


class _Upsampling(Module):
    _mode = "nearest"
    _align: bool | None = None

    def __init__(self, size: Any = None, scale_factor: Any = None) -> None:
        super().__init__()
        self.size, self.scale_factor = size, scale_factor

    def forward(self, input: Any) -> Any:
        """Images of another size."""
        return calling.neural["interpolate"](input, self.size, self.scale_factor, self._mode,
                                             self._align)  # fmt: skip


class UpsamplingNearest2d(_Upsampling):
    """Images of another size, by the nearest pixel."""


class UpsamplingBilinear2d(_Upsampling):
    """Images of another size, bilinearly with corners aligned."""

    _mode, _align = "bilinear", True
