"""torch.nn.attention.flex_attention: attention whose scores are changed, and masked, by functions
of a score and its place. All scores are computed, and the functions are mapped over them."""

from __future__ import annotations

from typing import Any, NamedTuple, TypedDict
from warnings import warn

import composit._core as _core
from composit._core import value_error
from composit.torch import operations
from composit.torch.calling import define
from composit.torch.nn.attention.block_masks import (
    BlockMask,
    and_masks,
    create_block_mask,
    create_mask,
    create_nested_block_mask,
    everything,
    noop_mask,
    or_masks,
    over_all,
)

__all__ = [
    "AuxOutput", "AuxRequest", "BlockMask", "FlexKernelOptions", "and_masks", "create_block_mask",
    "create_mask", "create_nested_block_mask", "flex_attention", "noop_mask", "or_masks",
]  # fmt: skip


operations.more["safe_softmax"] = define(
    lambda x, dim: _core.aten.safe_softmax(x, dim), "_safe_softmax", is_function=False,
    is_method=False,
)  # fmt: skip
_warned: set[str] = set()


class FlexKernelOptions(TypedDict, total=False):
    """PyTorch's options of its kernels. They change no value; here there are none of them."""

    num_warps: int
    num_stages: int
    BLOCK_M: int
    BLOCK_N: int
    BLOCK_M1: int
    BLOCK_N1: int
    BLOCK_M2: int
    BLOCK_N2: int
    PRESCALE_QK: bool
    ROWS_GUARANTEED_SAFE: bool
    BLOCKS_ARE_CONTIGUOUS: bool
    WRITE_DQ: bool
    FORCE_USE_FLEX_ATTENTION: bool
    USE_TMA: bool
    kpack: int
    matrix_instr_nonkdim: int
    waves_per_eu: int
    BACKEND: str


class AuxRequest(NamedTuple):
    """What flex_attention is to return besides its result."""

    lse: bool = False
    max_scores: bool = False


class AuxOutput(NamedTuple):
    """The logarithms of the sums of the scores' exponentials, and the largest scores (batch, heads,
    queries); None for what was not asked for."""

    lse: Any = None
    max_scores: Any = None


def _check(query: Any, key: Any, value: Any, enable_gqa: bool, mask: BlockMask | None) -> None:
    demands = None if mask is None else (*mask._demands(), mask.kv_num_blocks.device)
    _core.aten.check_flex_attention(query, key, value, bool(enable_gqa), demands)


def _check_returned(return_lse: bool, return_aux: Any) -> None:
    if return_lse and return_aux is not None:
        raise value_error(
            "Cannot specify both return_lse and return_aux. "
            "return_lse is deprecated, please use return_aux=AuxRequest(lse=True) instead."
        )
    if return_lse and "return_lse" not in _warned:
        _warned.add("return_lse")
        warn(
            "return_lse is deprecated and will be removed in v2.10. "
            "Please use return_aux=AuxRequest(lse=True) instead.",
            FutureWarning, stacklevel=3,
        )  # fmt: skip


def _score_function(score_mod: Any) -> Any:
    return None if score_mod is None else over_all(score_mod, (0,))


def _mask_function(mask_mod: Any) -> Any:
    return None if mask_mod is noop_mask else over_all(mask_mod)


def _returned(found: tuple[Any, Any, Any], return_lse: bool, return_aux: Any) -> Any:
    made, lse, largest = found
    if return_aux is not None:
        return made, AuxOutput(lse, largest)
    return (made, lse) if return_lse else made


def flex_attention(
    query: Any, key: Any, value: Any, score_mod: Any = None, block_mask: BlockMask | None = None,
    scale: float | None = None, enable_gqa: bool = False, return_lse: bool = False,
    kernel_options: Any = None, *, return_aux: AuxRequest | None = None,
) -> Any:  # fmt: skip
    """softmax(score_mod(query @ keyᵀ * scale)) @ value of queries (batch, heads, queries,
    features), keys and values alike; score_mod is a function (score, batch, head, query, key) ->
    score of numbers, and block_mask's one says which scores count. A query that looks at nothing
    gets zeros.

    scale, unless given: 1 / sqrt(features). enable_gqa: queries have a multiple of the keys' heads.
    return_aux: (result, AuxOutput) with what is asked for; return_lse: (result, lse). Scores are
    computed in float32, of float64 in that. Gradients reach what the functions use, too.
    ValueError, NotImplementedError, RuntimeError, PyTorch's words, for what does not fit."""
    _check(query, key, value, enable_gqa, block_mask)
    _check_returned(return_lse, return_aux)
    options = kernel_options or {}
    _core.aten.check_flex_options(
        options.get("BACKEND"), bool(options.get("FORCE_USE_FLEX_ATTENTION", False))
    )
    mask = everything(query) if block_mask is None else block_mask
    asked = return_aux or AuxRequest(lse=return_lse)
    found = _core.aten.flex_attention(
        query, key, value, _score_function(score_mod), _mask_function(mask.mask_mod), scale,
        bool(asked.lse), bool(asked.max_scores),
    )  # fmt: skip
    return _returned(found, return_lse, return_aux)
