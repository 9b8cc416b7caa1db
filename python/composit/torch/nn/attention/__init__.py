"""multi_head_attention_forward: attention by several heads as one function of weights; the choice
of an implementation of attention, of which there is one. flex_attention loads when it is used."""

from __future__ import annotations

import contextlib
import enum
from collections.abc import Iterator
from typing import Any

import composit._core as _core
from composit._floating_point import in_default_state
from composit.torch import calling, operations, parts

assert operations  # what the formulas are made of


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
    return _core.aten.multi_head_attention(
        query, key, value, embed_dim_to_check, num_heads, in_proj_weight, in_proj_bias, bias_k,
        bias_v, add_zero_attn, dropout_p, out_proj_weight, out_proj_bias, training,
        key_padding_mask, need_weights, attn_mask, use_separate_proj_weight, q_proj_weight,
        k_proj_weight, v_proj_weight, static_k, static_v, average_attn_weights, is_causal,
    )  # fmt: skip


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
