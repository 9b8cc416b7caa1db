"""What translations of kernels ask of Python (composit/knossos/outside.h): what names mean outside
of a text, whose functions' texts become part of it, what annotations say."""

from __future__ import annotations

import ast
import contextlib
import copy
import dataclasses
import inspect
import types
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np

import composit._core as _core
from composit._core import NotSupported
from composit._core.knossos import Text
from composit.knossos import closures, functions, torch_names
from composit.knossos.annotations import (
    check_constructor,
    defaults_of,
    fields_of,
    structure_of,
    structures_of,
)
from composit.knossos.library import LIBRARY
from composit.knossos.source import Source, known_kernel
from composit.knossos.values import Record, Refused, found_in, is_number, of_numbers

_ERRORS: dict[Any, str] = {
    ValueError: "ValueError", IndexError: "IndexError", AssertionError: "AssertionError",
    TypeError: "TypeError", ZeroDivisionError: "ZeroDivisionError",
    OverflowError: "OverflowError", RuntimeError: "RuntimeError",
    np.linalg.LinAlgError: "LinAlgError",
}  # fmt: skip
# The dtypes that kernels compute in, by what they call them. float is float32 in kernels that are
# called with arrays of float32.
_KINDS = {"float64": "float", "int64": "int", "bool": "bool"}
# Trees are read once.
_texts: weakref.WeakKeyDictionary[ast.AST, Text] = weakref.WeakKeyDictionary()


class Callee:
    """What is known of a function, or a class, that is called."""

    def __init__(self, called: Any) -> None:
        # A kernel by example is called as its function.
        is_by_example = hasattr(called, "of") and hasattr(called, "__wrapped__")
        called = called.__wrapped__ if is_by_example else called
        self.function = function = torch_names.as_numpy(called)
        self.takes_extents = torch_names.takes_extents(called)
        self.name = functions.name_of(function)
        module = str(getattr(function, "__module__", ""))
        self.is_of_numpy = module.partition(".")[0] in ("numpy", "torch")
        is_of_math = (getattr(function, "__module__", None) or type(function).__module__) == "math"
        self.name_in_math = getattr(function, "__name__", "") if is_of_math else ""
        self.instead = found_in(functions.INSTEAD, function) or ""
        self.is_kernel = hasattr(function, "procedure")
        self.is_text = isinstance(function, types.FunctionType) or self.is_kernel
        self.library = found_in(LIBRARY, function)

    @property
    def is_record(self) -> bool:
        return fields_of(self.function) is not None


def _from_outside(found: Any, shown: str) -> Any:
    fields = fields_of(type(found))
    if fields is not None:
        check_constructor(_refuse, None, type(found))
        return Record(type(found), {name: _from_outside(getattr(found, name), shown)
                                    for name in fields})  # fmt: skip
    if isinstance(found, tuple):
        return tuple(_from_outside(part, shown) for part in found)
    if is_number(found) and not hasattr(found, "dtype"):  # np.float64 is a float
        plain = bool if isinstance(found, bool) else int if isinstance(found, int) else float
        return plain(found)  # those of an IntEnum, too
    if isinstance(found, (np.generic, np.ndarray)) and not found.shape:
        return _plain_number(found, shown)
    raise Refused(
        f"`{shown}` is {type(found).__name__}, no number",
        "Numbers and tuples of numbers may come from outside. "
        "Arrays and tensors are arguments." if hasattr(found, "dtype") else
        "Numbers and tuples of numbers may come from outside.", TypeError,
    )  # fmt: skip


def _plain_number(found: Any, shown: str) -> Any:
    if found.dtype in ("float64", "int64", "bool"):
        return found.item()
    raise Refused(
        f"`{shown}` is a number of {found.dtype}, whose arithmetic kernels have not",
        "A number of Python, float64 or int64 is required: float(…) or int(…) of it, "
        "outside of the kernel.", TypeError,
    )  # fmt: skip


def _refuse(node: Any, wrong: str, instead: str, kind: type[Exception] = NotSupported) -> None:
    raise Refused(wrong, instead, kind)


def _record(made_by: Any, arguments: tuple[Any, ...], named: dict[str, Any], shown: str) -> Record:
    """The record of arguments, and of defaults where there are none."""
    check_constructor(_refuse, None, made_by)
    fields = fields_of(made_by) or {}
    try:
        given = inspect.signature(made_by).bind(*arguments, **named).arguments
    except TypeError as error:
        raise Refused(
            f"{made_by.__name__} has the fields {', '.join(fields)}: {error}",
            "A value for each is required.", TypeError,
        ) from None  # fmt: skip
    defaults = defaults_of(made_by)
    if missing := [name for name in fields if name not in given and name not in defaults]:
        raise Refused(f"the default of {made_by.__name__}.{missing[0]} is computed",
                      "Give it a value.", TypeError)  # fmt: skip
    return Record(made_by, {
        name: given[name] if name in given else _from_outside(defaults[name], shown)
        for name in fields
    })  # fmt: skip


@dataclasses.dataclass
class Outside:
    """`as_kernel(function)` is the kernel of another function that is called."""

    as_kernel: Callable[[Any], Any]

    # ----- objects

    value_of = staticmethod(_from_outside)
    is_function = staticmethod(closures.is_function)

    @staticmethod
    def error_name(found: Any) -> str:
        """ "ValueError", of a class of errors that kernels raise; "" for others."""
        return _ERRORS.get(found, "") if isinstance(found, type) else ""

    @staticmethod
    def kind_of_dtype(found: Any) -> str | None:
        """The kind of numbers that a dtype is of; None for what kernels do not compute in."""
        if str(found).startswith("torch."):
            found = str(found).removeprefix("torch.")
        if isinstance(found, (type, str, np.dtype)):
            with contextlib.suppress(TypeError):
                return _KINDS.get(np.dtype(found).name)
        return None

    @staticmethod
    def float_of(constant: Any) -> float | None:
        """float(constant); None where it is none."""
        try:
            return float(constant)
        except (TypeError, ValueError):
            return None

    # ----- functions

    callee = Callee
    name_of = staticmethod(functions.name_of)
    elementwise_method = staticmethod(torch_names.elementwise_method)
    record = staticmethod(_record)

    @staticmethod
    def numpy_has(name: str) -> bool:
        return hasattr(np, name)

    @staticmethod
    def library_has(name: str) -> bool:
        return found_in(LIBRARY, getattr(np, name, None)) is not None

    @staticmethod
    def of_numbers(function: Any, numbers: tuple[Any, ...]) -> Any:
        return of_numbers(function, *numbers)

    # ----- texts

    source_of = staticmethod(closures.source_of)
    becomes_part = staticmethod(closures.becomes_part)
    structures_of = staticmethod(structures_of)
    is_open = staticmethod(closures.is_open)

    @staticmethod
    def meaning(source: Source, name: str) -> Any:
        """What a name means where the function was defined; None for nothing."""
        try:
            return source.meaning(name)
        except KeyError:
            return None

    @staticmethod
    def structure_of(source: Source, annotation: Any, name: str) -> Any:
        """What an annotation says; errors have the name of the function."""
        if source.name != name:
            source = copy.copy(source)
            source.name = name
        return structure_of(source, annotation)

    @staticmethod
    def text_of(source: Source) -> Text:
        known = _texts.get(source.tree)
        if known is None:
            known = _texts[source.tree] = Text(source.tree)
        return known

    @staticmethod
    def plain_function(found: Any) -> Any:
        """The function that a kernel was made of; anything else as it is."""
        return getattr(found, "__wrapped__", found) if hasattr(found, "procedure") else found

    @staticmethod
    def text_behind(function: Any) -> Source | None:
        """The text of a plain function; None for others, and where it cannot be read."""
        if not isinstance(function, types.FunctionType):
            return None
        known = known_kernel(function)
        with contextlib.suppress(NotImplementedError):
            return Source(function) if known is None else known._source
        return None


_core.provide("knossos_refused", Refused)
