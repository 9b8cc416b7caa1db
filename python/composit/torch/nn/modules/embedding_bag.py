"""EmbeddingBag: rows of a matrix, summed by bags, as a module."""

from __future__ import annotations

from typing import Any

from composit.torch import calling
from composit.torch.nn import embedding_bag, init
from composit.torch.nn.module import Module
from composit.torch.nn.modules.plain import parameter

assert embedding_bag  # it fills the table that is read here
__all__ = ["EmbeddingBag"]


class EmbeddingBag(Module):
    """Sums, means or largest of rows of weight, by bags."""

    def __init__(
        self, num_embeddings: int, embedding_dim: int, max_norm: float | None = None,
        norm_type: float = 2.0, scale_grad_by_freq: bool = False, mode: str = "mean",
        sparse: bool = False, _weight: Any = None, include_last_offset: bool = False,
        padding_idx: int | None = None, device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        self.num_embeddings, self.embedding_dim = num_embeddings, embedding_dim
        self.options = {"max_norm": max_norm, "norm_type": norm_type, "sparse": sparse,
                        "scale_grad_by_freq": scale_grad_by_freq, "mode": mode,
                        "include_last_offset": include_last_offset,
                        "padding_idx": padding_idx}  # fmt: skip
        self.mode, self.padding_idx = mode, padding_idx
        self.weight = parameter(num_embeddings, embedding_dim, dtype=dtype, device=device)
        if _weight is None:
            init.normal_(self.weight)
        else:
            self.weight.data = _weight

    def forward(self, input: Any, offsets: Any = None, per_sample_weights: Any = None) -> Any:
        """Bags of rows: (bags, embedding_dim)."""
        return calling.neural["embedding_bag"](
            input, self.weight, offsets, per_sample_weights=per_sample_weights, **self.options
        )

    def extra_repr(self) -> str:
        """Its sizes and mode."""
        return f"{self.num_embeddings}, {self.embedding_dim}, mode={self.mode!r}"
