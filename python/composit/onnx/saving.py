"""save and model_bytes: functions and tensors as models in ONNX's format."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Sequence
from typing import Any

import composit._core as _core
from composit._core import LazyTensor, type_error, value_error
from composit.evaluation import check_function
from composit.numpy.creation import asarray
from composit.structure import distinct_names_of, flatten, names_of

_Named = list[tuple[str, LazyTensor]]


def save(
    path: str | os.PathLike[str],
    source: Any,
    *examples: Any,
    opset: int | None = None,
    input_names: Sequence[str] | None = None,
    output_names: Sequence[str] | None = None,
) -> None:
    """Writes a model in ONNX's format, which is there as a whole or not at all.

    `source` is a function, called with placeholders of the examples' shapes and dtypes, or tensors:
    one, or a tuple, list or dictionary of them, whose placeholders become the model's inputs.
    Constants become initializers. `opset` is a version of ONNX's operators from 18 on; by default
    the least that has all that are used. Names are those of parameters, placeholders, keys of
    dictionaries and tensors, unless they are given.

    NotImplementedError, with the line, for what ONNX has no operator for: complex numbers,
    factorisations of matrices, functions of users, or what the opset asked for does not have.
    ValueError for numbers of names that do not fit; OSError where the file cannot be written."""
    outputs, inputs = _traced(source, examples, input_names, output_names)
    _core.onnx.save(os.fspath(path), outputs, inputs, _checked(opset))


def model_bytes(
    source: Any,
    *examples: Any,
    opset: int | None = None,
    input_names: Sequence[str] | None = None,
    output_names: Sequence[str] | None = None,
) -> bytes:
    """The bytes that `save` writes into a file."""
    outputs, inputs = _traced(source, examples, input_names, output_names)
    return _core.onnx.model_bytes(outputs, inputs, _checked(opset))


def _checked(opset: int | None) -> int:
    if opset is None:
        return 0
    if isinstance(opset, bool) or not isinstance(opset, int) or opset < 18:
        raise value_error(f"onnx.save: opset is {opset!r}. An integer from 18 on is required.")
    return opset


def _traced(
    source: Any,
    examples: tuple[Any, ...],
    input_names: Sequence[str] | None,
    output_names: Sequence[str] | None,
) -> tuple[_Named, _Named]:
    inputs: _Named = []
    if callable(source) and not isinstance(source, LazyTensor):
        check_function("onnx.save", source)
        leaves, rebuild = flatten(examples)
        names = _given("input", input_names, _parameters(source, examples), len(leaves))
        arrays = [asarray(leaf) for leaf in leaves]
        inputs = [
            (name, _core.input(name, array.dtype, tuple(array.shape)))
            for name, array in zip(names, arrays)
        ]
        result = source(*rebuild([tensor for _, tensor in inputs]))
    elif examples:
        raise type_error("onnx.save: examples are given for tensors. A function is required.")
    else:
        result = source
    tensors, _ = flatten(result)
    names = _given("output", output_names, distinct_names_of(result), len(tensors))
    return [(name, asarray(each)) for name, each in zip(names, tensors)], inputs


def _parameters(function: Callable[..., Any], examples: tuple[Any, ...]) -> list[str]:
    """The name of each leaf of the examples: the parameter's, then the way to the leaf."""
    try:
        parameters = list(inspect.signature(function).parameters)
    except (TypeError, ValueError):
        parameters = []
    named = dict(zip(parameters, examples))
    rest = {f"x{place}": each for place, each in enumerate(examples[len(named) :])}
    return names_of({**named, **rest})


def _given(kind: str, given: Sequence[str] | None, found: list[str], count: int) -> list[str]:
    names = found if given is None else list(given)
    if len(names) != count:
        raise value_error(
            f"onnx.save: {len(names)} {kind} names are given for {count} {kind}s. One for each is "
            "required."
        )
    return [name or f"{kind}_{place}" for place, name in enumerate(names)]
