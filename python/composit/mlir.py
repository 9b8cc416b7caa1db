"""Functions and tensors as programs of MLIR's dialects, as text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import composit._core as _core
from composit._core import value_error
from composit._named_graphs import named_graph

__all__ = ["text"]


def text(
    source: Any,
    *examples: Any,
    dialect: str = "stablehlo",
    name: str | None = None,
    input_names: Sequence[str] | None = None,
    output_names: Sequence[str] | None = None,
    locations: bool = False,
) -> str:
    """A module of MLIR whose function `@main` computes what `source` does.

    `source` is a function, called with placeholders of the examples' shapes and dtypes, or tensors:
    one, or a tuple, list or dictionary of them, whose placeholders become parameters of `@main`.
    Constants are within. The dialect is StableHLO, which XLA and IREE take. The module has the name
    of the function, unless one is given; with `locations` each operation ends with the user's line
    that it comes from.

    NotImplementedError, with the line, for what StableHLO has no operation for: `svd`, `qr`, `eigh`
    and other factorisations, functions of users. ValueError for another dialect, and for numbers
    of names that do not fit."""
    if dialect != "stablehlo":
        raise value_error(f"mlir.text: dialect is {dialect!r}. 'stablehlo' is required.")
    outputs, inputs = named_graph("mlir.text", source, examples, input_names, output_names)
    given = getattr(source, "__name__", "") if name is None else name
    is_name = given.isidentifier()
    return _core.mlir.stablehlo_text(outputs, inputs, given if is_name else "composit", locations)
