"""An optimiser's step as the end of a trace (composit/torch/steps.py): one program computes what
lives, the new parameters and the new state."""

from __future__ import annotations

from typing import Any

import numpy as np

from composit import _core
from composit._core import LazyTensor
from composit.torch import dtypes, quiet, recording, settling, steps
from composit.torch.calling import TensorBase
from composit.torch.steps import State, Trace


def stepped(optimizer: Any) -> bool:
    """Does the step, where one of that structure was done before; False where it was not."""
    trace = steps.open_trace()
    if trace is None:
        return False
    key: list[Any] = [type(optimizer), dtypes._default[0]]
    places: list[Any] = []  # of each parameter: its own, its gradient's, its state's
    for group in optimizer.param_groups:
        if not _enter_options(group, key):
            return False
        for parameter in group["params"]:
            gradient = parameter._grad
            if gradient is None:
                key.append(None)
                continue
            entered: list[Any] = []
            if not (trace.encode(parameter, key, entered) and trace.encode(gradient, key, entered)):
                return False
            for name, value in optimizer.state.get(parameter, _nothing).items():
                key.append(name)
                if isinstance(value, TensorBase) and not trace.encode(value, key, entered):
                    return False
            places.append(entered)
    whole = tuple(key)
    state = trace.state.ways.get(whole)
    if state is None:
        if whole not in trace.state.ways:
            steps.learn(trace.state, whole, type(optimizer),
                        lambda: _learnt(trace, optimizer, places))  # fmt: skip
        return False
    if trace.is_built:
        return False
    wanted = settling.wanted_places(trace, False)
    if wanted is None:
        return False
    program = trace.program_of(wanted, state, [x for x, _ in state.numbers])
    if program is None:
        return False
    _run(trace, optimizer, state, wanted, program)
    return True


_nothing: dict[str, Any] = {}
_options = (float, int, bool, str, type(None), tuple)


def _enter_options(group: dict[str, Any], key: list[Any]) -> bool:
    for name, value in group.items():
        if name == "params" or name == "lr" or name == "initial_lr":
            continue
        if type(value) not in _options:
            return False
        key.append(name)
        key.append(value)
        key.append(type(value))
    key.append(type(group["lr"]) if "lr" in group else None)
    return True


def _of_optimizer(optimizer: Any) -> Any:
    """(group, parameter) of all parameters that have gradients."""
    for group in optimizer.param_groups:
        for parameter in group["params"]:
            if parameter._grad is not None:
                yield group, parameter


def _learnt(trace: Trace, optimizer: Any, places: list[Any]) -> State | None:
    """The step over placeholders; None where its next one is made otherwise."""
    state = steps.new_state()
    state.inputs = recording.new_inputs(trace)
    symbols = trace.symbols() + state.inputs
    for (group, parameter), entered in zip(_of_optimizer(optimizer), places):
        held = optimizer.state.get(parameter, _nothing)
        x, gradient, *rest = [symbols[stands.number] for stands in entered]
        tensors = iter(rest)
        lazy = {
            name: next(tensors) if isinstance(value, TensorBase) else value
            for name, value in held.items()
        }
        if gradient.dtype != x.dtype or x.dtype.kind not in "fV":
            return None
        numbers = optimizer.numbers(dict(lazy), group)
        if numbers is None:
            return None
        named = dict(group)
        for name in numbers:
            named[name] = _core.input(name, x.dtype, ())
            state.numbers.append((named[name], (name, x.dtype)))
        token = quiet.begin()
        try:
            updated = optimizer.update(x, gradient, lazy, named)
        finally:
            quiet.end(token)
        state.results.append(updated)
        targets = [entered[0].number]
        at = iter(entered[2:])
        for name, value in lazy.items():
            if not isinstance(value, LazyTensor):
                continue
            if not isinstance(held.get(name), TensorBase):
                return None  # it is made by this step
            state.results.append(value)
            targets.append(next(at).number)
        state.targets += targets
    return state


def _constant(value: float, dtype: Any) -> LazyTensor:
    found = _constants.get((value, dtype))
    if found is None:
        if len(_constants) > 1000:
            _constants.clear()
        found = _core.constant(np.array(value, dtype), "", False)
        _constants[(value, dtype)] = found
    return found


_constants: dict[Any, LazyTensor] = {}


def _run(trace: Trace, optimizer: Any, state: State, wanted: Any, program: Any) -> None:
    numbers = []
    taken = iter(state.numbers)
    for group, parameter in _of_optimizer(optimizer):
        given = optimizer.numbers(optimizer.state.get(parameter, _nothing), group)
        for value in given.values():
            numbers.append(_constant(value, next(taken)[1][1]))
    values = _core.run_step(program, trace.bound + numbers)
    trace.is_open = False
    count = len(wanted)
    at = {number: i for i, number in enumerate(trace.bound_places)}
    for number in state.targets:
        # Gradients that are asked for later are of what was there before.
        trace.bound[at[number]] = trace.bound[at[number]].copied()
    for i, number in enumerate(state.targets):
        tensor = trace.tensors[number]
        tensor._lazy.replaced(values[count + i])
        tensor._version += 1
    settling.set_values(trace, wanted, values)
    steps.restart()
