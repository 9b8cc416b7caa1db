"""Memory of torch in a trace: leaves that share it, and twins on torch's "meta"."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import torch

import composit._core as _core
from composit import structure
from composit._core import LazyTensor
from composit.flashlight.dtypes import numpy_dtype


def tensors_in(value: Any) -> list[torch.Tensor]:
    """The tensors in nested lists, tuples and dictionaries."""
    return structure.leaves(value, torch.Tensor)


# Nested lists, tuples and dictionaries with a function's results for what they hold.
mapped = structure.mapped


def array_of(tensor: torch.Tensor) -> Any:
    """The tensor as an array over the same memory."""
    dtype = numpy_dtype(tensor.dtype)
    plain = tensor.detach()
    if plain.is_conj() or plain.is_neg():
        plain = plain.resolve_conj().resolve_neg()
    if dtype.name in _core.extension_floats:
        whole = torch.uint16 if dtype.itemsize == 2 else torch.uint8
        return plain.view(whole).numpy().view(dtype)
    return plain.numpy()


class _Record:
    """One memory: its twin, and what it holds in the trace."""

    def __init__(self, tensor: torch.Tensor) -> None:
        self.storage = tensor.untyped_storage()  # held, so that its address stays its own
        self.twin: torch.Tensor | None = None
        self.leaf: Any = None  # what it held before the trace
        self.held: Any = None  # what it holds: the tensor that is written
        self.source: torch.Tensor | None = None  # the input whose memory it is
        self.dtype: torch.dtype | None = None
        self.places: dict[Any, LazyTensor] = {}
        self.snapshots: dict[Any, tuple[int, LazyTensor]] = {}
        self.writes = 0
        self.depth = 0  # of the scope that it was made in


def _layout(tensor: torch.Tensor) -> tuple[Any, ...]:
    return tensor.storage_offset(), tuple(tensor.shape), tensor.stride(), tensor.dtype


class Memory:
    """All memory of plain tensors that a trace has met, by its address."""

    def __init__(self, name_of: Callable[[torch.Tensor], str]) -> None:
        self._records: dict[int, _Record] = {}
        self._name_of = name_of
        self._count = 0

    def _record(self, tensor: torch.Tensor) -> _Record:
        address = tensor.untyped_storage()._cdata
        found = self._records.get(address)
        if found is None:
            found = self._records[address] = _Record(tensor)
        return found

    def holds(self, tensor: torch.Tensor) -> bool:
        """Whether the tensor's memory is in the graph, as an input or because it was written."""
        found = self._records.get(tensor.untyped_storage()._cdata)
        return found is not None and found.held is not None

    def add_constant(self, real: torch.Tensor, depth: int) -> None:
        """Torch made the tensor in the trace, so many scopes deep."""
        if real.untyped_storage()._cdata not in self._records:
            self._record(real).depth = depth

    def depth(self, tensor: torch.Tensor) -> int:
        """How many scopes deep the tensor's memory was made."""
        return self._record(tensor).depth

    def twin(self, tensor: torch.Tensor) -> torch.Tensor:
        """The tensor on the device "meta"."""
        record = self._record(tensor)
        if record.twin is None:
            bytes_ = record.storage.nbytes()
            record.twin = torch.empty(bytes_, dtype=torch.uint8, device="meta")
        twin = torch.empty(0, dtype=tensor.dtype, device="meta")
        return twin.set_(  # type: ignore[call-overload]
            record.twin.untyped_storage(), tensor.storage_offset(), tensor.shape, tensor.stride()
        )

    def snapshot(self, real: torch.Tensor) -> LazyTensor:
        """The constant that holds a copy of the tensor as it is now."""
        record, layout = self._record(real), _layout(real)
        found = record.snapshots.get(layout)
        if found is None or found[0] != record.writes:
            leaf = _core.constant(np.array(array_of(real)), "", False)
            found = record.snapshots[layout] = (record.writes, leaf)
        return found[1]

    def note_write(self, real: torch.Tensor) -> None:
        """Torch wrote into the memory of a constant."""
        self._record(real).writes += 1

    def place(self, tensor: torch.Tensor, is_input: bool = True) -> LazyTensor:
        """Where the tensor's elements are kept. Its memory becomes a leaf that shares it, named
        after the tensor; or, for what was made in the trace, one with a copy."""
        record, layout = self._record(tensor), _layout(tensor)
        found = record.places.get(layout)
        if found is not None:
            return found
        if record.held is None:
            self._fill(record, tensor, is_input)
        if layout not in record.places:
            offset, shape, strides, dtype = layout
            if dtype != record.dtype:
                raise NotImplementedError(
                    f"flashlight: tensors of dtypes {record.dtype} and {dtype} share memory. One "
                    "dtype for each memory is required."
                )
            view = _core.numpy.as_strided_of(record.held, list(shape), list(strides), offset)
            record.places[layout] = view
        return record.places[layout]

    def _fill(self, record: _Record, tensor: torch.Tensor, is_input: bool) -> None:
        bytes_ = record.storage.nbytes()
        is_whole = tensor.is_contiguous() and tensor.numel() * tensor.element_size() == bytes_
        if not is_whole:
            size = bytes_ // tensor.element_size()
            tensor = tensor.detach().as_strided((size,), (1,), 0)
        name = self._name_of(tensor) if is_input else ""
        if is_input and not name:
            name = f"tensor_{self._count}"
            self._count += 1
        array = array_of(tensor)
        record.leaf = _core.constant(array if is_input else array.copy(), name, False)
        record.held, record.dtype = record.leaf.copied(), tensor.dtype
        record.places[_layout(tensor)] = record.held
        record.source = tensor if is_input else None

    def leaves(self) -> Iterator[tuple[str, torch.Tensor, LazyTensor]]:
        """The names and tensors that became inputs, with their leaves."""
        for record in self._records.values():
            if record.source is not None:
                yield record.leaf.node.name, record.source, record.leaf

    def written(self) -> Iterator[tuple[str, torch.Tensor, LazyTensor]]:
        """Those that the trace wrote, and what they hold after it."""
        for record in self._records.values():
            if record.source is not None and not record.held.is_same(record.leaf):
                yield record.leaf.node.name, record.source, record.held.copied()
