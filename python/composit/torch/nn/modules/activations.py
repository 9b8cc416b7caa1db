"""Activations as modules."""

from __future__ import annotations

import warnings
from typing import Any

from composit._core import with_location
from composit.torch import calling
from composit.torch.nn.module import Module
from composit.torch.nn.modules.of_function import module_of
from composit.torch.nn.parameter import Parameter

ReLU = module_of("ReLU", "relu", "inplace=False")
ReLU6 = module_of("ReLU6", "relu6", "inplace=False")
SiLU = module_of("SiLU", "silu", "inplace=False")
Mish = module_of("Mish", "mish", "inplace=False")
SELU = module_of("SELU", "selu", "inplace=False")
Hardswish = module_of("Hardswish", "hardswish", "inplace=False")
Hardsigmoid = module_of("Hardsigmoid", "hardsigmoid", "inplace=False")
ELU = module_of("ELU", "elu", "alpha=1.0, inplace=False")
CELU = module_of("CELU", "celu", "alpha=1.0, inplace=False")
LeakyReLU = module_of("LeakyReLU", "leaky_relu", "negative_slope=0.01, inplace=False")
Threshold = module_of("Threshold", "threshold", "threshold, value, inplace=False")
RReLU = module_of("RReLU", "rrelu", "lower=0.125, upper=1/3, inplace=False", in_training=True)
Sigmoid = module_of("Sigmoid", "sigmoid")
Tanh = module_of("Tanh", "tanh")
LogSigmoid = module_of("LogSigmoid", "logsigmoid")
Softsign = module_of("Softsign", "softsign")
Tanhshrink = module_of("Tanhshrink", "tanhshrink")
GELU = module_of("GELU", "gelu", "approximate=none")
GLU = module_of("GLU", "glu", "dim=-1")
Hardshrink = module_of("Hardshrink", "hardshrink", "lambd=0.5", is_named=False)
Softshrink = module_of("Softshrink", "softshrink", "lambd=0.5", is_named=False)
Softplus = module_of("Softplus", "softplus", "beta=1.0, threshold=20.0")
Softmax = module_of("Softmax", "softmax", "dim=None")
Softmin = module_of("Softmin", "softmin", "dim=None")
LogSoftmax = module_of("LogSoftmax", "log_softmax", "dim=None")


def _renamed(name: str, old: float | None, new: float) -> float:
    """The value under an option's older name, with a warning, or else under its new one."""
    if old is None:
        return new
    warnings.warn(
        f"keyword argument `{name}_value` is deprecated and renamed to `{name}_val`",
        FutureWarning, stacklevel=3,
    )  # fmt: skip
    return old


class Hardtanh(Module):
    """The input, but no less than min_val and no more than max_val. min_value and max_value are
    older names. AssertionError where max_val is not above min_val."""

    def __init__(
        self, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False,
        min_value: float | None = None, max_value: float | None = None,
    ) -> None:  # fmt: skip
        super().__init__()
        self.min_val = _renamed("min", min_value, min_val)
        self.max_val = _renamed("max", max_value, max_val)
        self.inplace = inplace
        if self.max_val <= self.min_val:
            raise AssertionError(
                with_location(
                    f"Hardtanh: max_val ({self.max_val}) must be greater than min_val "
                    f"({self.min_val})."
                )
            )

    def forward(self, input: Any) -> Any:
        """hardtanh(input)"""
        return calling.neural["hardtanh"](input, self.min_val, self.max_val, self.inplace)

    def extra_repr(self) -> str:
        """Its options."""
        inplace = ", inplace=True" if self.inplace else ""
        return f"min_val={self.min_val}, max_val={self.max_val}{inplace}"


class Softmax2d(Module):
    """softmax over the channels of images."""

    def forward(self, input: Any) -> Any:
        """softmax(input)"""
        return input.softmax(-3)


class PReLU(Module):
    """leaky_relu with a slope that is learnt, or one for each channel."""

    def __init__(
        self, num_parameters: int = 1, init: float = 0.25, device: Any = None, dtype: Any = None
    ) -> None:
        super().__init__()
        self.num_parameters = num_parameters
        self.weight = Parameter(
            calling.functions["full"]((num_parameters,), float(init), dtype=dtype)
        )

    def forward(self, input: Any) -> Any:
        """prelu(input)"""
        return calling.neural["prelu"](input, self.weight)

    def extra_repr(self) -> str:
        """The number of slopes."""
        return f"num_parameters={self.num_parameters}"


__all__ = [
    "CELU",
    "ELU",
    "GELU",
    "GLU",
    "SELU",
    "Hardshrink",
    "Hardsigmoid",
    "Hardswish",
    "Hardtanh",
    "LeakyReLU",
    "LogSigmoid",
    "LogSoftmax",
    "Mish",
    "PReLU",
    "RReLU",
    "ReLU",
    "ReLU6",
    "SiLU",
    "Sigmoid",
    "Softmax",
    "Softmax2d",
    "Softmin",
    "Softplus",
    "Softshrink",
    "Softsign",
    "Tanh",
    "Tanhshrink",
    "Threshold",
]  # fmt: skip
