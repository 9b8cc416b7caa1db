"""The examples with all their arguments named, as PyTorch's schemas, signatures and texts name
them, and with all arguments at their places, also those that have a default."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterator
from typing import Any

import torch as peer

from torch_conformance import names
from torch_conformance.compare import Example

# How the schemas of a namespace begin.
_BEFORE = {"": "", "Tensor": "", "linalg": "linalg_", "fft": "fft_", "special": "special_",
           "nn.functional": ""}  # fmt: skip
_schemas: dict[str, list[list[str]]] = {}


def _of_schemas(name: str) -> list[list[str]]:
    """The arguments of each overload of an operator, in order, without those that are written."""
    if not _schemas:
        for schema in peer._C._jit_get_all_schemas():
            space, _, operator = schema.name.partition("::")
            if space == "aten":
                arguments = [x.name for x in schema.arguments if not x.is_out]
                _schemas.setdefault(operator, []).append(arguments)
    return _schemas.get(name, [])


def _of_signature(value: Any) -> list[list[str]]:
    try:
        return [list(inspect.signature(value).parameters)]
    except (TypeError, ValueError):
        return []


def _of_text(value: Any) -> list[list[str]]:
    """What the text of a function of C++ begins with: its call."""
    match = re.match(r"\s*[\w.]+\((.*?)\)(?: ->|\n|$)", value.__doc__ or "", re.DOTALL)
    if match is None:
        return []
    parts = re.sub(r"\([^)]*\)|\[[^]]*\]", "", match[1]).split(",")
    found = [re.split("[=:]", part)[0].strip().split(" ")[-1] for part in parts]
    return [[each for each in found if each.isidentifier()]]


def orders_of_names(space: str, name: str) -> list[list[str]]:
    """The names that PyTorch may have for the arguments in their order: one list for each overload
    and text. A method's begins behind its tensor."""
    value = getattr(names.at(peer, space), name)
    found = _of_schemas(_BEFORE[space] + name) if space in _BEFORE else []
    found = [*_of_signature(value), *found]
    if not isinstance(value, type):
        found += _of_text(value)
    if space == "Tensor":
        return [order[1:] if order[:1] in (["self"], ["input"]) else order for order in found]
    return [["input", *order[1:]] if order[:1] == ["self"] else order for order in found]


def _call_of(tree: ast.AST, name: str) -> ast.Call:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            function = node.func
            own = function.id if isinstance(function, ast.Name) else None
            if isinstance(function, ast.Attribute):
                own = function.attr
            if own == name:
                return node
    raise AssertionError(f"no call of {name}")


def named(example: Example) -> Iterator[Example]:
    """The example with its arguments named, one for each order of names that is long enough."""
    seen = set()
    for order in orders_of_names(example.space, example.name):
        tree = ast.parse(example.text.strip(), mode="eval")
        call = _call_of(tree, example.name)
        given = call.args
        if not given or len(order) < len(given) or any(isinstance(x, ast.Starred) for x in given):
            continue
        own = order[: len(given)]
        if set(own) & {word.arg for word in call.keywords} or any(x.startswith("*") for x in own):
            continue
        call.keywords = [*map(ast.keyword, own, given), *call.keywords]
        call.args = []
        text = ast.unparse(tree)
        if text not in seen:
            seen.add(text)
            yield Example(example.space, example.name, text)


def _defaults(space: str, name: str) -> Iterator[list[tuple[str, Any]]]:
    """For each overload the arguments that may be given by place, with their defaults."""
    value = getattr(names.at(peer, space), name)
    try:
        parameters = list(inspect.signature(value).parameters.values())
    except (TypeError, ValueError):
        parameters = []
    if parameters:
        kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
        own = [(x.name, x.default) for x in parameters if x.kind in kinds]
        yield own[1:] if space == "Tensor" else own
    for schema in peer._C._jit_get_all_schemas() if space in _BEFORE and not parameters else ():
        if schema.name == f"aten::{_BEFORE[space]}{name}":
            found = []
            for x in schema.arguments:
                if not x.is_out and not x.kwarg_only:
                    has = x.has_default_value()
                    found.append((x.name, x.default_value if has else inspect.Parameter.empty))
            yield found[1:] if space == "Tensor" else found


def _text_of_default(value: Any) -> str | None:
    if value is None or isinstance(value, (bool, int, float, str)):
        return repr(value)
    if isinstance(value, (tuple, list)) and all(isinstance(x, (bool, int, float)) for x in value):
        return repr(value)
    return None


def placed(example: Example) -> Iterator[Example]:
    """The example with all arguments at their places: those that it names, and defaults."""
    seen = set()
    for order in _defaults(example.space, example.name):
        tree = ast.parse(example.text.strip(), mode="eval")
        call = _call_of(tree, example.name)
        options = {word.arg: word.value for word in call.keywords}
        if any(isinstance(x, ast.Starred) for x in call.args) or None in options:
            continue
        args: list[Any] = list(call.args)
        for own, default in order[len(args) :]:
            text = None if own in options else _text_of_default(default)
            if own == "out" or (own not in options and text is None):
                break  # PyTorch's functions of Python take `out` by place; here it is named
            args.append(options.pop(own) if own in options else ast.parse(str(text)).body[0].value)
        if len(args) == len(call.args):
            continue
        call.args = args
        call.keywords = [word for word in call.keywords if word.arg in options]
        text = ast.unparse(tree)
        if text not in seen:
            seen.add(text)
            yield Example(example.space, example.name, text)
