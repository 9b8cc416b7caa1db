"""The parameters of a kernel's procedure, of the arguments of its function."""

from __future__ import annotations

import ast
from typing import Any

from composit.knossos.annotations import Leaf, Parts, TensorOf, structures_of
from composit.knossos.array_statements import ArrayOf


def add_parameters(translator: Any, tree: ast.FunctionDef) -> None:
    """Adds a parameter for each number and each array of the arguments, in order."""
    _check_head(translator, tree)
    for argument, structure in zip(tree.args.args, structures_of(translator.source)):
        _check_default(translator, argument, structure)
        translator.structures[argument.arg] = _add_parts(translator, argument.arg, structure)
        translator.defined.add(argument.arg)


def _check_head(translator: Any, tree: ast.FunctionDef) -> None:
    arguments = tree.args
    for given, what in (
        (arguments.vararg, "*args"), (arguments.kwarg, "**kwargs"),
        (arguments.kwonlyargs, "arguments by name only"),
        (arguments.posonlyargs, "arguments by position only"),
    ):  # fmt: skip
        if given:
            translator.refuse(tree, f"it has {what}", "Plain annotated arguments are required.")
    if not arguments.args:
        translator.refuse(tree, "it has no arguments", "At least one number is required.")


def _check_default(translator: Any, argument: ast.arg, structure: Leaf) -> None:
    if argument.arg not in translator.source.defaults:
        return
    value = translator.source.defaults[argument.arg]
    fits = {"float": (int, float), "int": (int,), "bool": (bool,)}
    if type(structure) is not Leaf or type(value) not in fits[structure.kind]:
        translator.refuse(
            argument, f"the default of {argument.arg} is {value!r}",
            f"A number of type {structure.kind} is required."
            if type(structure) is Leaf else "Numbers alone have defaults.",
            TypeError,
        )  # fmt: skip


def _add_parts(translator: Any, name: str, structure: Leaf) -> Leaf:
    """Parameters for the numbers and arrays of an argument, in order; its structure, which
    knows the arrays."""
    if isinstance(structure, TensorOf):
        translator.structures[name] = ArrayOf(translator.add_array_parameter(name, structure))
        return translator.structures[name]  # type: ignore[no-any-return]
    if isinstance(structure, Parts):
        parts = {key: _add_parts(translator, f"{name}.{key}", part)
                 for key, part in structure.parts.items()}  # fmt: skip
        return Parts(structure.made_by, parts)
    translator.head.append(translator.add_variable(name, structure.kind))
    translator.defined.add(name)
    return structure


def names_of_results(tree: ast.FunctionDef) -> list[str]:
    """The names of results: those of the variables that the first return of a tuple names."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Return) and isinstance(node.value, ast.Tuple):
            items = node.value.elts
            names = [item.id for item in items if isinstance(item, ast.Name)]
            if len(names) == len(items) == len(set(names)):
                return names
    return []
