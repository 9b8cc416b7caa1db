"""Pools of images."""

from __future__ import annotations

from typing import Any

from composit.tensorgrad.nn.module import Module, check
from composit.tensorgrad.tensor import Tensor


class _Pool(Module):
    def __init__(self, kernel_size: Any, stride: Any = None, padding: Any = 0) -> None:
        self.kernel_size, self.stride, self.padding = kernel_size, stride, padding

    def _check_input(self, x: Tensor) -> None:
        check(x.ndim == 4, self, x, "(N, channels, height, width)")


class MaxPool2d(_Pool):
    """The largest number of each window."""

    def forward(self, x: Tensor) -> Tensor:
        """x.max_pool2d(…)"""
        return x.max_pool2d(self.kernel_size, self.stride, self.padding)


class AvgPool2d(_Pool):
    """The mean of each window."""

    def forward(self, x: Tensor) -> Tensor:
        """x.avg_pool2d(…)"""
        return x.avg_pool2d(self.kernel_size, self.stride, self.padding)
