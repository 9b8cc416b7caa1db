"""multi_head_attention_forward: attention by several heads as one function of weights; the choice
of an implementation of attention, of which there is one. flex_attention loads when it is used."""

from __future__ import annotations

import contextlib
import enum
import math
from collections.abc import Iterator
from typing import Any

from composit._core import runtime_error
from composit._floating_point import in_default_state
from composit.torch import calling, parts


class SDPBackend(enum.Enum):
    """PyTorch's implementations of scaled_dot_product_attention. Here they are one."""

    ERROR, MATH, FLASH_ATTENTION, EFFICIENT_ATTENTION, CUDNN_ATTENTION, OVERRIDEABLE = range(-1, 5)


_FLAGS = {"math": "MATH", "flash": "FLASH_ATTENTION", "mem_efficient": "EFFICIENT_ATTENTION",
          "cudnn": "CUDNN_ATTENTION"}  # fmt: skip


@contextlib.contextmanager
def sdpa_kernel(backends: Any, set_priority: bool = False) -> Iterator[None]:
    """Within the block torch.backends.cuda says that these implementations may be used, and no
    others. Values are the same ones. AssertionError unless each is a SDPBackend."""
    chosen = [backends] if isinstance(backends, SDPBackend) else backends
    if not isinstance(chosen, list) or not all(isinstance(each, SDPBackend) for each in chosen):
        raise AssertionError(
            "Backend must be an instance of SDPBackend or a list of SDPBackend instances"
        )
    cuda = parts.load("backends").cuda
    before = {flag: getattr(cuda, f"{flag}_sdp_enabled")() for flag in _FLAGS}
    names = {each.name for each in chosen}
    try:
        for flag, name in _FLAGS.items():
            getattr(cuda, f"enable_{flag}_sdp")(name in names)
        yield
    finally:
        for flag, was in before.items():
            getattr(cuda, f"enable_{flag}_sdp")(was)


def additive(mask: Any, dtype: Any) -> Any:
    """What is added to scores: -inf where a mask of booleans is True."""
    if mask is None or mask.dtype.name != "bool":
        return mask
    zeros = calling.functions["zeros"](*mask.shape, dtype=dtype, device=mask.device)
    return zeros.masked_fill(mask, float("-inf"))


@in_default_state
def multi_head_attention_forward(
    query: Any, key: Any, value: Any, embed_dim_to_check: int, num_heads: int,
    in_proj_weight: Any, in_proj_bias: Any, bias_k: Any, bias_v: Any, add_zero_attn: bool,
    dropout_p: float, out_proj_weight: Any, out_proj_bias: Any, training: bool = True,
    key_padding_mask: Any = None, need_weights: bool = True, attn_mask: Any = None,
    use_separate_proj_weight: bool = False, q_proj_weight: Any = None, k_proj_weight: Any = None,
    v_proj_weight: Any = None, static_k: Any = None, static_v: Any = None,
    average_attn_weights: bool = True, is_causal: bool = False,
) -> tuple[Any, Any]:  # fmt: skip
    """(output, weights or None) of queries (L, N, E) or (L, E), keys and values (S, N, ...).

    Masks: True, or -inf, where nothing is attended to; attn_mask (L, S) or (N * heads, L, S),
    key_padding_mask (N, S). bias_k, bias_v and add_zero_attn add a key each, which no mask hides;
    static_k and static_v (N * heads, S, E / heads) stand for projected ones. RuntimeError for
    is_causal, which is a hint, without attn_mask."""
    cat, linear = calling.functions["cat"], calling.neural["linear"]
    is_batched = query.dim() == 3
    if not is_batched:
        query, key, value = (x.unsqueeze(1) for x in (query, key, value))
        if key_padding_mask is not None:
            key_padding_mask = key_padding_mask.unsqueeze(0)
    length, batch, width = query.shape
    if width != embed_dim_to_check:
        raise AssertionError(
            f"was expecting embedding dimension of {embed_dim_to_check}, but got {width}"
        )
    if width % num_heads:
        raise AssertionError(f"embed_dim {width} not divisible by num_heads {num_heads}")
    if is_causal and attn_mask is None:
        raise runtime_error("Need attn_mask if specifying the is_causal hint.")
    size = width // num_heads
    weights = (q_proj_weight, k_proj_weight, v_proj_weight)
    weights = weights if use_separate_proj_weight else in_proj_weight.chunk(3)
    biases = (None,) * 3 if in_proj_bias is None else in_proj_bias.chunk(3)
    q, k, v = (linear(x, w, b) for x, w, b in zip((query, key, value), weights, biases))
    masks = [additive(mask, query.dtype) for mask in (attn_mask, key_padding_mask)]

    def longer(masks: list[Any]) -> list[Any]:
        pad = calling.neural["pad"]
        return [mask if mask is None else pad(mask, (0, 1)) for mask in masks]

    if bias_k is not None and bias_v is not None:
        if static_k is not None or static_v is not None:
            raise AssertionError("bias cannot be added to static key and value.")
        k = cat([k, bias_k.repeat(1, batch, 1)])
        v = cat([v, bias_v.repeat(1, batch, 1)])
        masks = longer(masks)

    def heads(x: Any) -> Any:
        return x.reshape(x.shape[0], batch * num_heads, size).transpose(0, 1)

    q = heads(q)
    k = heads(k) if static_k is None else static_k
    v = heads(v) if static_v is None else static_v
    if add_zero_attn:
        nothing = k.new_zeros(batch * num_heads, 1, size)
        k, v = cat([k, nothing], 1), cat([v, nothing], 1)
        masks = longer(masks)
    scores = (q * (1 / math.sqrt(size))) @ k.transpose(1, 2)
    over, padding = masks
    if over is not None:
        scores = scores + over
    if padding is not None:
        split = scores.reshape(batch, num_heads, length, -1)
        scores = (split + padding.reshape(batch, 1, 1, -1)).reshape(scores.shape)
    shown = calling.neural["dropout"](scores.softmax(-1), dropout_p, training)
    joined = (shown @ v).transpose(0, 1).reshape(length, batch, width)
    output = linear(joined, out_proj_weight, out_proj_bias)
    if not is_batched:
        output = output.squeeze(1)
    if not need_weights:
        return output, None
    shown = shown.reshape(batch, num_heads, length, -1)
    if average_attn_weights:
        shown = shown.mean(dim=1)
    return output, shown if is_batched else shown.squeeze(0)


calling.neural.update(multi_head_attention_forward=multi_head_attention_forward)


# PyTorch warns why it takes no kernel of its own where this is set; here none is chosen.
WARN_FOR_UNFUSED_KERNELS = False
_implementations = (
    "activate_flash_attention_impl", "current_flash_attention_impl", "list_flash_attention_impls",
    "register_flash_attention_impl", "restore_flash_attention_impl",
)  # fmt: skip
__all__ = ["SDPBackend", "WARN_FOR_UNFUSED_KERNELS", "sdpa_kernel", *_implementations]
_part = parts.getter(__name__, ("flex_attention",))


def __getattr__(name: str) -> Any:
    """What loads when it is first used."""
    if name in _implementations:
        return getattr(parts.load("nn.attention.implementations"), name)
    return _part(name)
