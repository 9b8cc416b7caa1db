"""The arguments of calls: by position and by name, functions and dtypes among them."""

from __future__ import annotations

import ast
import contextlib
import dataclasses
from typing import Any

import numpy as np

from composit._core.knossos import Array, Slices
from composit.knossos.source import Source, shown
from composit.knossos.translator.expressions import Expressions
from composit.knossos.translator.scope import Scope
from composit.knossos.values import Mismatch, found_in, is_number, unnamed

# Where a dtype stands among the arguments by position.
_DTYPE_AT = {
    np.zeros: 1, np.ones: 1, np.empty: 1, np.full: 2, np.array: 1, np.asarray: 1,
    np.zeros_like: 1, np.ones_like: 1, np.empty_like: 1,
}  # fmt: skip
# The dtypes that kernels compute in, by what they call them. float is float32 in kernels that are
# called with arrays of float32.
_KINDS = {"float64": "float", "int64": "int", "bool": "bool"}


@dataclasses.dataclass(eq=False)
class Arguments:
    """What a call gives, as values."""

    scope: Scope
    expressions: Expressions
    slices: Slices

    def by_position(self, node: ast.Call) -> list[Any]:
        """The arguments by position."""
        arguments: list[Any] = []
        for each in node.args:
            if not isinstance(each, ast.Starred):
                arguments.append(self.expressions.value_or_function(each))
                continue
            parts = unnamed(self.expressions.value(each.value))
            if isinstance(parts, Array) and is_number(parts.shape[0]):
                parts = tuple(self.slices.indexed(parts, [k]) for k in range(parts.shape[0]))
            if not isinstance(parts, tuple):
                raise Mismatch("*arguments that are no tuple", "Write the arguments.")
            arguments += parts
        return arguments

    def by_name(self, node: ast.Call) -> dict[str, Any]:
        if any(each.arg is None for each in node.keywords):
            raise Mismatch("**arguments in a call", "Write the arguments.")
        return {
            each.arg or "": self.kind_of_dtype(each.value)
            if each.arg == "dtype"
            else self.expressions.value_or_function(each.value)
            for each in node.keywords
        }

    def kind_of_dtype(self, node: ast.expr) -> str:
        """The kind of numbers that a dtype is of: float, "float64", np.float64, x.dtype."""
        found = node.value if isinstance(node, ast.Constant) else self.scope.meaning_or_none(node)
        if found is None and isinstance(node, ast.Attribute) and node.attr == "dtype":
            holder = self.expressions.value(node.value)
            if isinstance(holder, Array):
                return holder.kind
        if str(found).startswith("torch."):
            found = str(found).removeprefix("torch.")
        kind = None
        if isinstance(found, (type, str, np.dtype)):
            with contextlib.suppress(TypeError):
                kind = _KINDS.get(np.dtype(found).name)
        if kind is None:
            self.scope.refuse(node, f"the dtype `{shown(node)}`",
                        "int, float or bool (int64, float64) is required.")  # fmt: skip
        return kind

    def in_order(
        self, node: ast.Call, source: Source, arguments: list[Any], named: dict[str, Any]
    ) -> list[Any]:
        """The arguments of a call in the order of the function's parameters."""
        if not named:
            return source.with_defaults(arguments)
        names = [each.arg for each in source.tree.args.args]
        rest = names[len(arguments) :]
        own = {name: value for name, value in source.defaults.items() if name in rest}
        named = {**own, **named}
        if set(named) != set(rest):
            wrong = [f"{name} twice" for name in named if name in names and name not in rest]
            wrong += [f"no {name}" for name in rest if name not in named]
            wrong += [f"{name}, which it has not" for name in named if name not in names]
            self.scope.refuse(node, f"{source.name} is given {', '.join(wrong)}",
                        f"A value for each of {', '.join(names)} is required.",
                        TypeError)  # fmt: skip
        return [*arguments, *(named[name] for name in rest)]


def with_neutral_elements(node: ast.Call, neutral: Any) -> ast.Call:
    """`sum(e for v in x if c)` as `sum(e if c else 0 for v in x)`."""
    made = node.args[0] if len(node.args) == 1 else None
    if not isinstance(made, (ast.GeneratorExp, ast.ListComp)) or len(made.generators) != 1:
        return node
    (generator,) = made.generators
    if not generator.ifs:
        return node
    element = made.elt
    for test in reversed(generator.ifs):
        element = ast.copy_location(ast.IfExp(test, element, ast.Constant(neutral)), made)
    loop = ast.comprehension(generator.target, generator.iter, [], generator.is_async)
    values = ast.copy_location(type(made)(element, [loop]), made)
    call = ast.copy_location(ast.Call(node.func, [values], []), node)
    return ast.fix_missing_locations(call)


def with_dtype_by_name(node: ast.Call, function: Any) -> ast.Call:
    """The call, whose dtype stands behind its name."""
    at = found_in(_DTYPE_AT, function)
    if at is None or len(node.args) != at + 1 or isinstance(node.args[at], ast.Starred):
        return node
    dtype = ast.copy_location(ast.keyword("dtype", node.args[at]), node.args[at])
    call = ast.Call(node.func, node.args[:at], [*node.keywords, dtype])
    return ast.copy_location(call, node)
