"""The text that a function's code was compiled of.

Python reads a file once, when it is imported; whoever reads it later may find another text. So the
text is compiled again and compared with the code that Python runs, and texts that were read are
remembered: a helper whose kernel was read in time is found in that text, whatever the file holds
by now."""

from __future__ import annotations
import __future__

import ast
import contextlib
import functools
import inspect
import linecache
import os
import sys
import tokenize
import types
from collections.abc import Iterator
from typing import Any

from composit._core import NotSupported, with_location

Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
# Where a definition is: the name of its code, and its first line, which may be a decorator's.
Place = tuple[str, int]

_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_NUMBERS = {"float", "int", "bool"}
_FUTURES = functools.reduce(
    lambda flags, name: flags | getattr(__future__, name).compiler_flag,
    __future__.all_feature_names, 0,
)  # fmt: skip
_remembered: dict[str, list[str]] = {}  # by files: the texts that functions were found in


def definition_of(function: types.FunctionType) -> Definition:
    """The tree of the function's text. NotSupported where the text is not known, or is not what the
    function's code was compiled of."""
    code = function.__code__
    path = inspect.getsourcefile(function) or code.co_filename
    linecache.checkcache(path)
    now = "".join(linecache.getlines(path, function.__globals__))
    known = _remembered.get(path, [])
    for text in dict.fromkeys([*reversed(known), now]):
        for part in _parts_with(code, text):
            found = _definitions(part, path, code.co_flags & _FUTURES, _Loader.of(function, path))
            for node, made in found.get(_place_of(code), []):
                if made == code and _has_annotations(function, node):
                    if text not in known:
                        _remembered[path] = [*known, text]
                    return node
    raise NotSupported(_refusal(function.__name__, code, path, now))


def _parts_with(code: types.CodeType, text: str) -> Iterator[str]:
    """The lines of the function alone, where it stands at the top of its file, as they are compiled
    to the same in less time; the text."""
    if code.co_qualname == code.co_name:
        before = code.co_firstlineno - 1
        with contextlib.suppress(SyntaxError, tokenize.TokenError):
            lines = inspect.getblock(text.splitlines(keepends=True)[before:])
            yield "\n" * before + "".join(lines)
    yield text


def _has_annotations(function: types.FunctionType, node: Definition) -> bool:
    """Whether the arguments have the annotations of the text, as far as these are numbers: they are
    no part of the code. Decorators may give a function those of another one."""
    if hasattr(function, "__wrapped__"):
        return True
    own = function.__annotations__
    for argument in node.args.args:
        read = getattr(argument.annotation, "id", None)
        had = getattr(own.get(argument.arg), "__name__", own.get(argument.arg))
        if {read, had} & _NUMBERS and read != had:
            return False
    return True


def _refusal(name: str, code: types.CodeType, path: str, text: str) -> str:
    if not text:
        return with_location(
            f"knossos: the text of {name} is not known. A function defined in a file "
            "or a notebook's cell is required."
        )
    lines = text.splitlines()
    line = code.co_firstlineno
    stands = f"`{lines[line - 1].strip()}` stands" if line <= len(lines) else "nothing stands"
    own = "" if name == code.co_name else f" ({code.co_name})"
    return (
        f"{name}: the text in {os.path.basename(path)} is not what Python runs: its code{own} was "
        f"compiled of line {line} and what followed, where now {stands} with what follows. "
        f"Import or define it again, so that text and code are the same. [{path}:{line}]"
    )


def _place_of(code: types.CodeType) -> Place:
    return code.co_name, code.co_firstlineno


@functools.lru_cache(maxsize=32)
def _definitions(
    text: str, path: str, flags: int, loader: _Loader
) -> dict[Place, list[tuple[Definition, types.CodeType]]]:
    """All definitions of a text, and what each is compiled to."""
    try:
        nodes: dict[Place, list[Definition]] = {}
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, _DEFINITIONS):
                decorators = [] if isinstance(node, ast.Lambda) else node.decorator_list
                first = min(each.lineno for each in (node, *decorators))
                nodes.setdefault((getattr(node, "name", "<lambda>"), first), []).append(node)
        whole = loader.compiled(text, path, flags)
    except (SyntaxError, ValueError):
        return {}
    made: dict[Place, list[tuple[Definition, types.CodeType]]] = {}
    for code in _codes_in(whole):
        own = _node_of(code, nodes.get(_place_of(code), []))
        if own is not None:
            made.setdefault(_place_of(code), []).append((own, code))
    return made


def _node_of(code: types.CodeType, nodes: list[Definition]) -> Definition | None:
    """The one of the definitions at a place, several lambdas of a line, whose body has all columns
    of the code, and no other definition's within it. None where columns are not known."""
    if len(nodes) < 2:
        return nodes[0] if nodes else None
    places = [place for place in code.co_positions() if None not in place and place[2:] != (0, 0)]
    columns = [(line, column) for line, _, column, _ in places]
    columns += [(line, column) for _, line, _, column in places]
    bodies = {
        (body.lineno, body.col_offset): node for node in nodes
        if isinstance(body := node.body, ast.expr) and columns
        and (body.lineno, body.col_offset) <= min(columns)
        and max(columns) <= (body.end_lineno, body.end_col_offset)
    }  # fmt: skip
    return bodies[max(bodies)] if bodies else None


def _codes_in(code: types.CodeType) -> Iterator[types.CodeType]:
    for each in code.co_consts:
        if isinstance(each, types.CodeType):
            yield each
            yield from _codes_in(each)


class _Loader:
    """What compiles a module's text. Some loaders change the text's tree first: pytest's rewrites
    assertions, those of type checkers add checks."""

    def __init__(self, loader: Any) -> None:
        self.loader = loader

    @staticmethod
    def of(function: types.FunctionType, path: str) -> _Loader:
        spec = function.__globals__.get("__spec__")
        if spec is None or getattr(spec, "origin", None) != path:
            return _Loader(None)
        return _Loader(spec.loader)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Loader) and self.loader is other.loader

    def __hash__(self) -> int:
        return id(self.loader)

    def compiled(self, text: str, path: str, flags: int) -> types.CodeType:
        if type(self.loader).__module__ == "_pytest.assertion.rewrite":
            tree = ast.parse(text)
            rewrite = sys.modules["_pytest.assertion.rewrite"].rewrite_asserts
            rewrite(tree, text.encode(), path, self.loader.config)
            return compile(tree, path, "exec", flags, dont_inherit=True)
        to_code = getattr(self.loader, "source_to_code", None)
        if to_code is not None:
            return to_code(text.encode(), path)
        return compile(text, path, "exec", flags, dont_inherit=True)
