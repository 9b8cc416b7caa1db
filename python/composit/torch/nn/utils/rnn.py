"""torch.nn.utils.rnn: sequences of different lengths, padded or packed one time after another."""

from __future__ import annotations

import itertools
from collections import namedtuple
from typing import Any

import numpy as np

from composit._core import runtime_error, value_error
from composit.torch.calling import TensorBase, functions

__all__ = [
    "PackedSequence", "invert_permutation", "pack_padded_sequence", "pack_sequence",
    "pad_packed_sequence", "pad_sequence", "unpack_sequence", "unpad_sequence",
]  # fmt: skip

_Fields = namedtuple("_Fields", "data batch_sizes sorted_indices unsorted_indices")


class PackedSequence(_Fields):
    """Sequences without padding: `data` has the elements of all at the first time, then those at
    the second, and so on; `batch_sizes` (int64) says how many each time has. The longest sequence
    is first; `sorted_indices` and `unsorted_indices` lead there and back, None where the order was
    that already."""

    __slots__ = ()

    def __new__(
        cls, data: Any, batch_sizes: Any = None, sorted_indices: Any = None,
        unsorted_indices: Any = None,
    ) -> Any:  # fmt: skip
        if unsorted_indices is None:
            unsorted_indices = invert_permutation(sorted_indices)
        if batch_sizes is None:
            raise value_error("PackedSequence: batch_sizes are required.")
        return super().__new__(cls, data, batch_sizes, sorted_indices, unsorted_indices)

    def _with(self, data: Any) -> Any:
        return type(self)(data, *self[1:])

    def to(self, *args: Any, **kwargs: Any) -> Any:
        """The same with data of another dtype, or on another device with the order of its
        sequences."""
        data = self.data.to(*args, **kwargs)
        orders = [x if x is None else x.to(data.device) for x in self[2:]]
        return type(self)(data, self.batch_sizes, *orders)

    def double(self) -> Any:
        """With data in float64."""
        return self._with(self.data.double())

    def float(self) -> Any:
        """With data in float32."""
        return self._with(self.data.float())

    def cpu(self) -> Any:
        """With data in the host's memory."""
        return self.to("cpu")

    def cuda(self, device: Any = None) -> Any:
        """With data on a CUDA device."""
        return self.to("cuda" if device is None else device)

    @property
    def is_cuda(self) -> bool:
        """Whether data lie on a CUDA device."""
        return self.data.is_cuda

    def is_pinned(self) -> bool:
        """False."""
        return False


def invert_permutation(permutation: Any) -> Any:
    """The permutation that undoes one; None of None."""
    if permutation is None:
        return None
    device = permutation.device if isinstance(permutation, TensorBase) else None
    return functions["tensor"](np.argsort(_integers(permutation), kind="stable"), device=device)


def _integers(values: Any) -> Any:
    """As an array: they decide shapes."""
    return np.asarray(values.tolist() if isinstance(values, TensorBase) else values, np.int64)


def _selected(values: Any, places: Any, axis: int = 0) -> Any:
    return functions["index_select"](
        values, axis, functions["tensor"](places, device=values.device)
    )


def pack_padded_sequence(
    input: Any, lengths: Any, batch_first: bool = False, enforce_sorted: bool = True
) -> PackedSequence:
    """Packs (times, batch, ...), or (batch, times, ...) with batch_first, of which sequence i has
    `lengths[i]` times. RuntimeError for lengths that are not in descending order, unless
    enforce_sorted is False, that are below 1 or above the times, or not as many as the batch."""
    counts = _integers(lengths)
    axis = 0 if batch_first else 1
    if counts.ndim != 1 or len(counts) != input.shape[axis]:
        raise runtime_error(f"Expected `len(lengths)` to be equal to batch_size, but got "
                            f"{counts.size} (batch_size={input.shape[axis]})")  # fmt: skip
    times = input.shape[1 - axis]
    if counts.size == 0 or counts.min() <= 0:
        raise runtime_error("Length of all samples has to be greater than 0, but found an element "
                            "in 'lengths' that is <= 0")  # fmt: skip
    if counts.max() > times:
        raise runtime_error(f"pack_padded_sequence: a length is {counts.max()}, and the input has "
                            f"{times} times. At most as many are required.")  # fmt: skip
    order = np.argsort(-counts, kind="stable")
    if enforce_sorted and (np.diff(counts) > 0).any():
        raise runtime_error(
            "`lengths` array must be sorted in decreasing order when "
            "`enforce_sorted` is True. You can pass `enforce_sorted=False` to "
            "pack_padded_sequence and/or pack_sequence to sidestep this requirement "
            "if you do not need ONNX exportability."
        )
    is_there = np.arange(counts.max())[:, None] < counts[order]
    time, place = np.nonzero(is_there)
    batch = order[place]
    rows = batch * times + time if batch_first else time * len(counts) + batch
    data = _selected(input.flatten(0, 1), rows)
    sizes = functions["tensor"](is_there.sum(axis=1), device="cpu")
    if enforce_sorted:
        return PackedSequence(data, sizes)
    return PackedSequence(data, sizes, functions["tensor"](order, device=data.device))


def pad_packed_sequence(
    sequence: Any, batch_first: bool = False, padding_value: float = 0.0,
    total_length: int | None = None,
) -> tuple[Any, Any]:  # fmt: skip
    """(padded, lengths): the sequences as (times, batch, ...), or (batch, times, ...) with
    batch_first, and how long each is. ValueError where total_length is less than the longest."""
    sizes = _integers(sequence.batch_sizes)
    longest, batch = len(sizes), int(sizes[0])
    times = longest if total_length is None else total_length
    if times < longest:
        raise value_error("Expected total_length to be at least the length of the longest "
                          f"sequence in input, but got total_length={times} and max sequence "
                          f"length being {longest}")  # fmt: skip
    counts = (np.arange(batch) < sizes[:, None]).sum(axis=0)
    starts = np.cumsum(sizes) - sizes
    columns = np.arange(batch)
    if sequence.unsorted_indices is not None:
        columns = _integers(sequence.unsorted_indices)
    data = sequence.data
    # One more row, which padding is taken from.
    rows = np.full((times, batch), data.shape[0], np.int64)
    rows[:longest] = np.where(columns < sizes[:, None], starts[:, None] + columns, data.shape[0])
    rows = rows.T if batch_first else rows
    padding = data.new_full((1, *data.shape[1:]), padding_value)
    found = _selected(functions["cat"]([data, padding]), rows.reshape(-1))
    return found.unflatten(0, rows.shape), functions["tensor"](counts[columns], device="cpu")


def pad_sequence(
    sequences: Any, batch_first: bool = False, padding_value: float = 0.0,
    padding_side: str = "right",
) -> Any:  # fmt: skip
    """Tensors (times, ...) of different times as one, (times, batch, ...), or (batch, times, ...)
    with batch_first, padded to the longest at the "right" or the "left"."""
    if padding_side not in ("right", "left"):
        raise value_error(f"pad_sequence: padding_side is {padding_side!r}. \"right\" or "
                          "\"left\" is required.")  # fmt: skip
    parts = list(sequences)
    times = max((x.shape[0] for x in parts), default=0)
    padded = []
    for x in parts:
        missing = times - x.shape[0]
        if missing:
            more = x.new_full((missing, *x.shape[1:]), padding_value)
            x = functions["cat"]([x, more] if padding_side == "right" else [more, x])
        padded.append(x)
    return functions["stack"](padded, 0 if batch_first else 1)


def unpad_sequence(padded_sequences: Any, lengths: Any, batch_first: bool = False) -> list[Any]:
    """What pad_sequence was given."""
    batched = padded_sequences if batch_first else padded_sequences.transpose(0, 1)
    return [batched[i, : int(count)] for i, count in enumerate(_integers(lengths))]


def pack_sequence(sequences: Any, enforce_sorted: bool = True) -> PackedSequence:
    """Packs tensors (times, ...) of different times."""
    parts = list(sequences)
    lengths = [x.shape[0] for x in parts]
    return pack_padded_sequence(pad_sequence(parts), lengths, enforce_sorted=enforce_sorted)


def unpack_sequence(packed_sequences: Any) -> list[Any]:
    """What pack_sequence was given."""
    padded, lengths = pad_packed_sequence(packed_sequences, batch_first=True)
    return unpad_sequence(padded, lengths, batch_first=True)


def permuted(states: Any, places: Any) -> Any:
    """States (layers, batch, ...) with their batch in another order; None: this one."""
    return states if places is None else functions["index_select"](states, 1, places)


def segments(batch_sizes: Any) -> list[tuple[int, int, int]]:
    """(first row, times, sequences) of consecutive times that have equally many sequences."""
    found, first = [], 0
    for size, group in itertools.groupby(_integers(batch_sizes).tolist()):
        times = len(list(group))
        found.append((first, times, size))
        first += times * size
    return found
