"""Functions and tensors as graphs whose inputs and outputs have names: what is written for other
programs."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

import composit._core as _core
from composit._core import LazyTensor, type_error, value_error
from composit.evaluation import check_function
from composit.numpy.creation import asarray
from composit.structure import distinct_names_of, flatten, names_of

Named = list[tuple[str, LazyTensor]]


def named_graph(
    function: str,
    source: Any,
    examples: tuple[Any, ...],
    input_names: Sequence[str] | None,
    output_names: Sequence[str] | None,
) -> tuple[Named, Named]:
    """The tensors of `source`, a function of examples or tensors, and its placeholders, with their
    names. Errors are those of `function`.

    A function is called with placeholders of the examples' shapes and dtypes. Names are those of
    parameters, keys of dictionaries and tensors, unless they are given."""
    inputs: Named = []
    if callable(source) and not isinstance(source, LazyTensor):
        check_function(function, source)
        leaves, rebuild = flatten(examples)
        names = _given(function, "input", input_names, _parameters(source, examples), len(leaves))
        arrays = [asarray(leaf) for leaf in leaves]
        inputs = [
            (name, _core.input(name, array.dtype, tuple(array.shape)))
            for name, array in zip(names, arrays)
        ]
        result = source(*rebuild([tensor for _, tensor in inputs]))
    elif examples:
        raise type_error(f"{function}: examples are given for tensors. A function is required.")
    else:
        result = source
    tensors, _ = flatten(result)
    names = _given(function, "output", output_names, distinct_names_of(result), len(tensors))
    return [(name, asarray(each)) for name, each in zip(names, tensors)], inputs


def _parameters(source: Callable[..., Any], examples: tuple[Any, ...]) -> list[str]:
    """The name of each leaf of the examples: the parameter's, then the way to the leaf."""
    try:
        parameters = list(inspect.signature(source).parameters)
    except (TypeError, ValueError):
        parameters = []
    named = dict(zip(parameters, examples))
    rest = {f"x{place}": each for place, each in enumerate(examples[len(named) :])}
    return names_of({**named, **rest})


def _given(
    function: str, kind: str, given: Sequence[str] | None, found: list[str], count: int
) -> list[str]:
    names = found if given is None else list(given)
    if len(names) != count:
        raise value_error(
            f"{function}: {len(names)} {kind} names are given for {count} {kind}s. One for each is "
            "required."
        )
    return [name or f"{kind}_{place}" for place, name in enumerate(names)]
