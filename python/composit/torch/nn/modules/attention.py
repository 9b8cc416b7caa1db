"""MultiheadAttention."""

from __future__ import annotations

from typing import Any

import composit._core as _core
from composit._floating_point import in_default_state
from composit.torch.nn import attention, init
from composit.torch.nn.module import Module
from composit.torch.nn.modules.plain import Linear, hold

assert attention  # the function of the same, and what the formulas are made of
__all__ = ["MultiheadAttention"]


class NonDynamicallyQuantizableLinear(Linear):
    """Linear, under torch's name of this one."""


# How parameters are drawn, one after the other.
_draws: dict[str, Any] = {
    "bias_k": init.xavier_normal_, "bias_v": init.xavier_normal_,
    **dict.fromkeys(("in_proj_weight", "q_proj_weight", "k_proj_weight", "v_proj_weight"),
                    init.xavier_uniform_), "in_proj_bias": init.zeros_,
}  # fmt: skip


class MultiheadAttention(Module):
    """Attention by several heads, projected: (output, weights)."""

    def __init__(
        self, embed_dim: int, num_heads: int, dropout: float = 0.0, bias: bool = True,
        add_bias_kv: bool = False, add_zero_attn: bool = False, kdim: int | None = None,
        vdim: int | None = None, batch_first: bool = False, device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        self.embed_dim, self.num_heads, self.dropout = embed_dim, num_heads, dropout
        self.kdim, self.vdim = kdim or embed_dim, vdim or embed_dim
        self.batch_first, self.head_dim = batch_first, embed_dim // num_heads
        self._qkv_same_embed_dim = self.kdim == embed_dim and self.vdim == embed_dim
        shapes = _core.aten.attention_parameters(
            embed_dim, num_heads, self.kdim, self.vdim, bias, add_bias_kv
        )
        hold(self, shapes, dtype=dtype)
        self.out_proj = NonDynamicallyQuantizableLinear(embed_dim, embed_dim, bias, device, dtype)
        self.add_zero_attn = add_zero_attn
        self._reset_parameters()

    def _reset_parameters(self) -> None:
        for name, draw in _draws.items():
            if self._parameters[name] is not None:
                draw(self._parameters[name])
        if self.in_proj_bias is not None:
            init.zeros_(self.out_proj.bias)

    @in_default_state
    def forward(
        self, query: Any, key: Any, value: Any, key_padding_mask: Any = None,
        need_weights: bool = True, attn_mask: Any = None, average_attn_weights: bool = True,
        is_causal: bool = False,
    ) -> tuple[Any, Any]:  # fmt: skip
        """Masks: True, or -inf, where nothing is attended to."""
        return _core.aten.attention_of_heads(
            self, query, key, value, key_padding_mask, need_weights, attn_mask,
            average_attn_weights, is_causal,
        )  # fmt: skip
