"""axes= of the functions of vectors and matrices: which axes of operands and result those have."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import composit._core as _core
from composit._core import LazyTensor, type_error, value_error, with_location
from composit.numpy import _arguments

_c = _core.numpy
_Move = Callable[[LazyTensor], LazyTensor]


def on_axes(
    name: str, axes: Any, operands: Sequence[LazyTensor], counts: Sequence[int], result: int,
    keeps: bool = False,
) -> tuple[list[LazyTensor], _Move]:  # fmt: skip
    """The operands with the axes that `axes` names last, so many of each, and what puts the last
    axes of the result where `axes` has them. The result's may be left out if it has none, or if
    it keeps those of the operands with length 1."""
    if not isinstance(axes, list):
        raise type_error(f"{name}: axes is {axes!r}. axes should be a list.")
    may_lack = result == 0 or keeps
    if len(axes) != len(operands) + 1 and not (may_lack and len(axes) == len(operands)):
        raise value_error(
            f"{name}: axes should be a list with an entry for all {len(operands) + 1} inputs and "
            "outputs; entries for outputs can only be omitted if none of them has core axes."
        )
    last = list(range(-result, 0))
    entries = axes if len(axes) > len(operands) else [*axes, tuple(last)]
    named = [
        _entry(name, number, entry, count)
        for number, (entry, count) in enumerate(zip(entries, (*counts, result)))
    ]
    moved = [
        _c.moveaxis(x, _arguments.places_of(name, some, x.ndim), list(range(-len(some), 0)))
        for x, some in zip(operands, named)
    ]

    def put(made: LazyTensor) -> LazyTensor:
        return _c.moveaxis(made, last, _arguments.places_of(name, named[-1], made.ndim))

    return moved, put


def _entry(name: str, number: int, entry: Any, count: int) -> list[int]:
    """The axes of an entry of axes=, of which there must be so many."""
    what = f"{name}: axes item {number} is {entry!r}. "
    if not isinstance(entry, tuple):
        try:
            entry = (operator.index(entry),)
        except TypeError:
            raise type_error(what + "It should be a tuple.") from None
    if len(entry) != count:
        raise np.exceptions.AxisError(with_location(what + f"It has {count} core dimensions."))
    some = [_core.integer(axis) for axis in entry]
    if len(set(some)) != len(some):
        raise value_error(what + "One value is repeated.")
    return some
