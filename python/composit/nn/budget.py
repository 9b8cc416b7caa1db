"""compile_within: layers are computed again for gradients where a budget of memory asks for it."""

from __future__ import annotations

import contextvars
from collections.abc import Callable
from typing import Any

import numpy as np

import composit._core as _core
from composit._core import value_error
from composit.compilation import CompiledFunction, compile
from composit.evaluation import check_function


class Choice:
    """Which calls of layers that may be computed again are, by the order in which they are made;
    and what each one keeps from the forward pass to the backward pass where it is not."""

    def __init__(self, again: frozenset[int] | None) -> None:
        """`again` None: all calls."""
        self.again = again
        self.calls = 0
        self.kept: dict[int, int] = {}

    def takes(self) -> tuple[int, bool]:
        """The number of the call that is made now, and whether it is computed again."""
        number, self.calls = self.calls, self.calls + 1
        return number, self.again is None or number in self.again


_choice: contextvars.ContextVar[Choice | None] = contextvars.ContextVar("choice", default=None)


def current_choice() -> Choice | None:
    """Of the compile_within that traces on this thread."""
    return _choice.get()


def bytes_within(tensor: Any) -> int:
    """Of everything that the body of a call computes, of which the tensor is a result."""
    return _core.nn.bytes_within(tensor)


def _with(choice: Choice, function: Callable[..., Any]) -> Callable[..., Any]:
    """The function, traced with the choice."""

    def chosen(*arguments: Any, **options: Any) -> Any:
        choice.calls = 0
        token = _choice.set(choice)
        try:
            return function(*arguments, **options)
        finally:
            _choice.reset(token)

    chosen.__name__ = str(getattr(function, "__name__", "f"))
    return chosen


def planned_bytes(compiled: CompiledFunction) -> int:
    """Of the temporaries and the results of the latest specialisation."""
    program = compiled._latest.program  # type: ignore[union-attr]
    results = {number: program.buffers[number].bytes for number in program.outputs}
    return int(program.arena_bytes) + sum(results.values())


def compile_within(
    memory: int, function: Callable[..., Any], *examples: Any, **options: Any
) -> CompiledFunction:
    """composit.compile of the function for these examples, whose temporaries and results are
    planned to take at most `memory` bytes: arguments and constants, which the caller holds, are
    not counted. `options` are compile's.

    As few calls of layers made by remat(layer, when_needed=True) as that takes are computed again
    for the gradients, those that keep most first, the earliest of equal ones. The bits are those
    without. MemoryError, with what is reached, where all of them are not enough."""
    if isinstance(memory, bool) or not isinstance(memory, (int, np.integer)) or memory < 0:
        raise value_error(
            f"compile_within: memory is {memory!r}. A number of bytes, an integer from 0, is "
            "required."
        )
    check_function("compile_within", function)
    if not examples:
        raise value_error(
            "compile_within: no examples are given. Arguments of the shapes and dtypes that "
            "the function is to be called with are required."
        )
    planning = {k: v for k, v in options.items() if k in ("fuse", "reuse_buffers", "donate")}
    results: list[CompiledFunction] = []

    def choice_of(again: list[int] | None) -> Choice:
        return Choice(None if again is None else frozenset(again))

    def planned(again: list[int] | None) -> tuple[int, dict[int, int]]:
        choice = choice_of(again)
        program = compile(_with(choice, function), *examples, backend="interpreter", **planning)
        return planned_bytes(program), choice.kept

    def compiled(again: list[int] | None) -> int:
        results.append(compile(_with(choice_of(again), function), *examples, **options))
        return planned_bytes(results[-1])

    calls = "remat(…, when_needed=True)"
    _core.nn.choose_within(min(int(memory), 2**62), planned, compiled, calls)
    return results[-1]
