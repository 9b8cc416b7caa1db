"""Normalisations."""

from __future__ import annotations

import math
from typing import Any

from composit.tensorgrad.ctx import no_grad
from composit.tensorgrad.nn import init
from composit.tensorgrad.nn.module import Buffer, Module, Parameter, check, write
from composit.tensorgrad.tensor import Tensor


class _BatchNorm(Module):
    weight: Parameter
    bias: Parameter
    running_mean: Buffer | None
    running_var: Buffer | None
    _rank = 0
    _wanted = ""

    def __init__(
        self, num_features: int, eps: float = 1e-5, momentum: float = 0.1,
        track_running_stats: bool = True, dtype: Any = None, device: Any = None,
    ) -> None:  # fmt: skip
        self.num_features, self.eps, self.momentum = num_features, eps, momentum
        self.track_running_stats = track_running_stats
        shape = (num_features,)
        self.weight = init.ones(shape, dtype, device)
        self.bias = init.zeros(shape, dtype, device)
        self.running_mean = (
            Buffer(init.zeros(shape, dtype, device)) if track_running_stats else None
        )
        self.running_var = Buffer(init.ones(shape, dtype, device)) if track_running_stats else None

    def init_from_torch(self, torch_module: Any) -> Any:
        """Takes the weights and statistics of PyTorch's."""
        write(self.weight, torch_module.weight)
        write(self.bias, torch_module.bias)
        if self.running_mean is not None and self.running_var is not None:
            write(self.running_mean, torch_module.running_mean)
            write(self.running_var, torch_module.running_var)
        return self

    def _check_input(self, x: Tensor) -> None:
        check(x.ndim == self._rank and x.shape[1] == self.num_features, self, x,
              self._wanted.format(self.num_features))  # fmt: skip

    def forward(self, x: Tensor) -> Tensor:
        """x with mean 0 and variance 1 for each feature, then weight and bias."""
        dims = (0, *range(2, self._rank))
        shape = (1, self.num_features, *(1,) * (self._rank - 2))
        if self.training or self.running_mean is None or self.running_var is None:
            mean = x.mean(dims, keepdim=True)
            centered = x - mean
            variance = (centered * centered).mean(dims, keepdim=True)
            if self.training and self.running_mean is not None:
                self._keep(mean, variance, x.numel() // self.num_features)
        else:
            centered = x - self.running_mean.reshape(shape)
            variance = self.running_var.reshape(shape)
        y = centered / (variance + self.eps).sqrt()
        return y * self.weight.reshape(shape) + self.bias.reshape(shape)

    def _keep(self, mean: Tensor, variance: Tensor, count: int) -> None:
        with no_grad():
            unbiased = variance * (count / max(count - 1, 1))
            for buffer, new in ((self.running_mean, mean), (self.running_var, unbiased)):
                assert buffer is not None
                old = buffer * (1 - self.momentum)
                buffer.data = (old + new.reshape(self.num_features) * self.momentum).data


class BatchNorm1d(_BatchNorm):
    """Of (N, features)."""

    _rank = 2
    _wanted = "(N, {})"


class BatchNorm2d(_BatchNorm):
    """Of (N, features, height, width)."""

    _rank = 4
    _wanted = "(N, {}, height, width)"


class LayerNorm(Module):
    """Over the last dimensions, which have normalized_shape."""

    def __init__(
        self, normalized_shape: Any, eps: float = 1e-5, dtype: Any = None, device: Any = None
    ) -> None:
        is_one = isinstance(normalized_shape, int)
        self.normalized_shape = (normalized_shape,) if is_one else tuple(normalized_shape)
        self.eps = eps
        self.weight = init.ones(self.normalized_shape, dtype, device)
        self.bias = init.zeros(self.normalized_shape, dtype, device)

    def init_from_torch(self, torch_module: Any) -> LayerNorm:
        """Takes the weights of PyTorch's."""
        write(self.weight, torch_module.weight)
        write(self.bias, torch_module.bias)
        return self

    def _check_input(self, x: Tensor) -> None:
        count = len(self.normalized_shape)
        check(x.shape[x.ndim - count :] == self.normalized_shape, self, x,
              f"Last dimensions of {self.normalized_shape}")  # fmt: skip

    def forward(self, x: Tensor) -> Tensor:
        """x with mean 0 and variance 1 over the last dimensions, then weight and bias."""
        dims = tuple(range(-len(self.normalized_shape), 0))
        scale = 1 / math.prod(self.normalized_shape)
        centered = x - x.sum(dims, keepdim=True) * scale
        variance = (centered * centered).sum(dims, keepdim=True) * scale
        return centered / (variance + self.eps).sqrt() * self.weight + self.bias
