"""What is wrong with an argument that the core does not take, in the words of the user's call."""

from __future__ import annotations

import inspect
import re
import reprlib
from typing import Any

import composit._core as _core
from composit import _public_names
from composit._core import with_location

# What a parameter of the core's signature takes, and how that is called.
_numbers = (int, float)
_KINDS = {
    "int": ("An integer", lambda value: hasattr(value, "__index__")),
    "bool": ("True or False", lambda value: isinstance(value, bool)),
    "float": ("A number", lambda value: isinstance(value, _numbers) or hasattr(value, "__float__")),
    "str": ("A text", lambda value: isinstance(value, str)),
    "list[LazyTensor]": ("A sequence of tensors", lambda value: hasattr(value, "__iter__")),
}


# What to do with values that are no numbers, by kind of dtype.
_ADVICE = {
    "O": "Objects that are numbers become an array of numbers with array.astype(float).",
    "S": "Texts of numbers become numbers with array.astype(float); others are numbered by "
         "numpy.unique(array, return_inverse=True).",
    "M": "Dates and spans of time are counted by array.astype('int64').",
    "V": "Of records, take the fields: array['name'].",
    "f": "Use float64 or complex128: array.astype(float).",
}  # fmt: skip
_ADVICE.update({"U": _ADVICE["S"], "T": _ADVICE["S"], "m": _ADVICE["M"], "c": _ADVICE["f"]})


def advice(kind: str) -> str:
    """What to do with values of a kind of dtype that tensors do not have; nothing for others."""
    return _ADVICE.get(kind, "")


def advice_for(value: Any) -> str:
    """What to do with a value that is no number, behind a space; nothing for others."""
    import numpy as np

    known: dict[type, str] = {str: "U", bytes: "S"}
    is_array = isinstance(value, (np.ndarray, np.generic))
    kind = value.dtype.kind if is_array else known.get(type(value), "")
    text = "" if kind in "fc" else advice(kind)
    return f" {text}" if text else ""


def wrong(value: Any, required: str, function: str = "") -> str:
    """The message for an argument that is `value`, or holds it; `function` is named where none of
    the package's own is known."""
    called, name, whole = _in_the_call(value)
    function = called or function
    prefix = f"{function}: " if function else ""
    more = advice_for(value) if required.startswith("An array of booleans") else ""
    return with_location(f"{prefix}{name} is {_shown(whole)}. {required} is required.{more}")


def said(text: str) -> str:
    """What NumPy says, as of the function that the user called."""
    function = _called()[0]
    return with_location(f"{function}: {text}" if function else text)


def explained(text: str, positional: list[Any], named: dict[str, Any]) -> str:
    """The message in place of nanobind's `text`, which lists the signatures of a function."""
    signatures = re.findall(r"^    \d+\. (\w+)\((.*)\) -> .*$", text, re.MULTILINE)
    function = signatures[0][0]
    if len(signatures) == 1:
        parameters = _parameters(signatures[0][1])
        given = [*zip(parameters, positional), *((p, named.get(p[0])) for p in parameters)]
        for (_, kind), value in given[: len(positional)] + [
            pair for pair in given[len(positional) :] if pair[0][0] in named
        ]:
            required, accepts = _KINDS.get(kind.removesuffix(" | None"), ("", None))
            is_left_out = value is None and kind.endswith("| None")
            if accepts is not None and not is_left_out and not accepts(value):
                return wrong(value, required, function)
            if value is None and not is_left_out:
                return wrong(value, required or "A value", function)
    called = _called()[0] or function
    types = ", ".join(type(value).__name__ for value in (*positional, *named.values()))
    required = " or ".join(f"({parameters})" for _, parameters in signatures)
    return with_location(
        f"{called}: arguments of types ({types}) are given. {required} is required."
    )


def renamed(message: str) -> str:
    """The message of one of the package's functions, as one of the function that the user called,
    which is made of it."""
    function, colon, rest = message.partition(": ")
    if not (colon and function.isidentifier()):
        return message
    called = _called()[0]
    if not called or function == called:
        return message
    if message.endswith("]") and re.search(r" \[[^\[\]]+:\d+\]$", message):
        return message
    return f"{called}: {rest}" if _public_names.is_public(function) else message


def _parameters(signature: str) -> list[tuple[str, str]]:
    """(name, type) of each; types may hold commas within brackets."""
    parameters: list[tuple[str, str]] = []
    for part in re.split(r", (?![^\[]*\])", signature):
        if part not in ("/", "*", ""):
            name, _, kind = part.partition(": ")
            parameters.append((name, kind.partition(" = ")[0]))
    return parameters


# Functions of composit.torch that others were made into, and what holds the name or the function.
_HOLDING_NAMES = {
    "lifted.<locals>.unknown": "name",  # torch/calling.py
    "_operator.<locals>.method": "function",  # torch/methods.py
    "_in_place_operator.<locals>.method": "function",
    "inplace.<locals>.method": "name",  # torch/writing.py
}


def _called() -> tuple[str, dict[str, Any]]:
    """The package's function that the user called, and its arguments."""
    frame: Any = _core.public_frame()
    if frame is None or frame.f_code.co_filename == __file__:
        return "", {}
    name = frame.f_code.co_qualname.partition(".<locals>")[0].rpartition(".")[2]
    code = frame.f_code
    flags = bool(code.co_flags & inspect.CO_VARARGS) + bool(code.co_flags & inspect.CO_VARKEYWORDS)
    count = code.co_argcount + code.co_kwonlyargcount + flags
    arguments = {x: frame.f_locals[x] for x in code.co_varnames[:count] if x in frame.f_locals}
    if code.co_qualname == "overridable.<locals>.asking":  # numpy/_overrides.py, of a ufunc
        ufunc, method = arguments.pop("self"), frame.f_locals["method"]
        if method.__name__ == "__call__":  # operands without names
            return ufunc.__name__, {}
        given = inspect.signature(method).bind_partial(
            ufunc, *arguments["operands"], **arguments["options"]
        )
        return method.__name__, given.arguments
    if code.co_qualname == "also_of_others.<locals>.call":  # numpy/_by_numpy.py
        call = {"func": frame.f_locals["function"], "args": arguments["args"]}
        return call["func"].__name__, _bound(call | {"kwargs": arguments["options"]})
    if code.co_name == "array_ufunc" and "ufunc" in arguments:  # _dispatch.py
        method = arguments["method"]
        return arguments["ufunc"].__name__ if method == "__call__" else method, {}
    if code.co_name == "array_function" and "func" in arguments:  # _dispatch.py
        return arguments["func"].__name__, _bound(arguments)
    held = _HOLDING_NAMES.get(code.co_qualname)
    if held is not None:
        called = frame.f_locals[held]
        return called if isinstance(called, str) else called.__name__, {}
    is_name = not name.startswith(("__", "<"))
    return (name.lstrip("_") if is_name else ""), arguments


def _bound(call: dict[str, Any]) -> dict[str, Any]:
    """The arguments of a function of NumPy's, by name where it says its parameters."""
    try:
        signature = inspect.signature(call["func"])
        return signature.bind_partial(*call["args"], **call["kwargs"]).arguments
    except (TypeError, ValueError):
        return {}


def _in_the_call(value: Any) -> tuple[str, str, Any]:
    """The function, and the name and whole value of its argument that is `value` or holds it."""
    function, arguments = _called()
    for holds in (lambda whole: whole is value, lambda whole: _has(whole, value)):
        names = [name for name, whole in arguments.items() if holds(whole)]
        if len(names) == 1:
            return function, names[0], arguments[names[0]]
    return function, "an argument", value


def _has(whole: Any, value: Any) -> bool:
    return isinstance(whole, (tuple, list)) and any(
        item is value or _has(item, value) for item in whole
    )


def _shown(value: Any) -> str:
    return repr(value) if isinstance(value, (bool, int, float, str)) else reprlib.repr(value)


for each in (advice, explained, renamed, said, wrong):
    _core.provide(each.__name__, each)
