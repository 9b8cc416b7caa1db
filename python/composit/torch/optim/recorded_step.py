"""An optimiser's step as the end of a trace (composit/torch/steps.py): one program computes what
lives, the new parameters and the new state."""

from __future__ import annotations

from typing import Any

import numpy as np

import composit._core as _core
from composit._core import LazyTensor
from composit.torch import dtypes, errstate, materializing, recording, steps, writing
from composit.torch.calling import TensorBase
from composit.torch.optim.parameter_state import ParameterState, counted, stored
from composit.torch.places import beside
from composit.torch.steps import State, Trace


def stepped(optimizer: Any) -> bool:
    """Does the step, where one of that structure was done before; False where it was not."""
    trace = steps.open_trace()
    if trace is None:
        return False
    arguments = _arguments(optimizer)
    if arguments is None:
        return False
    state: Any = _core.match_step(type(optimizer), arguments)
    if state is None:
        state = _known(trace, optimizer, arguments)
        if state is None:
            return False
    wanted = materializing.wanted_places(trace, False)
    if wanted is None:
        return False
    program = trace.program_of(wanted, state, state.numbers)
    if program is None:
        return False
    _run(trace, optimizer, state, wanted, program)
    return True


_nothing: dict[str, Any] = {}
_options = {float, int, bool, str, type(None), tuple}
_changing = {"params", "param_names", "lr", "initial_lr"}


def _arguments(optimizer: Any) -> tuple[Any, ...] | None:
    """All that the step depends on, but for numbers that are inputs of its program: options, and of
    each parameter itself, its gradient and its state."""
    found: list[Any] = []
    for group in optimizer.param_groups:
        for name, value in group.items():
            if name not in _changing:
                if type(value) not in _options:
                    return None
                found.append(name)
                found.append(value)
        found.append(type(group.get("lr")))
        for parameter in group["params"]:
            gradient = parameter._grad
            if gradient is None:
                found.append(None)
                continue
            if writing.has_twin(parameter):
                return None  # in memory of another tensor, whose gradients may go on
            found.append(parameter)
            found.append(gradient)
            state = optimizer.state.get(parameter)
            if state:
                if ParameterState.is_touched or type(state) is not ParameterState:
                    state = optimizer.state_of(parameter)
                for name, value in stored(state):
                    found.append(name)
                    if isinstance(value, TensorBase):
                        found.append(value)
    return tuple(found)


def _known(trace: Trace, optimizer: Any, arguments: tuple[Any, ...]) -> State | None:
    """The state after the step, found by its key; it is learnt where there is none, for the next
    step."""
    known = len(trace.symbols())
    key: list[Any] = [type(optimizer), dtypes._default[0], _core.site()]
    operands: list[Any] = []
    for value in arguments:
        if isinstance(value, type):
            key.append(value)
        elif not trace.encode(value, key, operands):
            return None
    whole = tuple(key)
    state = trace.state.ways.get(whole)
    if state is None:
        if whole not in trace.state.ways:
            state = steps.learn(
                trace.state, whole, type(optimizer), lambda: _learnt(trace, optimizer)
            )
            if state is not None:
                check = recording.Checks(trace, known).of
                checks = tuple(check(value) for value in arguments)
                trace.state.patterns.append(
                    _core.Pattern(type(optimizer), False, key[1], key[2], checks, {}, state)
                )
        return None
    return None if trace.is_built else state


def _of_optimizer(optimizer: Any) -> Any:
    """(group, parameter) of all parameters that have gradients."""
    for group in optimizer.param_groups:
        for parameter in group["params"]:
            if parameter._grad is not None:
                yield group, parameter


def _learnt(trace: Trace, optimizer: Any) -> State | None:
    """The step over placeholders; None where its next one is made otherwise."""
    state = steps.new_state()
    recording.meet_leaves(trace, state)
    symbols = trace.symbols() + state.stands
    for group, parameter in _of_optimizer(optimizer):
        held = optimizer.state.get(parameter, _nothing)
        x, gradient = symbols[parameter._place], symbols[parameter._grad._place]
        lazy = {
            name: symbols[value._place] if isinstance(value, TensorBase) else value
            for name, value in stored(held)
        }
        if gradient.dtype != x.dtype or x.dtype.kind not in "fV":
            return None
        numbers = optimizer.numbers(dict(lazy), group)
        if numbers is None or not all(type(value) in (float, int) for value in numbers.values()):
            return None
        named = dict(group)
        for name in numbers:
            named[name] = _core.input(name, x.dtype, ())
            state.numbers.append(named[name])
        token = errstate.begin()
        try:
            updated = optimizer.update(x, gradient, lazy, named)
        finally:
            errstate.end(token)
        state.results.append(beside(updated, x))
        state.targets.append(parameter._place)
        for name, value in lazy.items():
            if not isinstance(value, LazyTensor):
                continue
            if not isinstance(dict.get(held, name), TensorBase):
                return None  # it is made by this step
            state.results.append(beside(value, x))
            state.targets.append(held[name]._place)
    if any(number not in trace.bound_places for number in state.targets):
        return None  # an operation of this trace made it
    state.leaves = [trace.bound_places.index(number) for number in state.targets]
    return state


def _constant(value: float, dtype: Any) -> LazyTensor:
    found = _constants.get((value, dtype))
    if found is None:
        if len(_constants) > _most_constants:
            _constants.clear()
        found = _core.constant(np.array(value, dtype), "", False)
        _constants[(value, dtype)] = found
    return found


_constants: dict[Any, LazyTensor] = {}
# More than a step has; a constant takes about 2 KiB, and Adam makes two new ones in each step.
_most_constants = 64


def _run(trace: Trace, optimizer: Any, state: State, wanted: Any, program: Any) -> None:
    numbers = _numbers(optimizer, state)
    values = program.run(trace.bound + numbers)
    trace.is_open = False
    _core.write_step(trace, values, len(wanted), state.targets, state.leaves)
    materializing.set_values(trace, wanted, values)
    if optimizer.counts_apart:
        for _, parameter in _of_optimizer(optimizer):
            counted(optimizer.state[parameter])
    if ParameterState.is_touched:
        for _, parameter in _of_optimizer(optimizer):
            if parameter in optimizer.state:
                optimizer.state[parameter].give_numbers()
    steps.restart()


def _numbers(optimizer: Any, state: State) -> list[LazyTensor]:
    """The step's own numbers, as constants."""
    is_of_groups = optimizer.numbers_are_of_groups
    given = [
        optimizer.numbers(of if is_of_groups else optimizer.state.get(of, _nothing), group)
        for group, of in (
            ((group, _nothing) for group in optimizer.param_groups)
            if is_of_groups
            else _of_optimizer(optimizer)
        )
    ]
    if is_of_groups:
        if state.given == given:
            return state.constants
        counts = [
            sum(x._grad is not None for x in group["params"]) for group in optimizer.param_groups
        ]
        state.given = given
        given = [numbers for numbers, count in zip(given, counts) for _ in range(count)]
    values = [value for numbers in given for value in numbers.values()]
    state.constants = [_constant(x, to.dtype) for x, to in zip(values, state.numbers)]
    return state.constants
