"""Assignments to names: of numbers, records, functions, several at once."""

from __future__ import annotations

import ast
import dataclasses
from typing import Any

from composit._core.knossos import (
    Array,
    ArrayFunctions,
    Code,
    Integers,
    Operators,
    Storage,
    Stored,
    variables_of,
)
from composit._core.scalar import Expr
from composit.knossos.annotations import Leaf, leaves_of, structure_of
from composit.knossos.closures import FunctionOf
from composit.knossos.source import shown
from composit.knossos.translator.arithmetic import symbol_of
from composit.knossos.translator.array_variables import ArrayVariables
from composit.knossos.translator.arrays import ArrayOf, structure_with
from composit.knossos.translator.element_assignments import ElementAssignments
from composit.knossos.translator.expressions import Expressions, Forms
from composit.knossos.translator.kinds import Kinds
from composit.knossos.translator.lists import Lists
from composit.knossos.translator.scope import Scope
from composit.knossos.translator.targets import Targets, has_elements
from composit.knossos.values import FunctionValue, Record, is_number, kind_of, leaves_with_names


@dataclasses.dataclass(eq=False)
class Assignments:
    """Gives each target its part of a value, all at once."""

    code: Code
    operators: Operators
    scope: Scope
    integers: Integers
    storage: Storage
    kinds: Kinds
    expressions: Expressions
    arrays: ArrayFunctions
    targets: Targets
    lists: Lists
    array_variables: ArrayVariables
    element_assignments: ElementAssignments

    def forms(self) -> Forms:
        return {
            ast.Assign: self.do_assign, ast.AnnAssign: self.do_annassign,
            ast.AugAssign: self.do_augassign,
        }  # fmt: skip

    def do_assign(self, node: ast.Assign) -> None:
        value = self.expressions.value_or_function(node.value)
        if len(node.targets) > 1:
            value = self._given_to_several(node, value)
        for target in node.targets:
            self.assign(target, value)

    def do_annassign(self, node: ast.AnnAssign) -> None:
        if node.value is None:
            return
        value = self.expressions.value(node.value)
        if isinstance(node.target, ast.Name) and self.lists.grows(node.target.id, value):
            self.assign(node.target, value)
            return
        leaves = [
            kind for _, kind in leaves_of(structure_of(self.scope.source, node.annotation), "v")
        ]
        if leaves == ["float"] and kind_of(value) == "int":
            value = self.operators.cast(value, "float")
        self.assign(node.target, value)

    def do_augassign(self, node: ast.AugAssign) -> None:
        if isinstance(node.target, ast.Subscript):
            value = self.expressions.value(node.value)
            self.element_assignments.augment_element(node, symbol_of(node.op), value)
            return
        if not isinstance(node.target, ast.Name):
            self.scope.refuse(
                node, f"`{shown(node.target)}` is part of a value, which does not change",
                "Make a new tuple or record with the part replaced.",
            )  # fmt: skip
        old = self.expressions.value(ast.copy_location(ast.Name(node.target.id), node.target))
        other, symbol = self.expressions.value(node.value), symbol_of(node.op)
        if not isinstance(old, Array) and not isinstance(other, Array):
            self.assign(node.target, self.operators.binary(symbol, old, other))
            return
        value = self.arrays.binary(symbol, old, other)
        if isinstance(old, Stored):
            self.element_assignments.check_holds(old.kind, value.kind, node)
            self.element_assignments.change_in_place(old, value, node)
        else:
            self.assign(node.target, value)

    def assign(self, target: ast.expr, value: Any) -> None:
        """target = value"""
        if isinstance(target, ast.Subscript):
            self.element_assignments.assign_element(target, value)
            return
        if has_elements(target):
            self._assign_in_order(target, value)
            return
        pairs: list[tuple[str, Any]] = []
        name_of = self.targets.name_of
        self.targets.spread(target, value, lambda each, part: pairs.append((name_of(each), part)))
        assert self.scope.defined is not None
        growing = [pair for pair in pairs if self.lists.grows(*pair)]
        pairs = [pair for pair in pairs if not self.lists.grows(*pair)]
        for name, each in pairs:
            self._check_structure(target, name, each)
        for name, each in pairs:
            if isinstance(each, FunctionValue):
                self._assign_function(target, name, each)
        pairs = [pair for pair in pairs if not isinstance(pair[1], FunctionValue)]
        leaves = [(name + path, leaf) for name, each in pairs
                  for path, leaf in leaves_with_names(each, has_arrays=True)]  # fmt: skip
        arrays = [leaf for leaf in leaves if isinstance(leaf[1], Array)]
        self.array_variables.assign_arrays(arrays, target)
        numbers = [(name, leaf, target) for name, leaf in leaves if not isinstance(leaf, Array)]
        self._assign_leaves(numbers)
        for name, each in pairs:
            # Variables that are arrays have their structures already.
            self.scope.structures[name] = structure_with(
                each, name, lambda own, _: self.scope.structures[own]
            )
            self.scope.defined.add(name)
        for name, each in growing:
            self.lists.begin(target, name, each)

    def _assign_function(self, target: ast.expr, name: str, value: FunctionValue) -> None:
        known = self.scope.structures.get(name)
        if known is not None and not known.function.is_same(value):  # type: ignore[attr-defined]
            self.scope.refuse(
                target, f"{name} is one function here and another one before",
                "Give them two names, and choose between their values.", TypeError,
            )  # fmt: skip
        self.scope.structures[name] = FunctionOf(value)
        self.scope.defined.add(name)  # type: ignore[union-attr]

    def _check_structure(self, target: ast.expr, name: str, value: Any) -> None:
        """Refuses another structure than the variable has. An array may be another one."""
        known = self.scope.structures.get(name)
        structure = FunctionOf(value) if isinstance(value, FunctionValue) else Leaf.of(value)
        if known is None or known.outline() == structure.outline():
            return
        if isinstance(known, ArrayOf) and isinstance(value, Array) and known.block is self.code.out:
            return
        self.scope.refuse(
            target, f"{name} is {structure.outline()} here and {known.outline()} before",
            "A variable keeps its structure: use another name.", TypeError,
        )  # fmt: skip

    def _assign_leaves(self, leaves: list[tuple[str, Any, ast.expr]]) -> None:
        """All at once: what a later value still reads is written last."""
        made = [(name, self.kinds.value_of_variable(name, value, node), node)
                for name, value, node in leaves]  # fmt: skip
        late: list[tuple[str, Expr, ast.expr]] = []
        for i, (name, value, node) in enumerate(made):
            number = self.code.number_of(name)
            if any(number in variables_of(other) for _, other, _ in made[i + 1 :]):
                new = self.code.hidden_variable("new_" + name, self.code.kind_named(name))
                late.append((name, self.code.leaf(new), node))
                self.code.assign(self.code.number_of(new), value, node.lineno)
        now = {name for name, _, _ in late}
        for name, value, node in [m for m in made if m[0] not in now] + late:
            number = self.code.number_of(name)
            # A parameter that is assigned has two values.
            is_parameter = number < self.code.parameter_count
            is_once = self.code.times_assigned(name) == 1 and not is_parameter
            if is_once and kind_of(value) == "int":
                known = self.integers.resolved(value)
                if self.integers.is_of_parameters(known):
                    self.integers.alias(number, known)
            self.code.set_home(number)
            self.code.assign(number, value, node.lineno)

    def _given_to_several(self, node: ast.Assign, value: Any) -> Any:
        """The value of `a = b = …`: computed once, before the first target is assigned."""
        names = [each.id for target in node.targets for each in ast.walk(target)
                 if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)]  # fmt: skip
        return self._given_to(names, value)

    def _given_to(self, names: list[str], value: Any) -> Any:
        if isinstance(value, tuple):
            return tuple(self._given_to(names, part) for part in value)
        if isinstance(value, Record):
            parts = {key: self._given_to(names, part) for key, part in value.fields.items()}
            return Record(value.made_by, parts)
        if isinstance(value, Array):
            return value if isinstance(value, Stored) else self.storage.copied(value)
        if is_number(value) or not any(
            self.code.whole(each) in names for each in variables_of(value)
        ):
            return value
        return self.code.held(value, "value")

    def _assign_in_order(self, target: ast.expr, value: Any) -> None:
        """Names and elements, `y[i], y[j] = y[j], y[i]`: from the left, of values that are known
        before the first one is assigned."""
        pairs: list[tuple[ast.expr, Any]] = []
        self.targets.spread(target, value, lambda each, part: pairs.append((each, part)))
        known = [(each, self._held(part)) for each, part in pairs]
        for each, part in known:
            if isinstance(each, ast.Subscript):
                self.element_assignments.assign_element(each, part)
            else:
                self.assign(each, part)

    def _held(self, value: Any) -> Any:
        if isinstance(value, Array):
            return self.storage.copied(value)
        if isinstance(value, tuple):
            return tuple(self._held(part) for part in value)
        if not isinstance(value, Expr) or (
            value.op == "argument" and self.code.is_assigned_once(value)
        ):
            return value
        return self.code.held(value, "value")
