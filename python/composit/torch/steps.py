"""Steps by structure: operations that were met before, in the same order, make no nodes.

Operations between two evaluations form a *trace*. Each leads from one `State` to the next, found by
what it is, which operands it has, and the line that calls it (decisions/0020). Where the states are
known, results are tensors without nodes; an evaluation then runs the program that belongs to the
state, from the leaves' values. Whatever needs a node has all of the trace's made (`Trace.build`).
"""

from __future__ import annotations

import os
import threading
from typing import Any

import composit._core as _core
from composit._core import LazyTensor
from composit.evaluation import _threads, _usual_options
from composit.torch import dtypes, saved_values

_traces: Any = _core.traces
compile_after = [int(os.environ.get("COMPOSIT_TORCH_COMPILE_AFTER", "1000"))]  # runs; 0: never
_most_kernels = 100  # of programs that are compiled: larger ones take a compiler long
_most_places = 10_000  # of a trace; what follows is not recorded
_most_ways = 32  # from one state by one call: what differs each time is not worth keeping
_most_states = 5_000  # of all; then they are learnt anew
_owner = [threading.get_ident()]  # other threads make their nodes at once


class Place:
    """Stands for a tensor of the trace, by number, in keys and among operands."""

    __slots__ = ("number",)

    def __init__(self, number: int) -> None:
        self.number = number


_places = [Place(number) for number in range(20_000)]


def place(number: int) -> Place:
    """The place of that number; one object for all traces."""
    return _places[number]


class _Parts:
    """What composit/torch/calling.py, which needs this file, puts here."""

    materializing: Any


parts = _Parts()


# Elements between neighbours along each axis of a LazyTensor, where that is not row-major.
strides_of = _traces.strides_of
leaf_type = _core.leaf_type


class State(_core.StateFields):
    """What is known of traces that came this far: the last operation, and its results made over
    placeholders."""

    __slots__ = (
        "constants",
        "counts",
        "detached",
        "floats",
        "freed",
        "given",
        "inputs",
        "is_tainted",
        "kind",
        "leaves",
        "line",
        "name",
        "named",
        "numbers",
        "operands",
        "operation",
        "programs",
        "sources",
        "stands",
        "targets",
        "ways",
    )  # fmt: skip

    def __init__(self) -> None:
        self.ways: dict[Any, State | None] = {}  # None: that operation is not recorded
        self.counts: dict[Any, int] = {}  # of ways, by their operation and line
        self.programs: dict[Any, Any] = {}  # by which results are wanted
        self.inputs: list[LazyTensor] = []  # placeholders of the leaves that it met first
        self.stands: list[LazyTensor] = []  # the same on the devices where those lie
        self.results: list[LazyTensor] = []
        self.kind: Any = None  # of several results: their tuple's class
        self.name = ""
        self.sources: tuple[int, ...] | None = None  # operands through which gradients go
        self.saved: frozenset[int] = frozenset()  # all operands, where gradients go through one
        self.detached: frozenset[int] = frozenset()  # operands through which none may go
        self.is_tainted = self.is_view = False
        self.is_gradient = False  # it is a backward
        self.floats: list[bool] = []  # of each result, whether a gradient can go through it
        self.leaves: list[int] = []  # of a backward: those that get the results as gradients
        self.freed: list[int] = []  # of a backward: places whose records it frees
        self.operation: Any = None
        self.operands: Any = ()
        self.named: dict[str, Any] = {}
        self.line = 0
        self.patterns: list[Any] = []  # ways as the core follows them
        self.targets: list[int] = []  # of an optimiser's step: what the results are written to
        self.numbers: list[Any] = []  # of an optimiser's step: placeholders of its numbers
        self.given: Any = None  # of an optimiser's step: its numbers the last time
        self.constants: list[Any] = []  # of an optimiser's step: the same as constants


_roots: dict[Any, State] = {}
_count = [0]


def learn(state: State, key: Any, call: Any, make: Any) -> State | None:
    """The way from a state that `make` makes, and keeps it; None where there is none, or there are
    too many of that call's already."""
    count = state.counts.get(call, 0)
    if count >= _most_ways:
        return None
    state.counts[call] = count + 1
    made = state.ways[key] = make()
    return made


def new_state() -> State:
    """One more."""
    _count[0] += 1
    return State()


def forget() -> None:
    """Drops all that was learnt."""
    _roots.clear()
    _count[0] = 0
    restart()


class Program(_core.ProgramFields):
    """A state's program. One that runs again and again is compiled by the C++ back end meanwhile,
    which gives the same bits."""

    __slots__ = ()

    def __init__(self, inputs: list[LazyTensor], outputs: list[LazyTensor]) -> None:
        self.inputs, self.outputs = inputs, outputs
        self.core = _core.Compiled("step", inputs, outputs, _usual_options())

    def run(self, leaves: list[LazyTensor]) -> list[LazyTensor]:
        """The outputs' values as constants, from constants of the inputs."""
        return _core.run_program(self, leaves)

    def compile(self) -> None:
        """It ran compile_after[0] times."""
        if len(self.core.placements) <= _most_kernels:
            threading.Thread(target=self._compile, name="composit.torch: a step's compiler").start()

    def _compile(self) -> None:
        try:
            self.core = _core.compiled_step(self.inputs, self.outputs, self.core.options.threads)
        except (RuntimeError, ValueError, OSError):  # no compiler: it goes on as it is
            self.runs += 1


class Trace(_core.TraceFields):
    """The operations since the last evaluation: Trace(root) begins in that state."""

    __slots__ = ()
    state: State
    mark: int  # its tensors have it, and know their places by it
    is_built: bool  # its operations are made as nodes at once
    is_open: bool  # operations may be added
    tensors: list[Any]  # by place: leaves, and weak references to results
    lazies: list[Any]  # by place, once they are built
    records: list[Any]  # by place
    entries: list[Any]  # (place of the first result, state after the operation)
    bound: list[LazyTensor]  # what the leaves hold
    bound_places: list[int]

    def inputs(self) -> list[LazyTensor]:
        """Placeholders of the leaves, in order."""
        return _traces.inputs(self)

    def symbols(self) -> list[LazyTensor]:
        """By place: over the placeholders."""
        return _traces.symbols(self)

    def met(self) -> int:
        """How many places the operations have; those behind them are of leaves of the next one."""
        if not self.entries:
            return 0
        first, state = self.entries[-1]
        return first + len(state.results)

    def result_of(self, number: int) -> Any:
        """The tensor at a place, if it lives."""
        return _traces.result_at(self, number)

    def build(self) -> None:
        """Makes the nodes of all operations, as if it had been done at once."""
        _traces.build(self)

    # ----- adding to it

    def encode(self, value: Any, key: list[Any], operands: list[Any]) -> bool:
        """Adds an operand to the key, and as a place or itself to the operands; False where that is
        not possible."""
        return _traces.encode(self, value, key, operands)

    def add(self, state: State) -> int:
        """Adds the operation that leads to a state, and returns the place of its first result."""
        first = len(self.tensors)
        self.entries.append((first, state))
        self.state = state
        if first > _most_places:
            self.is_open = False
        return first


_current: list[Trace] = []


def _value_of_leaf(tensor: Any) -> LazyTensor:
    """The constant of what a tensor holds, which is computed from something else now."""
    if not parts.materializing.sees_values(tensor):
        parts.materializing.materialize(tensor)
    constant: Any = _core.materialized(tensor._lazy, _usual_options())
    return constant


def _without_gradient(lazy: LazyTensor) -> LazyTensor:
    from composit import nn

    return nn.stop_gradient(lazy)


_core.provide("leaf_value", _value_of_leaf)
_core.provide("stop_gradient", _without_gradient)
_core.provide("save_of_trace", saved_values.save_of_trace)
_core.provide("trace_place", Place)
_core.provide("trace_program", Program)
_core.provide("trace_root", State)
_core.provide("usual_options", _usual_options)
_core.provide("place_of_number", place)
_core.provide("most_places", len(_places))
_core.provide("torch_dtype", dtypes.dtype)


def current() -> Trace:
    """The trace of now."""
    return _current[0]


def open_trace() -> Trace | None:
    """The trace that operations are added to, if there is one."""
    trace = _current[0]
    return trace if trace.is_open and threading.get_ident() == _owner[0] else None


class NoCapture(Exception):
    """What is captured (composit/torch/compiling.py) does what no graph does."""


capturing: list[bool] = [False]


def check_not_capturing(why: str) -> None:
    """NoCapture while a function is captured."""
    if capturing[0]:
        raise NoCapture(why)


def begin_capture() -> Trace:
    """A trace of its own begins, in which nothing is computed or written."""
    capturing[0] = True
    _current[:] = [Trace(State())]
    return _current[0]


def end_capture() -> None:
    """Operations are recorded as before."""
    capturing[0] = False
    restart()


def open_thread() -> bool:
    """Whether operations of this thread are recorded."""
    return threading.get_ident() == _owner[0]


def record_in(thread: int) -> int:
    """Operations of the thread of that number are recorded from now on; returns the one before."""
    before, _owner[0] = _owner[0], thread
    _core.follow_thread(thread)
    restart()
    return before


# A new trace begins.
restart = _traces.restart


def world() -> dict[str, Any]:
    """What the bindings need of this file, by name."""
    return {
        "current": _current, "trace": Trace, "roots": _roots, "count": _count,
        "most_states": _most_states, "capturing": capturing, "threads": _threads,
        "compile_after": compile_after, "interrupt": interrupt,
    }  # fmt: skip


def interrupt() -> None:
    """What happens now is no part of traces: it waits for no values, and nothing is added until the
    next evaluation."""
    check_not_capturing("it writes into tensors, or takes gradients")
    trace = _current[0]
    if trace.tensors:
        trace.build()
        trace.is_open = False


_core.provide("record_in_thread", record_in)
_core.follow_thread(_owner[0])
_roots[""] = State()
_current.append(Trace(_roots[""]))
