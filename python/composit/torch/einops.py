"""einops over composit.torch's tensors: `rearrange`, `reduce`, `repeat`, `einsum`, `pack`, `unpack`
and `parse_shape` of the package einops take them as they are. The layers here stand for those of
`einops.layers.torch`, which are PyTorch's modules:

    from einops import rearrange
    from composit.torch.einops import Rearrange
"""

from __future__ import annotations

from typing import Any

from einops.layers import RearrangeMixin, ReduceMixin
from einops.layers._einmix import _EinmixMixin

from composit import torch

__all__ = ["EinMix", "Rearrange", "Reduce"]


class Rearrange(RearrangeMixin, torch.nn.Module):  # type: ignore[misc]
    """einops.rearrange by a pattern, as a module."""

    def forward(self, input: Any) -> Any:
        """The elements in the pattern's order."""
        return self._apply_recipe(input)


class Reduce(ReduceMixin, torch.nn.Module):  # type: ignore[misc]
    """einops.reduce by a pattern and an operation, as a module."""

    def forward(self, input: Any) -> Any:
        """What the operation makes of the axes that the pattern leaves out."""
        return self._apply_recipe(input)


class EinMix(_EinmixMixin, torch.nn.Module):  # type: ignore[misc]
    """A product with weights, by a pattern of axes, and a bias."""

    def _create_parameters(
        self, weight_shape: Any, weight_bound: float, bias_shape: Any, bias_bound: float
    ) -> None:
        self.weight = _drawn(weight_shape, weight_bound)
        self.bias = None if bias_shape is None else _drawn(bias_shape, bias_bound)

    def _create_rearrange_layers(
        self, pre_reshape_pattern: Any, pre_reshape_lengths: Any, post_reshape_pattern: Any,
        post_reshape_lengths: Any,
    ) -> None:  # fmt: skip
        self.pre_rearrange = _rearranging(pre_reshape_pattern, pre_reshape_lengths)
        self.post_rearrange = _rearranging(post_reshape_pattern, post_reshape_lengths)

    def forward(self, input: Any) -> Any:
        """The product, with axes split before and joined behind it as the pattern says."""
        if self.pre_rearrange is not None:
            input = self.pre_rearrange(input)
        result = torch.einsum(self.einsum_pattern, input, self.weight)
        if self.bias is not None:
            result = result + self.bias
        return result if self.post_rearrange is None else self.post_rearrange(result)


def _drawn(shape: Any, bound: float) -> Any:
    return torch.nn.Parameter(torch.zeros(*shape).uniform_(-bound, bound))


def _rearranging(pattern: Any, lengths: Any) -> Any:
    return None if pattern is None else Rearrange(pattern, **lengths)
