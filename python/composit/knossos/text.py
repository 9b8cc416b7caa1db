"""Kernels as text in the printed scalar language."""

from __future__ import annotations

from typing import Any

import numpy as np

import composit._core as _core
from composit._core import type_error, value_error
from composit.knossos.annotations import Leaf, Parts
from composit.knossos.kernel import Kernel, kind_of_dtype


def from_text(name: str, text: str, *, most_iterations: int = 2**31) -> Kernel:
    """The kernel of a function that is written in the scalar language, as it is printed:

        (x: float) ->
            let cdf: float = multiply(0.5, add(1, erf(divide(x, 1.4142135623730951))))
            multiply(x, cdf)

    Names before parentheses are the language's operations and rows of the table
    (composit.scalar.all_rows()); types are float, int and bool. It is a kernel like one of a
    Python function, with values, derivatives, graphs, modules and C++.

    The name is an identifier. ValueError for another one; with line and column, for what is no such
    text; for a division of integers by what may be 0 or -1 and a shift by what may be too much; for
    loops of more than `most_iterations`, those within loops multiplied. TypeError for other
    types."""
    if not isinstance(name, str):
        raise type_error(f"from_text: {name!r} is not a name, which is required.")
    if not name.isidentifier():
        raise value_error(f"from_text: {name!r} cannot name a function. An identifier is required.")

    def make(dtype: Any) -> Any:
        made = _core.procedure.parse(name, text, dtype, most_iterations)
        for variable, found in [*made.parameters, *made.results]:
            own = np.dtype(found)
            if own != {"f": np.dtype(dtype), "i": "int64", "b": "bool"}.get(own.kind):
                raise type_error(
                    f"from_text: {variable} is {own.name}. float, int or bool is required."
                )
        return made

    made = make(np.dtype("float64"))
    parameters, results = (
        [Leaf(kind_of_dtype(dtype)) for _, dtype in each]
        for each in (made.parameters, made.results)
    )
    structure = results[0] if len(results) == 1 else Parts(tuple, dict(enumerate(results)))
    return Kernel(name, "", make, parameters, lambda: structure)
