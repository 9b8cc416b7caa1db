"""save and model_bytes: functions and tensors as models in ONNX's format."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import composit._core as _core
from composit._core import value_error
from composit._named_graphs import named_graph


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
    outputs, inputs = named_graph("onnx.save", source, examples, input_names, output_names)
    _core.onnx.save(os.fspath(path), outputs, inputs, _checked(opset))


def model_bytes(
    source: Any,
    *examples: Any,
    opset: int | None = None,
    input_names: Sequence[str] | None = None,
    output_names: Sequence[str] | None = None,
) -> bytes:
    """The bytes that `save` writes into a file."""
    outputs, inputs = named_graph("onnx.save", source, examples, input_names, output_names)
    return _core.onnx.model_bytes(outputs, inputs, _checked(opset))


def _checked(opset: int | None) -> int:
    if opset is None:
        return 0
    if isinstance(opset, bool) or not isinstance(opset, int) or opset < 18:
        raise value_error(f"onnx.save: opset is {opset!r}. An integer from 18 on is required.")
    return opset
