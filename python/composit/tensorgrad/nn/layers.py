"""Layers: activations, products, convolutions, attention, embeddings, dropout."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from composit._core import value_error
from composit.tensorgrad.nn import init
from composit.tensorgrad.nn.module import Module, Parameter, check, write
from composit.tensorgrad.tensor import Tensor


class Identity(Module):
    """What is given."""

    def forward(self, x: Tensor) -> Tensor:
        """x"""
        return x


class ReLU(Module):
    """max(x, 0)"""

    def forward(self, x: Tensor) -> Tensor:
        """x.relu()"""
        return x.relu()


class Sigmoid(Module):
    """1 / (1 + exp(-x))"""

    def forward(self, x: Tensor) -> Tensor:
        """x.sigmoid()"""
        return x.sigmoid()


class Softmax(Module):
    """Softmax along a dimension."""

    def __init__(self, dim: int) -> None:
        self.dim = dim

    def forward(self, x: Tensor) -> Tensor:
        """x.softmax(dim)"""
        return x.softmax(self.dim)


class Flatten(Module):
    """All dimensions but the first as one."""

    def forward(self, x: Tensor) -> Tensor:
        """(N, …) as (N, -1)"""
        return x.reshape(x.shape[0], -1)


class Linear(Module):
    """x W^T + b, of weights (out_features, in_features)."""

    bias: Parameter | None

    def __init__(
        self, in_features: int, out_features: int, bias: bool = True, dtype: Any = None,
        device: Any = None,
    ) -> None:  # fmt: skip
        self.in_features, self.out_features = in_features, out_features
        self.weight = init.uniform_fan_in((out_features, in_features), in_features, dtype, device)
        self.bias = (
            init.uniform_fan_in((out_features,), in_features, dtype, device) if bias else None
        )

    def init_from_torch(self, torch_module: Any) -> Linear:
        """Takes the weights of PyTorch's."""
        return _from_torch(self, torch_module)

    def _check_input(self, x: Tensor) -> None:
        check(x.ndim > 0 and x.shape[-1] == self.in_features, self, x,
              f"A last dimension of {self.in_features}")  # fmt: skip

    def forward(self, x: Tensor) -> Tensor:
        """(…, in_features) to (…, out_features)"""
        y = x.matmul(self.weight.transpose(1, 0))
        return y if self.bias is None else y + self.bias


def _from_torch(module: Any, torch_module: Any) -> Any:
    write(module.weight, torch_module.weight)
    if getattr(module, "bias", None) is not None:
        write(module.bias, torch_module.bias)
    return module


class Conv2d(Module):
    """Cross-correlation of images; padding is a number, a pair, "same" or "valid"."""

    bias: Parameter | None

    def __init__(
        self, in_channels: int, out_channels: int, kernel_size: Any, stride: Any = 1,
        padding: Any = 0, bias: bool = True, dtype: Any = None, device: Any = None,
    ) -> None:  # fmt: skip
        self.in_channels, self.out_channels = in_channels, out_channels
        self.kernel_size, self.stride = _pair(kernel_size), _pair(stride)
        self.padding = self._padding(padding)
        height, width = self.kernel_size
        fan_in = in_channels * height * width
        self.weight = init.uniform_fan_in((out_channels, in_channels, height, width), fan_in,
                                          dtype, device)  # fmt: skip
        self.bias = init.uniform_fan_in((out_channels,), fan_in, dtype, device) if bias else None

    def _padding(self, padding: Any) -> tuple[int, int]:
        if padding == "valid":
            return 0, 0
        if padding != "same":
            return _pair(padding)
        if self.stride != (1, 1) or any(size % 2 == 0 for size in self.kernel_size):
            raise value_error(
                f"Conv2d: padding is 'same' with strides {self.stride} and a kernel of "
                f"{self.kernel_size}. Strides of 1 and odd kernels are required."
            )
        return self.kernel_size[0] // 2, self.kernel_size[1] // 2

    def init_from_torch(self, torch_module: Any) -> Conv2d:
        """Takes the weights of PyTorch's."""
        return _from_torch(self, torch_module)

    def _check_input(self, x: Tensor) -> None:
        check(x.ndim == 4 and x.shape[1] == self.in_channels, self, x,
              f"(N, {self.in_channels}, height, width)")  # fmt: skip

    def forward(self, x: Tensor) -> Tensor:
        """(N, in_channels, H, W) to (N, out_channels, H', W')"""
        return x.conv2d(self.weight, self.bias, self.stride, self.padding)


def _pair(value: Any) -> tuple[int, int]:
    return (value, value) if isinstance(value, int) else tuple(value)


class MultiheadAttention(Module):
    """Attention of (batch, tokens, embed_dim), heads beside each other, without biases."""

    def __init__(self, embed_dim: int, num_heads: int, dtype: Any = None, device: Any = None):
        if embed_dim % num_heads:
            raise value_error(
                f"MultiheadAttention: embed_dim is {embed_dim} for {num_heads} heads. A "
                "multiple is required."
            )
        self.embed_dim, self.num_heads = embed_dim, num_heads
        shape = (embed_dim, embed_dim)
        for name in "qkvo":
            setattr(self, f"{name}_weight", init.uniform_fan_in(shape, embed_dim, dtype, device))

    q_weight: Parameter
    k_weight: Parameter
    v_weight: Parameter
    o_weight: Parameter

    def init_from_torch(self, torch_module: Any) -> MultiheadAttention:
        """Takes the weights of PyTorch's, which must have no biases that are not 0."""
        rows = torch_module.in_proj_weight
        n = self.embed_dim
        for i, weight in enumerate((self.q_weight, self.k_weight, self.v_weight)):
            write(weight, rows[i * n : (i + 1) * n])
        write(self.o_weight, torch_module.out_proj.weight)
        return self

    def _check_input(
        self, query: Tensor, key: Tensor, value: Tensor, attn_mask: Any = None
    ) -> None:
        for each in (query, key, value):
            check(each.ndim == 3 and each.shape[2] == self.embed_dim, self, each,
                  f"(batch, tokens, {self.embed_dim})")  # fmt: skip

    def _heads(self, x: Tensor, weight: Tensor) -> Tensor:
        batch, tokens, width = x.shape
        x = x.matmul(weight.transpose(1, 0))
        x = x.reshape(batch, tokens, self.num_heads, width // self.num_heads)
        return x.permute(0, 2, 1, 3)

    def forward(self, query: Tensor, key: Tensor, value: Tensor, attn_mask: Any = None) -> Tensor:
        """What queries find. The mask, bool of (queries, keys) or (batch, queries, keys), is True
        where nothing is attended to."""
        q = self._heads(query, self.q_weight)
        k = self._heads(key, self.k_weight)
        v = self._heads(value, self.v_weight)
        scores = q.matmul(k.permute(0, 1, 3, 2)) * (1 / math.sqrt(q.shape[-1]))
        if attn_mask is not None:
            scores = scores + self._bias(attn_mask, scores)
        found = scores.softmax(-1).matmul(v).permute(0, 2, 1, 3)
        return found.reshape(query.shape).matmul(self.o_weight.transpose(1, 0))

    def _bias(self, mask: Tensor, scores: Tensor) -> Tensor:
        array = mask.numpy()
        array = array[:, None] if array.ndim == 3 else array
        import numpy as np

        bias = np.where(array, -np.inf, 0.0)
        return Tensor(bias, scores.dtype, scores.device, requires_grad=False)


class Embedding(Module):
    """Rows of a table by their numbers."""

    def __init__(
        self, num_embeddings: int, embedding_dim: int, dtype: Any = None, device: Any = None
    ) -> None:
        self.num_embeddings, self.embedding_dim = num_embeddings, embedding_dim
        shape = (num_embeddings, embedding_dim)
        self.weight = Parameter(Tensor.randn(shape, dtype=dtype or "float32", device=device))

    def init_from_torch(self, torch_module: Any) -> Embedding:
        """Takes the weights of PyTorch's."""
        return _from_torch(self, torch_module)

    def forward(self, x: Tensor) -> Tensor:
        """(…) of integers to (…, embedding_dim)"""
        return self.weight.lookup(x)


class Dropout(Module):
    """In training, numbers become 0 with probability p, others grow by 1 / (1 - p)."""

    def __init__(self, p: float = 0.5) -> None:
        if not 0 <= p < 1:
            raise value_error(f"Dropout: p is {p}. 0 <= p < 1 is required.")
        self.p = p

    def _generate_mask(self, x: Tensor) -> Tensor:
        """Ones where numbers stay."""
        return Tensor.bernoulli(1 - self.p, x.shape, x.dtype, x.device, requires_grad=False)

    def forward(self, x: Tensor) -> Tensor:
        """x, some of it dropped."""
        return x * self._generate_mask(x) * (1 / (1 - self.p)) if self.training else x


class Sequential(Module):
    """Modules one after the other; keyword arguments go to the first."""

    def __init__(self, *modules: Module) -> None:
        for i, module in enumerate(modules):
            vars(self)[str(i)] = module

    def _row(self) -> list[Module]:
        return [value for name, value in self._held() if name.isdecimal()]

    def __len__(self) -> int:
        return len(self._row())

    def __iter__(self) -> Iterator[Module]:
        return iter(self._row())

    def __getitem__(self, index: int) -> Module:
        return self._row()[index]

    def forward(self, x: Any, **kwargs: Any) -> Any:
        """What the last makes of what the others made."""
        for module in self._row():
            x, kwargs = module(x, **kwargs), {}
        return x
