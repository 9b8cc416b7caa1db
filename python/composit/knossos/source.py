"""Python's text of a function: its tree, its lines, and errors that name them."""

from __future__ import annotations

import ast
import inspect
import os
from collections.abc import Iterable
from typing import Any, NoReturn

import numpy as np

from composit._core import NotSupported, not_supported
from composit._floating_point import in_default_state
from composit.knossos.texts import definition_of


class Source:
    """A function's text and what its names mean."""

    @in_default_state  # numbers are read by Python
    def __init__(self, function: Any, takes_lambda: bool = False) -> None:
        self.function = function
        self.name: str = function.__name__
        self.code = function.__code__
        self.path: str = inspect.getsourcefile(function) or "<unknown>"
        self.file = os.path.basename(self.path)
        self.tree = self._definition(takes_lambda)
        self.line = self.tree.lineno
        own = (np.float64, np.int64, np.bool_)
        given = [x.item() if isinstance(x, own) else x for x in function.__defaults__ or ()]
        last = self.tree.args.args[-len(given) :] if given else []
        self.defaults = dict(zip((each.arg for each in last), given))
        self.documentation: str = (ast.get_docstring(self.tree) or "").strip()

    def _definition(self, takes_lambda: bool) -> ast.FunctionDef:
        found = definition_of(self.function)
        if isinstance(found, ast.AsyncFunctionDef):
            raise NotSupported(
                f"{self.name}: it is made by `async def`. Kernels wait for nothing: write `def`. "
                f"[{self.path}:{found.lineno}]"
            )
        if isinstance(found, ast.Lambda) and takes_lambda:
            return as_definition(found)
        if isinstance(found, ast.Lambda):
            raise not_supported(
                f"knossos: {self.name} is no function made by `def`. Write "
                "`def name(x: float) -> float:`."
            )
        return found

    def is_current(self) -> bool:
        """Whether the function still has the code that was compiled of the text."""
        return self.function.__code__ is self.code

    def with_defaults(self, arguments: Iterable[Any]) -> list[Any]:
        """The arguments by position, and the defaults of those behind, as far as there are."""
        made = list(arguments)
        for each in self.tree.args.args[len(made) :]:
            if each.arg not in self.defaults:
                break
            made.append(self.defaults[each.arg])
        return made

    def refuse(
        self, node: Any, wrong: str, instead: str, kind: type[Exception] = NotSupported
    ) -> NoReturn:
        """An error that names the line of `node`."""
        line = getattr(node, "lineno", self.line)
        raise kind(f"{self.name}: {wrong}. {instead} [{self.path}:{line}]")

    def meaning(self, name: str) -> Any:
        """What a name that the function does not assign means; KeyError if nothing."""
        function = self.function
        code = function.__code__
        if name in code.co_freevars:
            cell = function.__closure__[code.co_freevars.index(name)]
            try:
                return cell.cell_contents
            except ValueError:
                raise KeyError(name) from None
        if name in function.__globals__:
            return function.__globals__[name]
        builtins = function.__globals__["__builtins__"]
        found = builtins if isinstance(builtins, dict) else vars(builtins)
        return found[name]


def as_definition(node: ast.Lambda) -> ast.FunctionDef:
    """`lambda x: y` as `def (x): return y`."""
    result = ast.copy_location(ast.Return(node.body), node.body)
    made = ast.FunctionDef("lambda", node.args, [result], [], None, None)
    return ast.copy_location(made, node)


def shown(node: ast.AST) -> str:
    """The text of an expression, shortened."""
    text = ast.unparse(node)
    return text if len(text) <= 40 else text[:37] + "…"


def known_kernel(function: Any) -> Any:
    """The kernel that was made of a function, if its code is still the same. Attributes of
    functions are copied by decorators (functools.wraps), with what is known of another one."""
    known = getattr(function, "_knossos_kernel", None)
    is_own = known is not None and known.__wrapped__ is function and known._source.is_current()
    return known if is_own else None
