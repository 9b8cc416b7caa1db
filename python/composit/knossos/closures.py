"""Functions as values: those that a kernel defines inside (`def`, `lambda`), and those that it
gives to others. A call of one becomes part of the kernel, so that its arguments need no
annotations."""

from __future__ import annotations

import ast
import collections.abc
import types
import typing
import weakref
from typing import Any

import numpy as np

from composit.knossos.annotations import Leaf, is_any_tensor, meaning_of
from composit.knossos.source import Source, known_kernel
from composit.knossos.values import FunctionValue


class InnerSource(Source):
    """The text of a function that is defined within another one."""

    def __init__(self, outer: Source, tree: ast.FunctionDef) -> None:
        self.outer, self.tree, self.name = outer, tree, tree.name
        self.function = tree  # which tells it from others
        self.path, self.file, self.line = outer.path, outer.file, tree.lineno
        self.defaults: dict[str, Any] = {}
        self.documentation = ""

    def meaning(self, name: str) -> Any:
        return self.outer.meaning(name)


class Inner(FunctionValue):
    """A function that a kernel defines, and where: its other names mean what they do there when it
    is called. `defaults` are values of the kernel."""

    def __init__(
        self, source: InnerSource, names: set[str], bound: list[dict[str, Any]],
        defaults: dict[str, Any],
    ) -> None:  # fmt: skip
        self.source, self.names, self.bound = source, names, bound
        self.source.defaults = defaults

    def is_same(self, other: FunctionValue) -> bool:
        return isinstance(other, Inner) and other.source.tree is self.source.tree


class Outside(FunctionValue):
    """A function, or another kernel, that was made outside of the kernel."""

    def __init__(self, function: Any) -> None:
        self.function = function

    def is_same(self, other: FunctionValue) -> bool:
        return isinstance(other, Outside) and other.function is self.function


class FunctionOf(Leaf):
    """The structure of a variable that is a function."""

    def __init__(self, function: FunctionValue) -> None:
        super().__init__("")
        self.function = function

    def build(self, leaf: Any, name: str) -> Any:
        return self.function

    def leaves(self, name: str) -> list[tuple[str, str]]:
        return []

    def outline(self) -> str:
        return "a function"


def is_function(found: Any) -> bool:
    """Whether a Python object is a function or a kernel, and no class."""
    kinds = (types.FunctionType, types.BuiltinFunctionType, np.ufunc)
    return isinstance(found, kinds) or hasattr(found, "procedure")


_sources: weakref.WeakKeyDictionary[Any, Source] = weakref.WeakKeyDictionary()


def source_of(function: types.FunctionType) -> Source:
    """The text of a function that becomes part of kernels."""
    known = _sources.get(function)
    if known is None or not known.is_current():
        known = _sources[function] = Source(function, takes_lambda=True)
    return known


def is_open(source: Source, annotation: ast.expr | None) -> bool:
    """Whether an argument of a function that becomes part of a kernel takes what it is given: it
    has no annotation, or one that is no type of kernels but of Python or NumPy."""
    if annotation is None:
        return True
    meaning = meaning_of(source, annotation)
    origin = typing.get_origin(meaning) or meaning
    if is_any_tensor(meaning):
        return True
    return origin in (np.ndarray, list, tuple, collections.abc.Callable, typing.Any) and not (
        origin is tuple and typing.get_args(meaning)
    )


def becomes_part(function: Any) -> bool:
    """Whether a function has arguments that take what they are given, so that it can only become
    part of what calls it."""
    if not isinstance(function, types.FunctionType) or known_kernel(function) is not None:
        return False
    if function.__name__ == "<lambda>":
        return True
    source = source_of(function)
    return any(is_open(source, each.annotation) for each in source.tree.args.args)
