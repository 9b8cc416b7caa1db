"""The parameters of a kernel's procedure, of the arguments of its function."""

from __future__ import annotations

import ast
import dataclasses
from typing import Any

from composit._core.knossos import Code, Storage, Stored
from composit.knossos.annotations import Leaf, Parts, TensorOf, structures_of
from composit.knossos.translator.arrays import ArrayOf
from composit.knossos.translator.scope import Scope


@dataclasses.dataclass(eq=False)
class Parameters:
    """A parameter for each number and each array of the arguments, in order."""

    code: Code
    scope: Scope
    storage: Storage

    def add(self, tree: ast.FunctionDef) -> None:
        self._check_head(tree)
        for argument, structure in zip(tree.args.args, structures_of(self.scope.source)):
            self._check_default(argument, structure)
            self.scope.structures[argument.arg] = self._add_parts(argument.arg, structure)
            self._define(argument.arg)
        self.code.parameter_count = self.code.variable_count

    def _define(self, name: str) -> None:
        assert self.scope.defined is not None
        self.scope.defined.add(name)

    def _check_head(self, tree: ast.FunctionDef) -> None:
        arguments = tree.args
        for given, what in (
            (arguments.vararg, "*args"), (arguments.kwarg, "**kwargs"),
            (arguments.kwonlyargs, "arguments by name only"),
            (arguments.posonlyargs, "arguments by position only"),
        ):  # fmt: skip
            if given:
                self.scope.refuse(tree, f"it has {what}", "Plain annotated arguments are required.")
        if not arguments.args:
            self.scope.refuse(tree, "it has no arguments", "At least one number is required.")

    def _check_default(self, argument: ast.arg, structure: Leaf) -> None:
        defaults = self.scope.source.defaults
        if argument.arg not in defaults:
            return
        value = defaults[argument.arg]
        fits: dict[str, Any] = {"float": (int, float), "int": (int,), "bool": (bool,)}
        if type(structure) is not Leaf or type(value) not in fits[structure.kind]:
            self.scope.refuse(
                argument, f"the default of {argument.arg} is {value!r}",
                f"A number of type {structure.kind} is required."
                if type(structure) is Leaf else "Numbers alone have defaults.",
                TypeError,
            )  # fmt: skip

    def _add_parts(self, name: str, structure: Leaf) -> Leaf:
        """Parameters for the numbers and arrays of an argument; its structure, which knows the
        arrays."""
        if isinstance(structure, TensorOf):
            made = self.scope.structures[name] = ArrayOf(self._add_array(name, structure))
            return made
        if isinstance(structure, Parts):
            parts = {key: self._add_parts(f"{name}.{key}", part)
                     for key, part in structure.parts.items()}  # fmt: skip
            return Parts(structure.made_by, parts)
        self.code.head += [self.code.add_variable(name, structure.kind)]
        self._define(name)
        return structure

    def _add_array(self, wanted: str, structure: TensorOf) -> Stored:
        """An input array; its named extents are parameters, too."""
        symbols, shape, new = self.scope.symbols, list[Any](), list[int]()
        for extent in structure.extents:
            if not isinstance(extent, str):
                shape.append(extent)
                continue
            if extent not in symbols:
                arguments = {each.arg for each in self.scope.source.tree.args.args}
                name = extent
                while name in arguments | self.code.assigned or self.code.has(name):
                    name += "_"
                symbols[extent] = name
                new.append(self.code.add_variable(name, "int"))
            shape.append(self.code.leaf(symbols[extent]))
        stored = self.storage.add_array(wanted, structure.kind, tuple(shape), "input")
        self.code.head += [-1 - stored.number, *new]
        return stored
