"""Calls of NumPy's functions with arrays, and of arrays' methods and attributes."""

from __future__ import annotations

import builtins
import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np

from composit.knossos import functions
from composit.knossos.library import LIBRARY
from composit.knossos.translator.accumulations import Accumulations
from composit.knossos.translator.arrays import Array
from composit.knossos.translator.code import Code
from composit.knossos.translator.composed import Composed
from composit.knossos.translator.elements import Elements
from composit.knossos.translator.makers import Makers
from composit.knossos.translator.reductions import REDUCTIONS, TRUTHS, Reductions
from composit.knossos.translator.torch_names import ARGUMENTS, elementwise
from composit.knossos.values import Mismatch, Operators, found_in

_LIKE = {np.zeros_like: 0.0, np.ones_like: 1.0, np.empty_like: 0.0}
_METHODS = {"sum": np.sum, "mean": np.mean, "max": np.max, "min": np.min, "prod": np.prod,
            "dot": np.dot, "copy": np.copy, "transpose": np.transpose, "cumsum": np.cumsum,
            "argmax": np.argmax, "argmin": np.argmin, "std": np.std, "var": np.var,
            "cumprod": np.cumprod, "any": np.any, "all": np.all, "clip": np.clip,
            "round": np.round, "diagonal": np.diagonal}  # fmt: skip
# What tensors of torch have in place of attributes.
_ATTRIBUTES = {"size": "shape", "dim": "ndim", "numel": "size"}


@dataclasses.dataclass(eq=False)
class ArrayCalls:
    """Finds the part that knows a function, and gives it the arguments."""

    code: Code
    operators: Operators
    elements: Elements
    makers: Makers
    reductions: Reductions
    accumulations: Accumulations
    composed: Composed

    def __post_init__(self) -> None:
        self._others: dict[Any, Callable[[Any, list[Any]], Any]] = {
            np.copy: lambda function, given: _plain(*_arrays(function, given, 1)),
            np.transpose: lambda function, given: _transposed(*_arrays(function, given, 1)),
            np.dot: self._product, np.matmul: self._product, np.outer: self._outer,
            np.clip: self._clipped, functions.stop_gradient: self._stopped,
            builtins.len: lambda function, given: given[0].shape[0],
            builtins.abs: lambda function, given: self.elements.of_function(np.absolute, given),
        }  # fmt: skip

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
        if name == "shape":
            return tuple(array.shape)
        if name == "ndim":
            return len(array.shape)
        if name == "size":
            return self.reductions.size_of(array.shape)
        if name == "T":
            return _transposed(array)
        raise Mismatch(f"arrays have no attribute {name} here", "shape, ndim, size and T are.")

    def makes_arrays(self, function: Any) -> bool:
        """Whether a function makes an array of what is none."""
        return self.makers.has(function) or found_in(self.composed.joins, function) is not None

    def call(self, function: Any, arguments: list[Any], named: dict[str, Any]) -> Any:
        """A function of arrays; LookupError for one that is not known."""
        named = {ARGUMENTS.get(each, each): value for each, value in named.items()}
        for part in (self.composed, self.accumulations):
            if found_in(part.functions, function) is not None:
                return part.call(function, arguments, named)
        module = getattr(function, "__module__", None) or type(function).__module__
        name = getattr(function, "__name__", "")
        if function in (builtins.any, builtins.all) and _arrays(function, arguments, 1):
            if len(arguments[0].shape) != 1:
                raise Mismatch(f"{name} of several axes", f"Write np.{name}.")
            function, arguments = getattr(np, name), [_plain(arguments[0])]
        if self.makers.has(function):
            return self.makers.call(function, arguments, named)
        if "axis" in named:
            axis = named.pop("axis")
            arguments = arguments if axis is None else [*arguments, axis]
        kind = named.pop("dtype", None) if function in _LIKE else None
        is_reduction = function in REDUCTIONS or function in TRUTHS
        keepdims = named.pop("keepdims", False) if is_reduction else False
        if named:
            raise Mismatch(f"the argument {next(iter(named))} of {name}", "Leave it out.")
        if function in _LIKE:
            (array,) = _arrays(function, arguments, 1)
            return self.makers.constant(array.shape, kind or array.kind, _LIKE[function])
        if is_reduction or function in (builtins.sum, builtins.max, builtins.min):
            return self.reductions.call(function, arguments, keepdims)
        if function in self._others:
            return self._others[function](function, arguments)
        if functions.is_elementwise(function):
            return self.elements.of_function(function, arguments)
        if module == "math":
            instead = f"Write np.{name}, or a loop." if hasattr(np, name) else "Write a loop."
            raise Mismatch(f"math.{name} of an array", instead)
        raise LookupError

    def in_kind(self, array: Array, kind: str) -> Array:
        """The elements as numbers of another kind, as float(x), int(x) and bool(x) make them."""
        convert = {"float": float, "int": int, "bool": bool}[kind]
        return _plain(array) if kind == array.kind else self.elements.of_function(convert, [array])

    def _product(self, function: Any, arguments: list[Any]) -> Any:
        return self.reductions.product(*_arrays(function, arguments, 2))

    def _outer(self, function: Any, arguments: list[Any]) -> Array:
        a, b = _arrays(function, arguments, 2)
        if len(a.shape) != 1 or len(b.shape) != 1:
            raise Mismatch("an outer product of arrays of several axes", "Write a loop.")
        kind = "float" if "float" in (a.kind, b.kind) else "int"
        binary = self.operators.binary
        return Array(
            kind, (*a.shape, *b.shape), lambda at: binary("*", a.at(at[:1]), b.at(at[1:])),
            a.reads | b.reads,
        )  # fmt: skip

    def _clipped(self, function: Any, arguments: list[Any]) -> Array:
        functions.count(function, arguments, 3)
        return self.elements.elementwise(
            lambda *numbers: functions.clipped(self.operators, list(numbers)), arguments
        )

    def _stopped(self, function: Any, arguments: list[Any]) -> Array:
        made = self.elements.of_function(function, arguments)
        made.parts_of = arguments[0].parts_of
        return made


def _arrays(function: Any, given: list[Any], count: int) -> list[Array]:
    if len(given) != count or not all(isinstance(each, Array) for each in given):
        raise Mismatch(
            f"{function.__name__} of something else than {count} arrays", "Arrays are required."
        )
    return given


def _plain(array: Array) -> Array:
    """An array of the same elements, which is no list and shares them with no other."""
    return Array(array.kind, array.shape, array.at, array.reads)


def _transposed(array: Array) -> Array:
    return Array(array.kind, tuple(reversed(array.shape)),
                 lambda at: array.at(at[::-1]), array.reads,
                 parts_of=array.parts_of)  # fmt: skip
