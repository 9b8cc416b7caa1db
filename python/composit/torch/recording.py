"""Operations that are added to a trace (composit/torch/steps.py): with nodes the first time, when
their results over placeholders are learnt, and without from then on."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from typing import Any

import composit._core as _core
from composit._core import LazyTensor
from composit.torch import calling, errstate, steps
from composit.torch.steps import State, Trace

_traces: Any = _core.traces


class Operation:
    """A function over LazyTensors, as traces keep it."""

    __slots__ = ("function", "is_view")

    def __init__(self, function: Callable[..., Any], is_view: bool) -> None:
        self.function, self.is_view = function, is_view

    def over(self, trace: Trace, state: State, lazies: Any) -> Any:
        """The function's result over the LazyTensors at the places."""
        return _core.operation_over(self, trace, state, lazies)

    def replay(self, trace: Trace, state: State) -> list[LazyTensor]:
        """The results, made from the trace's nodes."""
        result = self.over(trace, state, trace.lazies)
        return [result] if isinstance(result, LazyTensor) else list(result)


_operations: dict[Any, Operation] = {}


def operation_of(function: Callable[..., Any], is_view: bool) -> Operation:
    """The operation of a function; one object."""
    found = _operations.get((function, is_view))
    if found is None:
        found = _operations[(function, is_view)] = Operation(function, is_view)
    return found


# What the leaf at a place of a trace holds.
leaf_at = _traces.leaf_at


def meet_leaves(trace: Trace, state: State) -> None:
    """Gives the state placeholders for the leaves that no state has met."""
    for number in range(trace.met(), len(trace.tensors)):
        lazy = leaf_at(trace, number)
        made, stands = _core.input_like(f"x{number}", lazy)
        strides = steps.strides_of(lazy)
        state.inputs.append(made)
        state.stands.append(stands if strides is None else _core.laid_out(stands, strides))


def _first_place(entry: tuple[int, State]) -> int:
    return entry[0] - len(entry[1].inputs)


class Symbols:
    """A trace's symbols, then a next operation's inputs, by place. Each is looked up: a list of all
    for every operation that is learnt would take longer and longer."""

    __slots__ = ("_entries", "_inputs", "_met")

    def __init__(self, trace: Trace, inputs: list[LazyTensor]) -> None:
        self._entries, self._inputs, self._met = trace.entries, inputs, trace.met()

    def __getitem__(self, number: int) -> LazyTensor:
        if number >= self._met:
            return self._inputs[number - self._met]
        entry = self._entries[bisect_right(self._entries, number, key=_first_place) - 1]
        first, state = entry
        return state.results[number - first] if number >= first else state.stands[number - first]


_core.provide("call_now", calling.call_now)
_core.provide("operation_of", operation_of)
_core.provide("new_trace_state", steps.new_state)
_core.provide("learn_way", steps.learn)
_core.provide("meet_leaves", meet_leaves)
_core.provide("trace_symbols", Symbols)
_core.provide("ignore_errors", errstate.begin)
_core.provide("end_of_ignored_errors", errstate.end)
