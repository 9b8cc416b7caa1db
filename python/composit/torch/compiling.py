"""torch.compile: a function's graph is captured once for each kind of arguments, and then is one
operation; what cannot be captured runs as it is.

While it is captured, the function runs over tensors that stand for its arguments, as the first
operations of a trace (composit/torch/steps.py), and nothing is computed or written. Captured calls
do not run the function's Python: what it reads besides its arguments is watched
(composit/torch/guards.py), and a change of that captures it anew.
"""

from __future__ import annotations

import functools
import weakref
from collections.abc import Callable
from typing import Any

import composit._core as _core
from composit import numpy as cnp
from composit import structure
from composit._core import type_error, with_location
from composit.torch import calling, dtypes, guards, materializing, places, steps
from composit.torch.calling import TensorBase, is_recorded, record_of
from composit.torch.functions.random import default_generator
from composit.torch.nn.module import Module
from composit.torch.tape import is_grad_enabled

_most_kinds = 64  # of arguments of one function; further ones run as they are
_compiled: weakref.WeakSet[Compiled] = weakref.WeakSet()  # what reset() makes forget


class Unsupported(RuntimeError):
    """What torch.compile(..., fullgraph=True) raises where a function is not one graph."""


class _Unknown(Exception):
    """An argument or result that a graph cannot have."""


def _with(value: Any, tensors: Any) -> Any:
    """The structure with other tensors, taken in order."""
    return structure.mapped(value, lambda _: next(tensors), TensorBase)


def _stand_in(tensor: Any) -> Any:
    made = object.__new__(type(tensor))
    made._lazy = _core.constant(cnp.zeros(tuple(tensor.shape), tensor._seen.dtype).evaluated())
    places.put(made, places.place_of(tensor))
    made._is_leaf_with_grad = is_recorded(tensor)
    made._is_tainted = tensor._is_tainted
    return made


def _records(value: Any) -> list[Any]:
    """The records of the tensors in a result."""
    return [record_of(x) for x in structure.leaves(value, TensorBase)]


class _Graph:
    """What was captured for one kind of arguments."""

    def __init__(self, trace: Any, given: list[Any], result: Any, guarded: Any) -> None:
        self.guards = guarded
        places = {id(x): i for i, x in enumerate(given)}
        held = [trace.tensors[number] for number in trace.bound_places]
        # Of each input the argument's number, or the tensor that is none.
        self.sources = [places.get(id(x), x) for x in held]
        reached = {id(x) for x in _core.below(_records(result))[0]}
        self.is_cut = [is_recorded(x) and id(x) not in reached for x in held]
        self.result, outputs, self.detached = _core.parts_of_result(
            result, trace, given, trace.symbols(), _Unknown
        )
        inputs = trace.inputs()

        def graph(*lazies: Any) -> Any:
            return tuple(_core.substitute(outputs, inputs, list(lazies)))

        self.function, self.has_outputs = graph, bool(outputs)
        calling.pure.add(graph)

    def run(self, name: str, given: list[Any]) -> Any:
        """The result for other arguments of the kind."""
        results: list[Any] = []
        if self.has_outputs:
            operands = [given[x] if type(x) is int else x for x in self.sources]
            operands = [x.detach() if cut else x for x, cut in zip(operands, self.is_cut)]
            made = calling.call(self.function, name, False, tuple(operands), {})
            results = [x.detach() if cut and is_recorded(x) else x
                       for x, cut in zip(made, self.detached)]  # fmt: skip
        return _core.result_of_parts(self.result, results, given)


class _Observed:
    """Of one kind of arguments: a call that ran as it is, and did nothing that a graph does not."""

    def __init__(self, guarded: Any) -> None:
        self.guards = guarded


class Compiled:
    """A function, captured for each kind of arguments it was called with.

    The first call of a kind runs as it is and is observed. If it changed nothing that the function
    reads, wrote nothing, drew nothing and asked for no values, the second call captures. So what
    the function does besides its result is done once in each call."""

    def __init__(
        self, function: Callable[..., Any], fullgraph: bool, limit: int | None = None
    ) -> None:
        self.limit = _most_kinds if limit is None else limit
        self.function, self.fullgraph = function, fullgraph
        self.name = getattr(function, "__name__", type(function).__name__)
        self.graphs: dict[Any, _Graph | _Observed | None] = {}
        self.why = ""  # it runs as it is
        _compiled.add(self)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if steps.capturing[0] or not steps.open_thread() or is_disabled[0]:
            return self.function(*args, **kwargs)
        given: list[Any] = []
        try:
            key = (
                _core.kind_of_argument(args, given, _Unknown),
                _core.kind_of_argument(kwargs, given, _Unknown),
                is_grad_enabled(),
                dtypes._default[0],
                places.present_name(),
            )
            hash(key)
            known = self.graphs.get(key, self)
        except (_Unknown, TypeError) as error:
            return self._as_it_is(str(error), args, kwargs)
        if known is None:
            return self._as_it_is(self.why, args, kwargs)
        is_same = known is not self and known.guards.is_same()  # type: ignore[union-attr]
        if type(known) is _Graph and is_same:
            return known.run(self.name, given)
        if known is self and len(self.graphs) >= self.limit:
            return self._as_it_is("there are too many kinds of arguments", args, kwargs)
        if not self.fullgraph and not is_same:
            return self._observed(key, args, kwargs, given)
        graph = self.graphs[key] = self._captured(args, kwargs, given)
        if graph is None:
            return self._as_it_is(self.why, args, kwargs)
        return graph.run(self.name, given)

    def _observed(self, key: Any, args: Any, kwargs: Any, given: list[Any]) -> Any:
        """What the function gives as it is; whether the next call may be captured is noted."""
        self.graphs[key] = None
        try:
            guarded = guards.guards_of(self.function)
        except guards.Unguarded as error:
            self.why = str(error)
            return self.function(*args, **kwargs)
        materializing.materialize()
        steps.restart()
        trace = steps.current()
        state = default_generator._seed, default_generator._count
        held = [*guarded.tensors, *given]
        writes = [x._version for x in held]
        result = self.function(*args, **kwargs)
        if not trace.is_open or steps.current() is not trace:
            self.why = "an operation needs values, writes into tensors or takes gradients"
        elif (default_generator._seed, default_generator._count) != state:
            self.why = "it draws random numbers"
        elif [x._version for x in held] != writes:
            self.why = "it writes into tensors"
        elif not guarded.is_same():
            self.why = "it changes what it reads"
        else:
            self.graphs[key] = _Observed(guarded)
        return result

    def _as_it_is(self, why: str, args: Any, kwargs: Any) -> Any:
        if self.fullgraph:
            raise Unsupported(
                with_location(
                    f"compile: {self.name} is not one graph: {why}. Without fullgraph=True it runs "
                    "as it is."
                )
            )
        return self.function(*args, **kwargs)

    def _captured(self, args: Any, kwargs: Any, given: list[Any]) -> _Graph | None:
        try:
            guarded = guards.guards_of(self.function)
        except guards.Unguarded as error:
            self.why = str(error)
            return None
        materializing.materialize()
        state = default_generator._seed, default_generator._count
        stand_ins = [_stand_in(x) for x in given]
        tensors = iter(stand_ins)
        trace = steps.begin_capture()
        try:
            result = self.function(*_with(args, tensors), **_with(kwargs, tensors))
            if not trace.is_open or steps.current() is not trace:
                raise steps.NoCapture("an operation needs values, or is not known by its structure")
            if (default_generator._seed, default_generator._count) != state:
                raise steps.NoCapture("it draws random numbers")
            if not guarded.is_same():
                raise steps.NoCapture("it changes what it reads")
            return _Graph(trace, stand_ins, result, guarded)
        except (steps.NoCapture, _Unknown) as error:
            self.why = str(error)
        except Exception as error:  # it is raised again where the function runs as it is
            self.why = f"{type(error).__name__}: {error}"
        finally:
            default_generator._seed, default_generator._count = state
            steps.end_capture()
        return None


class OptimizedModule(Module):
    """A module whose calls are captured."""

    def __init__(self, module: Any, fullgraph: bool = False, limit: int | None = None) -> None:
        super().__init__()
        self._orig_mod = module
        self.training = module.training
        object.__setattr__(self, "_call", Compiled(module, fullgraph, limit))

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """The module's result."""
        return self._call(*args, **kwargs)

    def train(self, mode: bool = True) -> Any:
        """Into training, or out of it."""
        self.__dict__["training"] = mode
        self._orig_mod.train(mode)
        return self

    def __getattr__(self, name: str) -> Any:
        try:
            return super().__getattr__(name)
        except AttributeError:
            return getattr(self._modules["_orig_mod"], name)


is_disabled = [False]


def compile(
    model: Any = None, *, fullgraph: bool = False, dynamic: bool | None = None,
    backend: Any = "inductor", mode: str | None = None, options: Any = None,
    name: str | None = None, disable: bool = False, recompile_limit: int | None = None,
    isolate_recompiles: bool = False, shapes_spec: Any = None,
) -> Any:  # fmt: skip
    """The function or module, captured once for each kind of arguments (shapes, dtypes, numbers,
    what requires a gradient) and run as one operation of a program from then on.

    What asks for values, draws random numbers, writes into tensors, takes gradients or reads what
    cannot be watched runs as it is; with fullgraph=True that is an error, Unsupported. From the
    recompile_limit-th kind of arguments on it runs as it is (64). `dynamic`, `backend`, `mode`,
    `options` and the others change nothing: there is one compiler."""
    if model is None:
        return functools.partial(compile, fullgraph=fullgraph, disable=disable,
                                 recompile_limit=recompile_limit)  # fmt: skip
    if disable:
        return model
    if isinstance(model, Module):
        return OptimizedModule(model, fullgraph, recompile_limit)
    if not callable(model):
        raise type_error(f"compile: {model!r} is no function. A callable is required.")
    made = Compiled(model, fullgraph, recompile_limit)

    @functools.wraps(model)
    def compiled(*args: Any, **kwargs: Any) -> Any:
        return made(*args, **kwargs)

    compiled._compiled = made  # type: ignore[attr-defined]
    return compiled


Module._compiled = staticmethod(compile)


def is_compiling() -> bool:
    """Whether a function is being captured now."""
    return bool(steps.capturing[0])


def reset() -> None:
    """Forgets all that was captured."""
    for compiled in _compiled:
        compiled.graphs.clear()


def disable(fn: Any = None, recursive: bool = True, *, reason: str | None = None) -> Any:
    """The function, which is never part of a captured graph: functions that call it run as they
    are."""
    if fn is None:
        return disable

    @functools.wraps(fn)
    def plain(*args: Any, **kwargs: Any) -> Any:
        steps.check_not_capturing("it calls a function that is not to be compiled")
        return fn(*args, **kwargs)

    return plain
