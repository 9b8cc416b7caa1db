"""Functions that kernels give to others, or that become part of them: which those are, and their
texts."""

from __future__ import annotations

import ast
import collections.abc
import types
import typing
import weakref
from typing import Any

import numpy as np

from composit.knossos.annotations import is_any_tensor, meaning_of
from composit.knossos.source import Source, known_kernel


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
