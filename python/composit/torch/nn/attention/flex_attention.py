"""torch.nn.attention.flex_attention: attention whose scores are changed, and masked, by functions
of a score and its place. All scores are computed, and the functions are mapped over them."""

from __future__ import annotations

import math
from typing import Any, NamedTuple, TypedDict
from warnings import warn

import composit._core as _core
from composit._core import runtime_error, value_error
from composit.torch import dtypes
from composit.torch.calling import TensorBase, define, functions
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


def _safe_softmax(scores: Any) -> Any:
    """softmax over the last dimension; zeros where all is -infinity."""
    return _core.aten.safe_softmax(scores, -1)


_softmax = define(_safe_softmax, "_safe_softmax", is_function=False, is_method=False)
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
    given = {"query": query, "key": key, "value": value}
    for name, each in given.items():
        if not isinstance(each, TensorBase):
            raise value_error(f"flex_attention: {name} is {each!r}. A Tensor is required.")
    _check_places([query.device, key.device, value.device], mask)
    demands = None if mask is None else mask._demands()
    _core.aten.check_flex_attention(
        tuple(query.shape), tuple(key.shape), tuple(value.shape), enable_gqa, demands
    )


def _check_places(devices: list[Any], mask: BlockMask | None) -> None:
    if len(set(map(str, devices))) > 1:
        raise value_error(
            "Expected query, key, and value to have the same device type, but got query.device: "
            "{}, key.device: {}, and value.device: {} instead.".format(*devices)
        )
    if mask is not None and mask.kv_num_blocks.device != devices[0]:
        raise runtime_error(
            "Expect q/k/v and block_mask to be on the same device "
            f"but got {devices[0]} and {mask.kv_num_blocks.device}."
        )


def _scores(query: Any, key: Any, score_mod: Any, mask_mod: Any, scale: float) -> Any:
    """The scores of all queries and keys, changed by score_mod; -infinity where mask_mod is not
    true."""
    scores = (query @ key.transpose(-2, -1)) * scale
    places = [functions["arange"](0, n, device=scores.device) for n in scores.shape]
    if score_mod is not None:
        scores = over_all(score_mod, True)(scores, *places)
    if mask_mod is noop_mask:
        return scores
    return functions["where"](over_all(mask_mod, False)(*places), scores, -math.inf)


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
            FutureWarning, stacklevel=2,
        )  # fmt: skip
    options = kernel_options or {}
    _core.aten.check_flex_options(
        options.get("BACKEND"), bool(options.get("FORCE_USE_FLEX_ATTENTION", False))
    )
    mask = everything(query) if block_mask is None else block_mask
    if scale is None:
        scale = 1.0 / math.sqrt(query.size(-1))
    groups = query.size(1) // key.size(1)
    if groups > 1:
        key, value = (x.repeat_interleave(groups, dim=1) for x in (key, value))
    batch = query.size(0)
    key, value = (x.expand(batch, *x.shape[1:]) for x in (key, value))
    precise = dtypes.by_name["float64" if query.dtype.name == "float64" else "float32"]
    scores = _scores(query.to(precise), key.to(precise), score_mod, mask.mask_mod, scale)
    made = _softmax(scores).to(query.dtype) @ value.to(query.dtype)
    asked = AuxRequest(lse=return_lse) if return_aux is None else return_aux
    lse = scores.logsumexp(dim=-1) if asked.lse else None
    if return_aux is not None:
        return made, AuxOutput(lse, scores.amax(dim=-1) if asked.max_scores else None)
    return (made, lse) if return_lse else made
