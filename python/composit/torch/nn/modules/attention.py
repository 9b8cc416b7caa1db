"""MultiheadAttention."""

from __future__ import annotations

import math
from typing import Any

import composit._core as _core
from composit._floating_point import in_default_state
from composit.torch import calling
from composit.torch.nn import init
from composit.torch.nn.attention import additive, multi_head_attention_forward
from composit.torch.nn.module import Module
from composit.torch.nn.modules.plain import Linear, hold

__all__ = ["MultiheadAttention"]


class NonDynamicallyQuantizableLinear(Linear):
    """Linear, under torch's name of this one."""


# Parameters as they are drawn, one after the other.
_drawing_order = ["bias_k", "bias_v", "in_proj_weight", "q_proj_weight", "k_proj_weight",
                  "v_proj_weight"]  # fmt: skip


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
        drawn = {name: getattr(self, name) for name, shape in shapes if shape is not None}
        self.add_zero_attn = add_zero_attn
        for name in sorted(drawn.keys() - {"in_proj_bias"}, key=_drawing_order.index):
            draw = init.xavier_normal_ if name.startswith("bias") else init.xavier_uniform_
            draw(drawn[name])
        if bias:
            init.zeros_(self.in_proj_bias)
            init.zeros_(self.out_proj.bias)

    def _projections(self, query: Any, key: Any, value: Any) -> list[Any]:
        if self._qkv_same_embed_dim:
            weights = self.in_proj_weight.chunk(3)
        else:
            weights = (self.q_proj_weight, self.k_proj_weight, self.v_proj_weight)
        has_bias = self.in_proj_bias is not None
        biases = self.in_proj_bias.chunk(3) if has_bias else (None,) * 3
        linear = calling.neural["linear"]
        return [linear(x, w, b) for x, w, b in zip((query, key, value), weights, biases)]

    @in_default_state
    def forward(
        self, query: Any, key: Any, value: Any, key_padding_mask: Any = None,
        need_weights: bool = True, attn_mask: Any = None, average_attn_weights: bool = True,
        is_causal: bool = False,
    ) -> tuple[Any, Any]:  # fmt: skip
        """Masks: True, or -inf, where nothing is attended to."""
        is_batched = query.dim() == 3
        if self.bias_k is not None or self.add_zero_attn:
            swaps = self.batch_first and is_batched
            q, k, v = (x.transpose(0, 1) if swaps else x for x in (query, key, value))
            output, weights = multi_head_attention_forward(
                q, k, v, self.embed_dim, self.num_heads, self.in_proj_weight, self.in_proj_bias,
                self.bias_k, self.bias_v, self.add_zero_attn, self.dropout, self.out_proj.weight,
                self.out_proj.bias, self.training, key_padding_mask, need_weights, attn_mask,
                not self._qkv_same_embed_dim, self.q_proj_weight, self.k_proj_weight,
                self.v_proj_weight, None, None, average_attn_weights, is_causal,
            )  # fmt: skip
            return output.transpose(0, 1) if swaps else output, weights
        tensors = [x if is_batched else x.unsqueeze(0) for x in (query, key, value)]
        # The batch stays the axis it is: rows of one sequence are read one after the other.
        batch_axis = 0 if self.batch_first or not is_batched else 1
        q, k, v = (self._heads(x, batch_axis) for x in self._projections(*tensors))
        mask = self._mask(q, k, key_padding_mask, attn_mask)
        if need_weights:
            scores = (q @ k.transpose(-2, -1)) * (1 / math.sqrt(self.head_dim))
            weights = (scores if mask is None else scores + mask).softmax(-1)
            kept = calling.neural["dropout"](weights, self.dropout, self.training)
            mixed = kept @ v
        else:
            share = self.dropout if self.training else 0.0
            mixed = calling.neural["scaled_dot_product_attention"](q, k, v, mask, share)
        joined = mixed.permute((0, 2, 1, 3) if batch_axis == 0 else (2, 0, 1, 3)).flatten(2)
        output = self.out_proj(joined)
        if not is_batched:
            output = output.squeeze(0)
        if not need_weights:
            return output, None
        shown = weights.mean(dim=1) if average_attn_weights else weights
        return output, shown if is_batched else shown.squeeze(0)

    def _heads(self, x: Any, batch_axis: int) -> Any:
        split = x.reshape(*x.shape[:2], self.num_heads, self.head_dim)
        return split.permute((0, 2, 1, 3) if batch_axis == 0 else (1, 2, 0, 3))

    def _mask(self, q: Any, k: Any, key_padding_mask: Any, attn_mask: Any) -> Any:
        """What is added to the scores of all heads."""
        batch, heads, length, _ = q.shape
        other = k.shape[2]
        mask = None
        if attn_mask is not None:
            mask = additive(attn_mask, q.dtype)
            if mask.dim() == 3:
                mask = mask.reshape(batch, heads, length, other)
        if key_padding_mask is not None:
            padding = additive(key_padding_mask, q.dtype).reshape(batch, 1, 1, other)
            mask = padding if mask is None else mask + padding
        return mask
