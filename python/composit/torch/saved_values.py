"""What recorded operations save for their gradients: the arguments that PyTorch's rules
(composit/eager/saved_values.h) speak of by number, of calls and of a trace's operations."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Iterable
from typing import Any

import composit._core as _core
from composit import structure


@functools.cache
def _names_of(function: Any) -> dict[str, int]:
    return {name: i for i, name in enumerate(inspect.signature(function).parameters)}


@functools.cache
def _number_of_self(function: Any) -> int:
    """The argument that the tensor of a method is."""
    try:
        return _names_of(function).get("input", 0)
    except (TypeError, ValueError):  # a function of the core tells no names
        return 0


def save(record: Any, function: Any, operands: Iterable[Any], results: Any, given: Any) -> None:
    """Adds to a record what its operation saves. An operand is (number or name of the argument, the
    tensor, whether a gradient goes to it); `given` has pairs (number or name, argument)."""

    def number(place: Any) -> int:
        return _names_of(function).get(place, -1) if isinstance(place, str) else place

    known = [(number(place), tensor, needs) for place, tensor, needs in operands]
    values = [(number(place), value) for place, value in given]
    _core.save_values(record, known, results, values, _number_of_self(function))


def tensors_in(place: Any, value: Any, kind: Any, needs: Any) -> list[Any]:
    """The operands in an argument: itself, or those of a list."""
    return [(place, found, needs(found)) for found in structure.leaves(value, kind)]


def save_of_trace(trace: Any, kind: Any) -> None:
    """Adds to the records of a trace's operations what they save: nothing was written since.
    `kind` is the class that stands for tensors among operands."""
    for first, state in trace.entries:
        if state.sources is None:
            continue
        record = trace.records[first]
        if not isinstance(record, _core.GradFn) or not record.saves_values:
            continue
        if record.has_saved or record.is_freed:
            continue

        def held(value: Any) -> Any:
            return _held(trace, value.number)

        def needs(value: Any, sources: Any = state.sources) -> bool:
            return value.number in sources

        found = [x for i, value in enumerate(state.operands)
                 for x in tensors_in(i, value, kind, needs)]  # fmt: skip
        found += [x for name, value in state.named.items()
                  for x in tensors_in(name, value, kind, needs)]  # fmt: skip
        operands = [(place, held(stands), need) for place, stands, need in found]
        results = [_held(trace, first + i) for i in range(len(state.results))]
        given = [*enumerate(state.operands), *state.named.items()]
        save(record, state.operation.function, operands, results, given)


class _Gone:
    """Stands for a tensor that nobody holds any more: what it held, its record, and the tensor that
    it was a view of."""

    def __init__(self, lazy: Any, record: Any, root: Any) -> None:
        self.lazy, self.record, self.root = lazy, record, root


def _held(trace: Any, number: int) -> Any:
    """The tensor at a place, or what stands for it."""
    tensor = trace.result_of(number)
    if tensor is not None:
        return tensor
    for first, state in trace.entries:
        if first <= number < first + len(state.results):
            root = _held(trace, state.operands[0].number) if state.is_view else None
            return _Gone(trace.lazies[number], trace.records[number], root)
    raise AssertionError(f"place {number} is of no operation, and leaves are held")
