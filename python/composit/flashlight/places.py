"""Memory of torch in a trace: leaves that share it, twins on torch's "meta", views by strides."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import torch

from composit import _core
from composit import numpy as cnp
from composit._core import LazyTensor
from composit.flashlight.dtypes import numpy_dtype
from composit.flashlight.tensor import Cell, Place


def tensors_in(value: Any) -> Iterator[torch.Tensor]:
    """The tensors in nested lists, tuples and dictionaries."""
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from tensors_in(item)
    elif isinstance(value, dict):
        for item in value.values():
            yield from tensors_in(item)


def mapped(value: Any, function: Callable[[Any], Any]) -> Any:
    """Nested lists, tuples and dictionaries with the function's results for what they hold."""
    if isinstance(value, (list, tuple)):
        return type(value)(mapped(item, function) for item in value)
    if isinstance(value, dict):
        return {key: mapped(item, function) for key, item in value.items()}
    return function(value)


def array_of(tensor: torch.Tensor) -> Any:
    """The tensor as an array over the same memory."""
    dtype = numpy_dtype(tensor.dtype)
    plain = tensor.detach()
    if plain.is_conj() or plain.is_neg():
        plain = plain.resolve_conj().resolve_neg()
    if tensor.dtype is torch.bfloat16:
        return plain.view(torch.uint16).numpy().view(dtype)
    return plain.numpy()


class _Record:
    """One memory: its twin, and the cell of what it holds."""

    def __init__(self, tensor: torch.Tensor) -> None:
        self.storage = tensor.untyped_storage()  # held, so that its address stays its own
        self.twin: torch.Tensor | None = None
        self.cell: Cell | None = None
        self.first: Any = None  # the layout that the cell's value has
        self.source: torch.Tensor | None = None  # the input whose memory it is
        self.leaf: LazyTensor | None = None
        self.places: dict[Any, Place] = {}
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
        return found is not None and found.cell is not None

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

    def place(self, tensor: torch.Tensor, is_input: bool = True) -> Place:
        """Where the tensor's elements are kept. Its memory becomes a leaf that shares it, named
        after the tensor; or, for what was made in the trace, one with a copy."""
        record, layout = self._record(tensor), _layout(tensor)
        found = record.places.get(layout)
        if found is not None:
            return found
        if record.cell is None:
            self._fill(record, tensor, is_input)
        if record.first == layout:
            place = Place(record.cell)  # type: ignore[arg-type]
        else:
            place = Place(record.cell, (_strided(record.first, layout),))  # type: ignore[arg-type]
        record.places[layout] = place
        return place

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
        record.cell = Cell(record.leaf, record.depth)
        record.first, record.source = _layout(tensor), tensor if is_input else None

    def leaves(self) -> Iterator[tuple[str, torch.Tensor, LazyTensor]]:
        """The names and tensors that became inputs, with their leaves."""
        for record in self._records.values():
            if record.source is not None and record.leaf is not None:
                yield record.leaf.node.name, record.source, record.leaf

    def written(self) -> Iterator[tuple[str, torch.Tensor, LazyTensor]]:
        """Those that the trace wrote, and what they hold after it."""
        for record in self._records.values():
            if record.source is not None and record.cell is not None and record.cell.version:
                leaf: Any = record.leaf
                yield leaf.node.name, record.source, record.cell.value


def _strided(first: Any, layout: Any) -> Any:
    """What a tensor of one layout sees of the memory whose value has the layout `first`."""
    offset, shape, strides, dtype = layout
    if dtype != first[3]:
        raise NotImplementedError(
            f"flashlight: tensors of dtypes {first[3]} and {dtype} share memory. One dtype for "
            "each memory is required."
        )
    size = int(np.prod(shape, dtype=np.int64))
    order = sorted(range(len(shape)), key=lambda i: (-strides[i], i))
    expected, is_dense = 1, True
    for i in reversed(order):
        is_dense &= shape[i] == 1 or strides[i] == expected
        expected *= shape[i]

    def dense(value: LazyTensor) -> LazyTensor:
        flat = cnp.reshape(value, (-1,))
        part = cnp.reshape(flat[offset : offset + size], [shape[i] for i in order])
        return cnp.transpose(part, tuple(np.argsort(order)))

    if is_dense or size == 0:
        return dense
    places = np.full(shape, offset, np.int64)
    for axis, (length, stride) in enumerate(zip(shape, strides)):
        along = (np.arange(length) * stride).reshape([-1] + [1] * (len(shape) - axis - 1))
        places = places + along

    def scattered(value: LazyTensor) -> LazyTensor:
        return cnp.take(cnp.reshape(value, (-1,)), places)

    return scattered
