"""Names, literals, attributes, and functions that a kernel defines within."""

from __future__ import annotations

import ast
import dataclasses
from typing import Any

from composit._core.knossos import Array
from composit.knossos.closures import Inner, InnerSource
from composit.knossos.source import as_definition, shown
from composit.knossos.translator.array_calls import ArrayCalls
from composit.knossos.translator.expressions import Expressions, Forms
from composit.knossos.translator.lists import ListOf, Lists
from composit.knossos.translator.scope import Scope
from composit.knossos.values import Record, is_number


@dataclasses.dataclass(eq=False)
class Names:
    """Expressions that name what there is already."""

    scope: Scope
    expressions: Expressions
    array_calls: ArrayCalls
    lists: Lists

    def forms(self) -> Forms:
        return {
            ast.Constant: self.of_constant, ast.Name: self.of_name,
            ast.Attribute: self.of_attribute, ast.Lambda: self.of_lambda,
        }  # fmt: skip

    def of_constant(self, node: ast.Constant) -> Any:
        if not is_number(node.value):
            instead = "Kernels compute with numbers."
            if node.value is None:
                instead = "Assign a number, such as 0.0, until there is another one."
            self.scope.refuse(node, f"{node.value!r} is no number", instead)
        return node.value

    def of_name(self, node: ast.Name) -> Any:
        for names in reversed(self.scope.bound):
            if node.id in names:
                return names[node.id]
        if node.id in self.scope.locals:
            value = self.scope.read(node, node.id)
            return self.lists.value(value) if isinstance(value, ListOf) else value
        return self.scope.from_outside(node, self.scope.meaning(node))

    def of_attribute(self, node: ast.Attribute) -> Any:
        found = self.scope.meaning_or_none(node)
        if found is not None:
            return self.scope.from_outside(node, found)
        self.scope.check_module(node)
        holder = self.expressions.value(node.value)
        if isinstance(holder, Array):
            return self.array_calls.attribute(holder, node.attr)
        if isinstance(holder, Record) and node.attr in holder.fields:
            return holder.fields[node.attr]
        instead = "Numbers have no parts."
        if isinstance(holder, Record):
            instead = f"It has {', '.join(holder.fields)}."
        elif isinstance(holder, tuple):
            instead = f"Tuples have parts by index: write {shown(node.value)}[0]."
        self.scope.refuse(node, f"{shown(node.value)} has no part {node.attr}", instead, NameError)

    def of_lambda(self, node: ast.Lambda) -> Any:
        return self.function_inside(as_definition(node))

    def function_inside(self, tree: ast.FunctionDef) -> Inner:
        """A function that is defined where the translation stands."""
        arguments = tree.args
        if arguments.vararg or arguments.kwarg or arguments.kwonlyargs or arguments.posonlyargs:
            self.scope.refuse(tree, f"{tree.name} has other arguments than plain ones",
                        "Write its arguments one by one.")  # fmt: skip
        if tree.decorator_list:
            self.scope.refuse(tree, f"{tree.name} has a decorator", "Leave it out.")
        values = [self.expressions.value_or_function(each) for each in arguments.defaults]
        names = [each.arg for each in arguments.args]
        defaults = dict(zip(names[len(names) - len(values) :], values))
        return Inner(
            InnerSource(self.scope.source, tree),
            self.scope.locals,
            list(self.scope.bound),
            defaults,
        )
