"""remat: a function that is computed again for its gradients, and keeps nothing until then."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

import composit._core as _core
from composit._core import LazyTensor
from composit.evaluation import as_tensor, check_function
from composit.functional import _Traced
from composit.nn.budget import bytes_within, current_choice
from composit.structure import flatten

_Function = TypeVar("_Function", bound=Callable[..., Any])


def remat(function: _Function, *, when_needed: bool = False) -> _Function:
    """The function as one node, whose gradients compute it again from its arguments and from what
    it captures: between the forward and the backward pass no memory is taken by what lies within.

    Values are the same, to the bit; a backward pass takes as much longer as the function takes.
    Tensors and arrays among the arguments, in nested tuples, lists and dictionaries, are traced;
    anything else reaches the function as it is. Works as a decorator (jax.checkpoint).

    `when_needed`: only where compile_within finds that its memory asks for it; elsewhere the
    function is as it was."""
    check_function("remat", function)
    name = getattr(function, "__name__", "remat")

    @functools.wraps(function)
    def computed_again(*args: Any, **options: Any) -> Any:
        choice = current_choice() if when_needed else None
        number, is_chosen = choice.takes() if choice else (0, not when_needed)
        if not is_chosen:
            return function(*args, **options)
        leaves, rebuild = flatten((args, options))
        places = [
            place
            for place, leaf in enumerate(leaves)
            if isinstance(leaf, (LazyTensor, np.ndarray, np.generic))
        ]

        def filled(tensors: list[Any]) -> Any:
            everything = list(leaves)
            for place, tensor in zip(places, tensors):
                everything[place] = tensor
            return rebuild(everything)

        def call(arguments: Any, options: Any) -> Any:
            return function(*arguments, **options)

        call.__name__ = name
        traced = _Traced("remat", call, filled, {})
        arguments = [as_tensor(leaves[place]) for place in places]
        results = _core.nn.remat(traced, arguments, "remat" if name == "<lambda>" else name)
        if choice:
            choice.kept[number] = bytes_within(results[0])
        return traced.rebuild_result(results)

    return computed_again  # type: ignore[return-value]
