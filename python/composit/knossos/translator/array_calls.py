"""Calls of NumPy's functions with arrays, and of arrays' methods and attributes."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from composit._core.knossos import Array, ArrayFunctions
from composit.knossos import functions
from composit.knossos.library import LIBRARY
from composit.knossos.translator.torch_names import ARGUMENTS, elementwise
from composit.knossos.values import Mismatch, found_in

_METHODS = {"sum": np.sum, "mean": np.mean, "max": np.max, "min": np.min, "prod": np.prod,
            "dot": np.dot, "copy": np.copy, "transpose": np.transpose, "cumsum": np.cumsum,
            "argmax": np.argmax, "argmin": np.argmin, "std": np.std, "var": np.var,
            "cumprod": np.cumprod, "any": np.any, "all": np.all, "clip": np.clip,
            "round": np.round, "diagonal": np.diagonal}  # fmt: skip
# What tensors of torch have in place of attributes.
_ATTRIBUTES = {"size": "shape", "dim": "ndim", "numel": "size"}


@dataclasses.dataclass(eq=False)
class ArrayCalls:
    """Finds the function of arrays that a call means (composit/knossos/array_functions.h)."""

    arrays: ArrayFunctions

    def method(self, array: Array, name: str, arguments: list[Any], named: dict[str, Any]) -> Any:
        if name in ("append", "extend", "insert", "pop", "remove"):
            raise Mismatch(
                f"{name} changes how many elements an array has",
                "Write y = np.zeros(n) before the loop, and y[i] = … in it.",
            )
        if name in _ATTRIBUTES and not named and len(arguments) <= (name == "size"):
            made = self.attribute(array, _ATTRIBUTES[name])
            return made[arguments[0]] if arguments else made
        if name not in _METHODS and (function := elementwise(name)) is not None:
            return self.call(function, [array, *arguments], named)
        if name not in _METHODS and found_in(LIBRARY, getattr(np, name, None)) is not None:
            raise Mismatch(f"arrays have no method {name} here", f"Write np.{name}(…).")
        if name not in _METHODS:
            known = ", ".join(sorted([*_METHODS, "astype"]))
            raise Mismatch(f"arrays have no method {name} here", f"{known} are known.")
        return self.call(_METHODS[name], [array, *arguments], named)

    def attribute(self, array: Array, name: str) -> Any:
        return self.arrays.attribute(array, name)

    def makes_arrays(self, function: Any) -> bool:
        """Whether a function makes an array of what is none."""
        return self.arrays.makes_arrays(functions.name_of(function))

    def call(self, function: Any, arguments: list[Any], named: dict[str, Any]) -> Any:
        """A function of arrays; LookupError for one that is not known."""
        named = {ARGUMENTS.get(each, each): value for each, value in named.items()}
        made = self.arrays.call(functions.name_of(function), arguments, named)
        if made is not None:
            return made
        name = getattr(function, "__name__", "")
        if (getattr(function, "__module__", None) or type(function).__module__) == "math":
            instead = f"Write np.{name}, or a loop." if hasattr(np, name) else "Write a loop."
            raise Mismatch(f"math.{name} of an array", instead)
        raise LookupError
