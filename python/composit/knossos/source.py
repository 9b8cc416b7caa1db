"""Python's text of a function: its tree, its lines, and errors that name them."""

from __future__ import annotations

import ast
import inspect
import os
import textwrap
from collections.abc import Iterable
from typing import Any, NoReturn

import numpy as np

from composit._core import NotSupported, with_location
from composit._floating_point import in_default_state


class Source:
    """A function's text and what its names mean."""

    @in_default_state  # numbers are read by Python
    def __init__(self, function: Any) -> None:
        self.function = function
        self.name: str = function.__name__
        self.path: str = inspect.getsourcefile(function) or "<unknown>"
        self.file = os.path.basename(self.path)
        try:
            lines, first = inspect.getsourcelines(function)
        except (OSError, TypeError):
            raise NotSupported(
                with_location(
                    f"knossos: the text of {self.name} is not known. A function defined in a file "
                    "or a notebook's cell is required."
                )
            ) from None
        self.tree = self._definition(textwrap.dedent("".join(lines)), first)
        self.line = self.tree.lineno
        own = (np.float64, np.int64, np.bool_)
        given = [x.item() if isinstance(x, own) else x for x in function.__defaults__ or ()]
        last = self.tree.args.args[-len(given) :] if given else []
        self.defaults = dict(zip((each.arg for each in last), given))
        self.documentation: str = (ast.get_docstring(self.tree) or "").strip()

    def _definition(self, text: str, first: int) -> ast.FunctionDef:
        tree: ast.Module | None
        try:
            tree = ast.parse(text)
        except SyntaxError:  # a lambda within a longer line
            tree = None
        if tree is not None and tree.body and isinstance(tree.body[0], ast.AsyncFunctionDef):
            raise NotSupported(
                f"{self.name}: it is made by `async def`. Kernels wait for nothing: write `def`. "
                f"[{self.path}:{first + tree.body[0].lineno - 1}]"
            )
        if tree is None or not tree.body or not isinstance(tree.body[0], ast.FunctionDef):
            raise NotSupported(
                with_location(
                    f"knossos: {self.name} is no function made by `def`. Write "
                    "`def name(x: float) -> float:`."
                )
            )
        ast.increment_lineno(tree, first - 1)
        return tree.body[0]

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


def shown(node: ast.AST) -> str:
    """The text of an expression, shortened."""
    text = ast.unparse(node)
    return text if len(text) <= 40 else text[:37] + "…"


_MAKERS = ("zeros", "ones", "empty", "full", "eye", "identity", "array", "asarray", "arange",
           "linspace")  # fmt: skip


def mentions_arrays(source: Source) -> bool:
    """Whether a function of numbers has arrays of its own: NumPy's makers of arrays, or
    comprehensions over ranges that variables bound."""
    own = {each.arg for each in source.tree.args.args} | {
        each.id for each in ast.walk(source.tree)
        if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)
    }  # fmt: skip
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Attribute) and node.attr in _MAKERS:
            return True
        if isinstance(node, ast.ListComp):
            loops = [each.iter for each in node.generators if isinstance(each.iter, ast.Call)]
            bounds = [argument for loop in loops for argument in loop.args]  # len(…) is known
            targets = [each for loop in node.generators for each in ast.walk(loop.target)]
            own_here = own - {each.id for each in targets if isinstance(each, ast.Name)}
            if any(isinstance(each, ast.Name) and each.id in own_here for each in bounds):
                return True
    return False
