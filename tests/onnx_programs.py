"""ONNX's backend cases as programs: many of them compiled as one function, or exported as one
source of plain C++ (plain_batches)."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import onnx_backend
from plain_exports import leaves

import composit
import composit.onnx


class Call(NamedTuple):
    """One call of a case's model: a function of the inputs that are given, to which those whose
    values decide shapes do not belong."""

    case: str
    name: str
    function: Any
    inputs: list[Any]

    def expected(self) -> list[np.ndarray]:
        """The interpreter's results."""
        return leaves(onnx_backend.values_of(self.function(*self.inputs)))


def calls_of(name: str) -> list[Call]:
    """The calls of the case of that name."""
    case = onnx_backend.node_cases()[name]
    model = composit.onnx.load(case.model)
    found = []
    for number, (inputs, _) in enumerate(onnx_backend.expected(case)):
        given = [_in_carrier(value) for value in inputs]
        deciding = set(model.deciding_inputs(*given))
        free = [i for i, info in enumerate(model.inputs[: len(given)]) if info.name not in deciding]
        function = functools.partial(_called, model, given, free)
        found.append(Call(name, f"{name}, call {number}", function, [given[i] for i in free]))
    return found


def _called(model: Any, given: list[Any], free: list[int], *values: Any) -> Any:
    every = list(given)
    for place, value in zip(free, values, strict=True):
        every[place] = value
    return model(*every)


def _in_carrier(value: Any) -> Any:
    """Types that composit has no dtype for are held in wider ones."""
    if isinstance(value, np.ndarray) and value.dtype.name in onnx_backend.CARRIERS:
        return value.astype(onnx_backend.CARRIERS[value.dtype.name])
    return value


def compiled(calls: Sequence[Call]) -> list[list[np.ndarray]]:
    """The results of the calls as one compiled function."""

    def together(*inputs: Any) -> Any:
        return tuple(call.function(*part) for call, part in zip(calls, inputs, strict=True))

    every = [call.inputs for call in calls]
    return [leaves(each) for each in composit.compile(together, *every, name="cases")(*every)]
