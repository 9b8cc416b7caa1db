"""Linear, Bilinear, Embedding, Flatten and Unflatten."""

from __future__ import annotations

import math
from typing import Any

from composit._floating_point import in_default_state
from composit.torch import calling
from composit.torch.nn import init
from composit.torch.nn.module import Module
from composit.torch.nn.parameter import Parameter

__all__ = ["Bilinear", "Embedding", "Flatten", "Linear", "Unflatten"]


def parameter(*shape: int, dtype: Any = None, device: Any = None) -> Parameter:
    """A parameter whose values are to be drawn."""
    return Parameter(calling.functions["zeros"](*shape, dtype=dtype, device=device))


def hold(module: Any, shapes: Any, **kinds: Any) -> None:
    """Registers parameters of these names and shapes, None where there is no shape."""
    for name, shape in shapes:
        module.register_parameter(name, None if shape is None else parameter(*shape, **kinds))


_linear = calling.neural["linear"]


class Linear(Module):
    """input @ weight.T + bias"""

    def __init__(
        self, in_features: int, out_features: int, bias: bool = True, device: Any = None,
        dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        self.in_features, self.out_features = in_features, out_features
        self.weight = parameter(out_features, in_features, dtype=dtype, device=device)
        self.register_parameter("bias", parameter(out_features, dtype=dtype) if bias else None)
        self.reset_parameters()

    @in_default_state
    def reset_parameters(self) -> None:
        """Draws weights as torch does: uniform within 1 / sqrt(in)."""
        init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        if self.bias is not None:
            bound = 1 / math.sqrt(self.in_features) if self.in_features else 0
            init.uniform_(self.bias, -bound, bound)

    def forward(self, input: Any) -> Any:
        """input @ weight.T + bias"""
        found = self._parameters  # quicker than attributes
        if "weight" in found and "bias" in found:
            return _linear(input, found["weight"], found["bias"])
        return _linear(input, self.weight, self.bias)

    def extra_repr(self) -> str:
        """Its sizes."""
        return (
            f"in_features={self.in_features}, out_features={self.out_features}, "
            f"bias={self.bias is not None}"
        )


class Bilinear(Module):
    """input1 @ weight @ input2 + bias"""

    @in_default_state
    def __init__(
        self, in1_features: int, in2_features: int, out_features: int, bias: bool = True,
        device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        self.in1_features, self.in2_features = in1_features, in2_features
        self.out_features = out_features
        self.weight = parameter(out_features, in1_features, in2_features, dtype=dtype,
                                device=device)  # fmt: skip
        hold(self, [("bias", (out_features,) if bias else None)], dtype=dtype)
        self.reset_parameters()

    @in_default_state
    def reset_parameters(self) -> None:
        """Draws weights uniformly within 1 / sqrt(in1)."""
        bound = 1 / math.sqrt(self.in1_features)
        for tensor in self.parameters():
            init.uniform_(tensor, -bound, bound)

    def forward(self, input1: Any, input2: Any) -> Any:
        """input1 @ weight @ input2 + bias"""
        return calling.neural["bilinear"](input1, input2, self.weight, self.bias)

    def extra_repr(self) -> str:
        """Its sizes."""
        return (
            f"in1_features={self.in1_features}, in2_features={self.in2_features}, "
            f"out_features={self.out_features}, bias={self.bias is not None}"
        )


class Embedding(Module):
    """Rows of a table."""

    def __init__(
        self, num_embeddings: int, embedding_dim: int, padding_idx: int | None = None,
        max_norm: float | None = None, norm_type: float = 2.0, scale_grad_by_freq: bool = False,
        sparse: bool = False, _weight: Any = None, _freeze: bool = False, device: Any = None,
        dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        self.num_embeddings, self.embedding_dim = num_embeddings, embedding_dim
        self.padding_idx = padding_idx and padding_idx % num_embeddings
        self.max_norm, self.norm_type = max_norm, norm_type
        self.scale_grad_by_freq, self.sparse = scale_grad_by_freq, sparse
        if _weight is None:
            self.weight = parameter(num_embeddings, embedding_dim, dtype=dtype, device=device)
            self.reset_parameters()
        else:
            self.weight = Parameter(_weight)
        self.weight.requires_grad_(not _freeze)

    def reset_parameters(self) -> None:
        """Draws normal rows; the row padding_idx is zero."""
        init.normal_(self.weight)
        if self.padding_idx is not None:
            from composit.torch.tape import no_grad

            with no_grad():
                weight: Any = self.weight
                weight[self.padding_idx] = 0.0

    @classmethod
    def from_pretrained(cls, embeddings: Any, freeze: bool = True, **options: Any) -> Any:
        """One of rows that are given."""
        rows, columns = embeddings.shape
        made = cls(rows, columns, _weight=embeddings, **options)
        made.weight.requires_grad_(not freeze)
        return made

    def forward(self, input: Any) -> Any:
        """The rows that input numbers."""
        return calling.neural["embedding"](
            input, self.weight, self.padding_idx, self.max_norm, self.norm_type,
            self.scale_grad_by_freq, self.sparse,
        )  # fmt: skip

    def extra_repr(self) -> str:
        """Its sizes."""
        padding = "" if self.padding_idx is None else f", padding_idx={self.padding_idx}"
        return f"{self.num_embeddings}, {self.embedding_dim}{padding}"


class Flatten(Module):
    """Dimensions as one."""

    def __init__(self, start_dim: int = 1, end_dim: int = -1) -> None:
        super().__init__()
        self.start_dim, self.end_dim = start_dim, end_dim

    def forward(self, input: Any) -> Any:
        """input.flatten(…)"""
        return input.flatten(self.start_dim, self.end_dim)

    def extra_repr(self) -> str:
        """Its dimensions."""
        return f"start_dim={self.start_dim}, end_dim={self.end_dim}"


class Unflatten(Module):
    """One dimension as several."""

    def __init__(self, dim: int, unflattened_size: Any) -> None:
        super().__init__()
        self.dim, self.unflattened_size = dim, unflattened_size

    def forward(self, input: Any) -> Any:
        """input.unflatten(…)"""
        return input.unflatten(self.dim, self.unflattened_size)

    def extra_repr(self) -> str:
        """Its dimension and lengths."""
        return f"dim={self.dim}, unflattened_size={self.unflattened_size}"
