"""BlockMask: which blocks of queries look at which blocks of keys, and which of them at all
elements. Blocks are found by composit::aten (composit/aten/block_masks.h)."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from enum import Enum
from typing import Any
from warnings import warn

import composit._core as _core
from composit._core import not_implemented, runtime_error, value_error
from composit.torch import dtypes, parts
from composit.torch.calling import define, functions
from composit.torch.func import vmap

_here: dict[str, Any] = {"is_function": False, "is_method": False}
_DEFAULT_SPARSE_BLOCK_SIZE = 128
_LARGE_SPARSE_BLOCK_SIZE = 1 << 30
_bool = dtypes.by_name["bool"]


def _mask_blocks(mask: Any, query_block: int, key_block: int, separate_full: bool) -> Any:
    return _core.aten.mask_blocks(mask, query_block, key_block, separate_full)


def _ordered_blocks(dense: Any) -> Any:
    return _core.aten.ordered_blocks(dense)


def _dense_blocks(counts: Any, indices: Any, columns: int) -> Any:
    return _core.aten.dense_blocks(counts, indices, columns)


mask_blocks = define(_mask_blocks, "mask_blocks", **_here)
ordered_blocks = define(_ordered_blocks, "ordered_blocks", **_here)
dense_blocks = define(_dense_blocks, "dense_blocks", **_here)


class ModificationType(Enum):
    """Whether a function changes scores, or says what is looked at."""

    SCORE_MOD = 5
    MASK_MOD = 4


def modification_of(function: Any) -> ModificationType:
    """By how many arguments it has: (score, batch, head, query, key), or those without the score.
    AssertionError for others."""
    needed = [
        one for one in inspect.signature(function).parameters.values()
        if one.default is inspect.Parameter.empty
    ]  # fmt: skip
    if len(needed) not in (4, 5):
        raise AssertionError(f"Expected 4 or 5 positional args, got {len(needed)}")
    return ModificationType(len(needed))


# Which of (batch, head, query, key) each of four calls of vmap maps over, the innermost first.
_MAPPED = ((None, None, None, 0), (None, None, 0, None), (None, 0, None, None),
           (0, None, None, None))  # fmt: skip


def over_all(function: Any, score: tuple[int, ...] = ()) -> Any:
    """A function of numbers over (batch, head, query, key), each a dimension of its result; of
    scores, too, which have all four, where `score` is (0,)."""
    for dims in _MAPPED:
        function = vmap(function, in_dims=score + dims)
    return function


def noop_mask(batch: Any, head: Any, token_q: Any, token_kv: Any) -> Any:
    """True: every query looks at every key."""
    return batch.new_ones((), dtype=_bool)


def _sliced_mask_mod_error(batch: Any, head: Any, token_q: Any, token_kv: Any) -> Any:
    """RuntimeError: the positions of a part of a mask are not those of its function."""
    raise runtime_error(
        "Cannot use mask_mod from a sliced BlockMask. "
        "When you slice a BlockMask using [], the mask_mod attribute is reset. "
        "You must set it from the original BlockMask's mask_mod."
        "\n\nIncorrect usage:"
        "\n  base_mask = create_block_mask(my_mask_fn, ...)"
        "\n  sliced_mask = base_mask[:, :, block_idx]"
        "\n  sliced_mask.mask_mod = apply_offset(sliced_mask.mask_mod, offset)  # WRONG!"
        "\n\nCorrect usage:"
        "\n  base_mask = create_block_mask(my_mask_fn, ...)"
        "\n  sliced_mask = base_mask[:, :, block_idx]"
        "\n  sliced_mask.mask_mod = apply_offset(base_mask.mask_mod, offset)  # Use base_mask!"
    )


def _joined(masks: tuple[Any, ...], first: bool, join: Callable[[Any, Any], Any]) -> Any:
    if not all(callable(mask) for mask in masks):
        raise runtime_error(f"All inputs should be callable mask_mods: {masks}")

    def joined(b: Any, h: Any, q_idx: Any, kv_idx: Any) -> Any:
        result = (b.new_ones if first else b.new_zeros)((), dtype=_bool)
        for mask in masks:
            result = join(result, mask(b, h, q_idx, kv_idx))
        return result

    return joined


def or_masks(*mask_mods: Any) -> Any:
    """The function that is true where one of these is. RuntimeError for what is none."""
    return _joined(mask_mods, False, lambda a, b: a | b)


def and_masks(*mask_mods: Any) -> Any:
    """The function that is true where all of these are. RuntimeError for what is none."""
    return _joined(mask_mods, True, lambda a, b: a & b)


_TENSORS = (
    "kv_num_blocks", "kv_indices", "full_kv_num_blocks", "full_kv_indices", "q_num_blocks",
    "q_indices", "full_q_num_blocks", "full_q_indices",
)  # fmt: skip


def _not_turned(counts: Any, indices: Any) -> tuple[Any, Any]:
    return None, None


def _turned(counts: Any, indices: Any) -> tuple[Any, Any]:
    """The blocks of each column, from those of each row; of None none."""
    if counts is None:
        return None, None
    dense = dense_blocks(counts, indices, indices.shape[-1])
    return ordered_blocks(dense.transpose(-2, -1))


def _pair_of(size: Any) -> tuple[int, int]:
    return (size, size) if isinstance(size, int) else size


def _moved(tensor: Any, device: Any) -> Any:
    return None if tensor is None else tensor.to(device)


def _are_there(*tensors: Any) -> list[bool]:
    return [tensor is not None for tensor in tensors]


def _ordered(dense: Any) -> tuple[Any, Any]:
    """The numbers and indices of blocks; of None none."""
    return (None, None) if dense is None else ordered_blocks(dense)


class BlockMask:
    """For each row of blocks of queries how many blocks of keys some of them look at
    (kv_num_blocks, (…, rows)), and which (kv_indices, (…, rows, columns)); the blocks that all of
    them look at wholly (full_…); and the same by columns (q_…). `mask_mod` decides within blocks
    that are not full."""

    def __init__(
        self, seq_lengths: tuple[int, int], kv_num_blocks: Any, kv_indices: Any,
        full_kv_num_blocks: Any, full_kv_indices: Any, q_num_blocks: Any, q_indices: Any,
        full_q_num_blocks: Any, full_q_indices: Any,
        BLOCK_SIZE: tuple[int, int] = (_DEFAULT_SPARSE_BLOCK_SIZE, _DEFAULT_SPARSE_BLOCK_SIZE),
        mask_mod: Any = noop_mask,
    ) -> None:  # fmt: skip
        given = (kv_num_blocks, full_kv_num_blocks, full_kv_indices, full_q_num_blocks,
                 full_q_indices)  # fmt: skip
        _core.aten.check_block_parts(kv_indices.dim(), *_are_there(*given))
        self.seq_lengths, self.BLOCK_SIZE, self.mask_mod = seq_lengths, BLOCK_SIZE, mask_mod
        self.kv_num_blocks, self.kv_indices = kv_num_blocks, kv_indices
        self.full_kv_num_blocks, self.full_kv_indices = full_kv_num_blocks, full_kv_indices
        self.q_num_blocks, self.q_indices = q_num_blocks, q_indices
        self.full_q_num_blocks, self.full_q_indices = full_q_num_blocks, full_q_indices

    @classmethod
    def from_kv_blocks(
        cls, kv_num_blocks: Any, kv_indices: Any, full_kv_num_blocks: Any = None,
        full_kv_indices: Any = None, BLOCK_SIZE: Any = _DEFAULT_SPARSE_BLOCK_SIZE,
        mask_mod: Any = None, seq_lengths: tuple[int, int] | None = None,
        compute_q_blocks: bool = True,
    ) -> BlockMask:  # fmt: skip
        """The mask of blocks by rows, from which those by columns are found."""
        _core.aten.check_block_parts(None, True, *_are_there(full_kv_num_blocks, full_kv_indices))
        block = _pair_of(BLOCK_SIZE)
        lengths = _core.aten.masked_lengths(tuple(kv_indices.shape), block, seq_lengths)
        turned = _turned if compute_q_blocks else _not_turned
        return cls(
            lengths, kv_num_blocks, kv_indices, full_kv_num_blocks, full_kv_indices,
            *turned(kv_num_blocks, kv_indices), *turned(full_kv_num_blocks, full_kv_indices),
            block, mask_mod or noop_mask,
        )  # fmt: skip

    def as_tuple(self, flatten: bool = True) -> tuple[Any, ...]:
        """The lengths, the tensors, the blocks' lengths and the function."""
        # PyTorch has the order in which kernels write gradients behind the tensors: none here.
        between = (*map(self.__getattribute__, _TENSORS), None, None, None, None)
        if flatten:
            return (*self.seq_lengths, *between, *self.BLOCK_SIZE, self.mask_mod)
        return (self.seq_lengths, *between, self.BLOCK_SIZE, self.mask_mod)

    @property
    def shape(self) -> tuple[int, ...]:
        """(batch, heads, queries, keys)"""
        return (*self.kv_indices.shape[:-2], *self.seq_lengths)

    def numel(self) -> int:
        """How many elements the mask stands for."""
        return math.prod(self.shape)

    def sparsity(self) -> float:
        """The part of elements, in percent, whose blocks are left out."""
        count = self.kv_num_blocks.sum()
        if self.full_kv_num_blocks is not None:
            count = count + self.full_kv_num_blocks.sum()
        return _core.aten.sparsity(count.item(), self.BLOCK_SIZE, self.shape)

    def _demands(self) -> tuple[tuple[int, ...], int, bool]:
        """What queries and keys must fit: the shape, the batches, whether any lengths do."""
        if self.mask_mod is _sliced_mask_mod_error:
            raise runtime_error("Cannot use mask_mod from a sliced BlockMask")
        is_large = self.BLOCK_SIZE == (_LARGE_SPARSE_BLOCK_SIZE, _LARGE_SPARSE_BLOCK_SIZE)
        return self.shape, self.kv_num_blocks.size(0), is_large

    def to_dense(self) -> Any:
        """1 where a block is looked at, 0 elsewhere (batch, heads, rows, columns)."""
        columns = self.kv_indices.shape[-1]
        dense = dense_blocks(self.kv_num_blocks, self.kv_indices, columns)
        if self.full_kv_num_blocks is None:
            return dense
        return dense | dense_blocks(self.full_kv_num_blocks, self.full_kv_indices, columns)

    def to(self, device: Any) -> BlockMask:
        """On another device."""
        moved = {name: _moved(getattr(self, name), device) for name in _TENSORS}
        return BlockMask(seq_lengths=self.seq_lengths, BLOCK_SIZE=self.BLOCK_SIZE,
                         mask_mod=self.mask_mod, **moved)  # fmt: skip

    def __getitem__(self, index: Any) -> BlockMask:
        """The mask of some batches, heads and rows; each integer keeps its dimension."""
        given = index if isinstance(index, tuple) else (index,)
        given = (*given, slice(None), slice(None), slice(None))[:3]
        at = tuple(
            slice(i + n, i + n + 1) if isinstance(i, int) and -n <= i < 0
            else slice(i, i + 1) if isinstance(i, int) else i
            for i, n in zip(given, self.kv_num_blocks.shape[:3])
        )  # fmt: skip
        rows = [x if x is None else x[at] for x in map(self.__getattribute__, _TENSORS[:4])]
        return self._like((rows[0], rows[1], rows[2], rows[3]), _sliced_mask_mod_error,
                          self.seq_lengths)  # fmt: skip

    def _like(
        self, by_rows: tuple[Any, Any, Any, Any], mask_mod: Any, lengths: tuple[int, int]
    ) -> BlockMask:
        return BlockMask.from_kv_blocks(
            *by_rows, BLOCK_SIZE=self.BLOCK_SIZE, mask_mod=mask_mod, seq_lengths=lengths,
            compute_q_blocks=self.q_indices is not None,
        )  # fmt: skip

    def _adjust(self, new_q_len: int, new_kv_len: int) -> BlockMask:
        """The part for the first queries and keys."""
        rows = -(-new_q_len // self.BLOCK_SIZE[0])
        columns = -(-new_kv_len // self.BLOCK_SIZE[1])

        def cut(counts: Any, indices: Any) -> tuple[Any, Any]:
            if counts is None:
                return None, None
            indices = indices[:, :, :rows, :columns]
            counts = counts[:, :, :rows].clamp(max=columns)
            return (indices < counts[:, :, :, None]).sum(dim=-1).to(indices.dtype), indices

        by_rows = (*cut(self.kv_num_blocks, self.kv_indices),
                   *cut(self.full_kv_num_blocks, self.full_kv_indices))  # fmt: skip
        return self._like(by_rows, self.mask_mod, (new_q_len, new_kv_len))

    def __str__(self) -> str:
        picture = self.to_string().strip()
        return f"BlockMask(shape={self.shape}, sparsity={self.sparsity():.2f}%, \n{picture}\n)"

    def __repr__(self) -> str:
        shapes = "".join(
            f"    {name}={getattr(getattr(self, name), 'shape', None)},\n" for name in _TENSORS
        )
        function = getattr(self.mask_mod, "__name__", self.mask_mod)
        return (
            f"BlockMask(\n{shapes}    BLOCK_SIZE={self.BLOCK_SIZE},\n    shape={self.shape},\n"
            f"    sparsity={self.sparsity():.2f}%,\n    mask_mod={function}\n)"
        )

    def to_string(self, grid_size: Any = (20, 20), limit: int = 4) -> str:
        """A picture of the blocks of the first batches and heads: full, partly there, or not."""
        dense = self.to_dense().numpy()
        return _core.aten.block_picture(dense, _pair_of(grid_size), limit)


def _device(device: Any) -> Any:
    """Where masks are made: on an accelerator, if there is one."""
    if device is not None:
        return device
    return parts.load("accelerator").current_accelerator() or "cpu"


def _or_one(count: int | None) -> int:
    return 1 if count is None else count


def create_mask(
    mod_fn: Any, B: int | None, H: int | None, Q_LEN: int, KV_LEN: int, device: Any = None
) -> Any:
    """Where each query looks, bool (B, H, Q_LEN, KV_LEN): what a mask_mod says, or where a
    score_mod does not make 0 -infinity. None stands for 1."""
    place = _device(device)
    lengths = (_or_one(B), _or_one(H), Q_LEN, KV_LEN)
    numbers = [functions["arange"](0, n, device=place) for n in lengths]
    if modification_of(mod_fn) is ModificationType.MASK_MOD:
        return over_all(mod_fn)(*numbers)
    zeros = functions["zeros"](*lengths, device=place)
    return ~functions["isneginf"](over_all(mod_fn, (0,))(zeros, *numbers))


def _check_mask_mod(mask_mod: Any) -> None:
    if modification_of(mask_mod) is not ModificationType.MASK_MOD:
        raise AssertionError(f"create-block_mask requires a mask_mod function! Got {mask_mod}")


def _check_writing_order(compute_dq_write_order: bool, dq_kv_order: Any) -> None:
    if not isinstance(dq_kv_order, bool):
        raise value_error("dq_kv_order must be a bool when using create_block_mask")
    if compute_dq_write_order:
        raise not_implemented(
            "create_block_mask: compute_dq_write_order is True. False is required: there is no "
            "kernel here that writes gradients block by block."
        )


def create_block_mask(
    mask_mod: Any, B: int | None, H: int | None, Q_LEN: int, KV_LEN: int, device: Any = None,
    BLOCK_SIZE: Any = _DEFAULT_SPARSE_BLOCK_SIZE, _compile: bool = False,
    separate_full_blocks: bool = True, compute_dq_write_order: bool = False,
    dq_kv_order: bool = True,
) -> BlockMask:  # fmt: skip
    """The BlockMask of a function (batch, head, query, key) -> bool; None stands for 1.
    NotImplementedError for compute_dq_write_order, the order in which a kernel writes
    gradients."""
    _check_mask_mod(mask_mod)
    if _compile:
        warn(
            "_compile flag on create_block_mask was originally added to work around a "
            "torch.compile limitation. That limitation has since been addressed. So, to compile "
            "create_block_mask, we suggest doing torch.compile(create_block_mask). This still "
            "works for now, but will be removed in the future.",
            DeprecationWarning, stacklevel=2,
        )  # fmt: skip
    _check_writing_order(compute_dq_write_order, dq_kv_order)
    block = _pair_of(BLOCK_SIZE)
    mask = create_mask(mask_mod, B, H, Q_LEN, KV_LEN, device)
    partial, full = mask_blocks(mask, *block, separate_full_blocks)
    counts, indices = ordered_blocks(partial)
    full_counts, full_indices = _ordered(full)
    return BlockMask.from_kv_blocks(
        counts, indices, full_counts, full_indices, BLOCK_SIZE=tuple(block), mask_mod=mask_mod,
        seq_lengths=(Q_LEN, KV_LEN),
    )  # fmt: skip


def create_nested_block_mask(*args: Any, **kwargs: Any) -> Any:
    """NotImplementedError: nested tensors are not built."""
    raise not_implemented(
        "create_nested_block_mask: nested tensors are not built. create_block_mask with a mask_mod "
        "that compares the sequences' numbers is required."
    )


def everything(query: Any) -> BlockMask:
    """The mask of one block beyond all lengths."""
    ones = functions["ones"](1, 1, 1, dtype=dtypes.by_name["int32"], device=query.device)
    return BlockMask.from_kv_blocks(ones, ones.new_zeros(1, 1, 1, 1), seq_lengths=(1, 1),
                                    BLOCK_SIZE=_LARGE_SPARSE_BLOCK_SIZE)  # fmt: skip
