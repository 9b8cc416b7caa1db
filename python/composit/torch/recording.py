"""Operations that are added to a trace (composit/torch/steps.py): with nodes the first time, when
their results over placeholders are learnt, and without from then on."""

from __future__ import annotations

import functools
import weakref
from bisect import bisect_right
from collections.abc import Callable
from typing import Any

import composit._core as _core
from composit import structure
from composit._core import LazyTensor
from composit.torch import calling, dtypes, errstate, materializing, places, steps
from composit.torch.calling import TensorBase, is_recorded
from composit.torch.steps import State, Trace
from composit.torch.tape import is_grad_enabled

_traces: Any = _core.traces
_unknown = object()
site = _core.site
_default = dtypes._default


class Operation:
    """A function over LazyTensors, as traces keep it."""

    __slots__ = ("function", "is_view")

    def __init__(self, function: Callable[..., Any], is_view: bool) -> None:
        self.function, self.is_view = function, is_view

    def over(self, trace: Trace, state: State, lazies: Any) -> Any:
        """The function's result over the LazyTensors at the places."""
        view = self.is_view and lazies is trace.lazies
        operand = functools.partial(
            _traces.operand, trace, detached=state.detached, lazies=lazies, is_view=view
        )
        plain = [operand(value) for value in state.operands]
        options = dict(zip(state.named, map(operand, state.named.values())))
        result = _core.called_in_operation(self.function, *plain, **options)  # as call_now does
        result = places.joined(result, plain)
        if self.is_view:
            return calling.as_views(result, plain[0], state.sources is not None)
        if not isinstance(result, LazyTensor):
            return result
        is_shared = _traces.shares_memory(result, [*plain, *options.values()])
        return calling.of_its_own(result, state.sources is not None) if is_shared else result

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


_most_parts = 3  # that a line takes of tensors with values before they are no structure of traces
_parts: dict[Any, set[str]] = {}  # by function and line


def _is_one_of_many_parts(function: Any, line: int, args: Any, kwargs: Any) -> bool:
    """Whether a line takes one part after another of a tensor whose value is there, such as the
    batches of a data set: each would be another structure."""
    source = args[0] if args else None
    if not isinstance(source, TensorBase) or not source._has_lazy or is_recorded(source):
        return False
    if source._is_pending or not materializing.sees_values(source):
        return False
    if any(isinstance(value, TensorBase) for value in (*args[1:], *kwargs.values())):
        return False
    known = _parts.setdefault((function, line), set())
    if len(known) < _most_parts:
        known.add(repr((args[1:], kwargs)))
    return len(known) >= _most_parts


def recorded(
    trace: Trace, function: Callable[..., Any], name: str, is_view: bool, args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> Any:  # fmt: skip
    """The function's result over Tensors, as the trace's next operation."""
    given = (args, kwargs)
    line = site()
    if is_view and _is_one_of_many_parts(function, line, args, kwargs):
        return calling.call_now(function, name, is_view, args, kwargs)
    key: list[Any] = [function, is_grad_enabled(), _default[0], line]
    operands: list[Any] = []
    encode = trace.encode
    named: dict[str, Any] = {}
    is_encoded = True
    if kwargs:
        args, kwargs = calling.settled_arguments(args, kwargs)
        is_encoded = "out" not in kwargs
        for option, value in kwargs.items():
            key.append(option)
            made: list[Any] = []
            is_encoded = is_encoded and encode(value, key, made)
            named[option] = made[0] if made else None
    if is_encoded:
        key.append(None)
        for value in args:
            if not encode(value, key, operands):
                is_encoded = False
                break
    if not is_encoded:
        steps.interrupt()
        return calling.call_now(function, name, is_view, args, kwargs)
    whole = tuple(key)
    state: Any = trace.state.ways.get(whole, _unknown)
    if state is None or state is _unknown or trace.is_built:
        return _made_now(trace, whole, state, line, operands, named,
                         (function, name, is_view, args, kwargs), given)  # fmt: skip
    first = trace.add(state)
    return _traces.results_of(trace, state, first, args[0] if state.is_view else None)


calling.above.recorded = recorded


def _made_now(
    trace: Trace, key: Any, state: Any, line: int, operands: Any, named: Any, call: Any, given: Any
) -> Any:
    """The operation with nodes, and what is learnt of it."""
    trace.build()
    if state is None:
        trace.is_open = False
    try:
        result = calling.call_now(*call)
    except BaseException:
        trace.is_open = False
        raise
    if not trace.is_open or steps.open_trace() is not trace:
        trace.is_open = False
        return result
    parts = list(result) if isinstance(result, (list, tuple)) else [result]
    if state is _unknown:
        state = steps.learn(
            trace.state, key, (call[0], line),
            lambda: _learnt(trace, line, operands, named, call, result, parts),
        )  # fmt: skip
        if state is None:
            trace.is_open = False
            return result
        trace.state.patterns.append(_pattern(trace, call[0], line, given, state))
    first = trace.add(state)
    register(trace, first, parts)
    return result


def _pattern(trace: Trace, function: Any, line: int, given: Any, state: State) -> Any:
    """What the core recognises the operation by, from what it was called with."""
    arguments, named = _traces.checks_of(trace, trace.met(), *given)
    return _core.Pattern(function, is_grad_enabled(), _default[0], line, arguments, named, state)


def register(trace: Trace, first: int, parts: list[Any]) -> None:
    """Gives tensors that have nodes their places."""
    for i, tensor in enumerate(parts):
        tensor._mark, tensor._place = trace.mark, first + i
        trace.tensors.append(weakref.ref(tensor))
        trace.lazies.append(tensor._lazy)
        trace.records.append(tensor._record)


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


def _learnt(
    trace: Trace, line: int, operands: Any, named: Any, call: Any, result: Any, parts: list[Any]
) -> State | None:
    """The state after an operation; None where its result cannot be told from structure alone."""
    function, name, is_view, args, kwargs = call
    if is_view and not (args and isinstance(args[0], TensorBase)):
        return None
    is_view = is_view and all(getattr(part, "_root", None) is not None for part in parts)
    if not parts or not all(isinstance(part, TensorBase) for part in parts):
        return None
    found = structure.leaves((args, tuple(kwargs.values())), TensorBase)
    recorded_ones = [x for x in found if is_recorded(x)] if is_grad_enabled() else []
    state = steps.new_state()
    meet_leaves(trace, state)
    state.operation = operation_of(function, is_view)
    state.kind = None if isinstance(result, TensorBase) else type(result)
    state.is_view = is_view
    state.name = _core.record_name(name)
    if recorded_ones:
        state.sources = tuple(x._place for x in recorded_ones)
        state.saved = frozenset(x._place for x in found)
        state.detached = frozenset(x._place for x in found if x._is_tainted and not is_recorded(x))
    state.is_tainted = any(part._is_tainted for part in parts) and not recorded_ones
    state.operands, state.named = operands, named
    state.line = line
    symbols = Symbols(trace, state.stands)
    token = errstate.begin()
    try:
        made = state.operation.over(trace, state, symbols)
    except Exception:  # it asks for values: the operation runs at once, with its own errors
        return None
    finally:
        errstate.end(token)
    results = [made] if isinstance(made, LazyTensor) else list(made)
    if len(results) != len(parts):
        return None
    for symbol, part in zip(results, parts):
        if not isinstance(symbol, LazyTensor) or symbol.dtype != part._lazy.dtype:
            return None
        if symbol.shape != part._lazy.shape or symbol.is_weak:
            return None
    state.results = results
    state.floats = [symbol.dtype.kind in "fcV" for symbol in results]
    if recorded_ones:  # integers that an operation saves are its results
        first = len(trace.tensors)
        state.saved |= {first + i for i, is_float in enumerate(state.floats) if not is_float}
    return state
