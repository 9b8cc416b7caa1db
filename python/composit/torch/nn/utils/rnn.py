"""torch.nn.utils.rnn: sequences of different lengths, padded or packed one time after another."""

from __future__ import annotations

from collections import namedtuple
from typing import Any

import numpy as np

import composit._core as _core
from composit._core import value_error
from composit.torch.calling import TensorBase, call, functions, pure

_aten = _core.aten

__all__ = [
    "PackedSequence", "invert_permutation", "pack_padded_sequence", "pack_sequence",
    "pad_packed_sequence", "pad_sequence", "unpack_sequence", "unpad_sequence",
]  # fmt: skip

_Fields = namedtuple("_Fields", "data batch_sizes sorted_indices unsorted_indices")


def _moved(order: Any, device: Any) -> Any:
    return None if order is None else order.to(device)


def _order(places: Any, device: Any) -> Any:
    """Places as a tensor; None of None."""
    return None if places is None else functions["tensor"](places, device=device)


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
        _aten.check_packed(batch_sizes is not None)
        if unsorted_indices is None:
            unsorted_indices = invert_permutation(sorted_indices)
        return super().__new__(cls, data, batch_sizes, sorted_indices, unsorted_indices)

    def _with(self, data: Any) -> Any:
        return type(self)(data, *self[1:])

    def to(self, *args: Any, **kwargs: Any) -> Any:
        """The same with data of another dtype, or on another device with the order of its
        sequences."""
        data = self.data.to(*args, **kwargs)
        orders = (_moved(order, data.device) for order in self[2:])
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
    places = _aten.invert_permutation(_integers(permutation))
    return functions["tensor"](places, device=getattr(permutation, "device", None))


def _integers(values: Any) -> Any:
    """As a list: they decide shapes; None of None."""
    given = values.tolist() if isinstance(values, TensorBase) else values
    return None if given is None else np.asarray(given, int).tolist()


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
    rows, sizes, order = _aten.packing_of(
        _integers(lengths), input.shape[:2], batch_first, enforce_sorted
    )
    data = _selected(input.flatten(0, 1), rows)
    batch_sizes = functions["tensor"](sizes, device="cpu")
    return PackedSequence(data, batch_sizes, _order(order, data.device))


def pad_packed_sequence(
    sequence: Any, batch_first: bool = False, padding_value: float = 0.0,
    total_length: int | None = None,
) -> tuple[Any, Any]:  # fmt: skip
    """(padded, lengths): the sequences as (times, batch, ...), or (batch, times, ...) with
    batch_first, and how long each is. ValueError where total_length is less than the longest."""
    rows, lengths, times = _aten.unpacking_of(
        _integers(sequence.batch_sizes), _integers(sequence.unsorted_indices), batch_first,
        total_length,
    )  # fmt: skip
    data = sequence.data
    # One more row, which padding is taken from.
    padding = data.new_full((1, *data.shape[1:]), padding_value)
    found = _selected(functions["cat"]([data, padding]), rows)
    batch = int(sequence.batch_sizes[0])
    shape = (batch, times) if batch_first else (times, batch)
    return found.unflatten(0, shape), functions["tensor"](lengths, device="cpu")


def pad_sequence(
    sequences: Any, batch_first: bool = False, padding_value: float = 0.0,
    padding_side: str = "right",
) -> Any:  # fmt: skip
    """Tensors (times, ...) of different times as one, (times, batch, ...), or (batch, times, ...)
    with batch_first, padded to the longest at the "right" or the "left"."""
    if padding_side not in ("right", "left"):
        raise value_error(f"pad_sequence: padding_side is {padding_side!r}. \"right\" or "
                          "\"left\" is required.")  # fmt: skip
    given = (list(sequences), batch_first, padding_value, padding_side)
    return call(_aten.pad_sequence, "pad_sequence", False, given, {})


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


pure.add(_aten.pad_sequence)
