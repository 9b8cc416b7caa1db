"""Returns: the results of the kernel, and values of functions that become part of it."""

from __future__ import annotations

import ast
import dataclasses
from typing import Any

from composit._core.knossos import Array, Code, Integers, Operators, Sharing, Storage, Stored
from composit._core.procedure import Statement
from composit._core.scalar import Expr
from composit.knossos.annotations import Leaf, Parts, TensorOf, all_leaves, structure_of
from composit.knossos.closures import is_open
from composit.knossos.translator.call_stack import CallStack
from composit.knossos.translator.expressions import Expressions, Forms
from composit.knossos.translator.kinds import Kinds
from composit.knossos.translator.paths import Paths, leaves_of_value
from composit.knossos.translator.scope import Scope
from composit.knossos.values import Mismatch, Record, is_number, kind_of, leaves_with_names


@dataclasses.dataclass(eq=False)
class Returns:
    """The same numbers and arrays on every path. In functions that become part of the kernel, one
    return that is reached is the value of the call; several share their places."""

    code: Code
    operators: Operators
    scope: Scope
    stack: CallStack
    integers: Integers
    sharing: Sharing
    storage: Storage
    kinds: Kinds
    expressions: Expressions
    paths: Paths

    def __post_init__(self) -> None:
        tree = self.scope.source.tree
        self.results: list[tuple[str, str]] = []  # names and kinds
        self.structure: Any = None  # a value that is returned
        self.has_returned = False
        self._names = _names_of_results(tree)
        self._count_of_parts = 0
        self._count_of_returns = sum(isinstance(each, ast.Return) for each in ast.walk(tree))
        self._outputs: dict[int, Stored] = {}

    def forms(self) -> Forms:
        return {ast.Return: self.do_return}

    def do_return(self, node: ast.Return) -> None:
        if self.stack.frames:
            self._do_return_of_call(node)
            return
        if node.value is None:
            self.scope.refuse(node, "it returns nothing here", "A number is required.")
        value = self.expressions.value(node.value)
        if self.scope.declared is not None:
            self._check_declared(node, self.scope.declared, value)
        parts, self.structure = _split(value), value
        for place, part in enumerate(parts):
            if isinstance(part, Array):
                self._return_array(place, part)
        numbers = tuple(part for part in parts if not isinstance(part, Array))
        values = [leaf for _, leaf in leaves_with_names(numbers)]
        has_arrays = len(values) != len(parts)
        if self.has_returned and has_arrays and len(parts) != self._count_of_parts:
            self.scope.refuse(
                node, "it returns other arrays here than elsewhere", "The same are required."
            )
        self.has_returned, self._count_of_parts = True, len(parts)
        if not parts:
            self.scope.refuse(node, "it returns an empty tuple", "A number is required.")
        kinds = self.scope.declared_kinds or [kind_of(each) for each in values]
        if has_arrays and len(kinds) != len(values):
            kinds = [kind_of(each) for each in values]
        if len(kinds) != len(values) or (self.results and len(self.results) != len(values)):
            count = len(self.results or kinds)
            self.scope.refuse(
                node, f"it returns {len(values)} numbers here, and {count} elsewhere or by its "
                "annotation", "The same number on every path is required.", TypeError,
            )  # fmt: skip
        if not self.results:
            self.results = [self._result(i, len(kinds), kind) for i, kind in enumerate(kinds)]
        self.code.add(Statement.leave(
            [self.kinds.fitted(node, f"return {i}", value, self.results[i][1], "the result")
             for i, value in enumerate(values)], node.lineno,
        ))  # fmt: skip
        self.scope.defined = None

    def _result(self, i: int, count: int, kind: str) -> tuple[str, str]:
        name = "y" if count == 1 else f"y{i}"
        if len(self._names) == count:
            name = self._names[i]
        return name, "float" if f"return {i}" in self.kinds.floats else kind

    def _return_array(self, place: int, value: Array) -> None:
        """The value as the output array of this place among the results."""
        shape = tuple(map(self.integers.in_parameters, value.shape))
        for extent in shape:
            if not self.integers.is_of_parameters(extent):
                raise Mismatch(
                    "a result whose extents depend on what is computed",
                    "Extents of arguments, integer arguments and literals decide them.",
                )
        if isinstance(value, Stored):
            self.sharing.check_current(value.number)
        known = self._outputs.get(place)
        if known is None:
            is_own = isinstance(value, Stored) and not value.is_argument
            # Outputs stand in the order of the results, so that callers find them.
            last = max((each.number for each in self._outputs.values()), default=-1)
            is_in_order = isinstance(value, Stored) and value.number > last
            if isinstance(value, Stored) and is_own and is_in_order and self._count_of_returns == 1:
                extents = [self.code.integer(extent) for extent in shape]
                self.code.make_output(value.number, extents)
                self._outputs[place] = value
                return
            known = self.storage.add_array("y", value.kind, shape, "output")
            self._outputs[place] = known
        self.integers.require_shape(known.shape, value.shape)
        self.storage.fill(known, value)

    # ----- of functions that become part of the kernel

    def _do_return_of_call(self, node: ast.Return) -> None:
        """A return of the call that is being translated."""
        frame = self.stack.frames[-1]
        is_none = node.value is None or (
            isinstance(node.value, ast.Constant) and node.value.value is None
        )
        if is_none and not frame.is_for_effect:
            self.scope.refuse(node, "it returns nothing here", "A number is required.")
        value = () if is_none else self.expressions.value(node.value)  # type: ignore[arg-type]
        if isinstance(value, Array) and value.is_list:  # its names mean something here only
            value = self.storage.stored(value, "list")
        if self.scope.nesting == frame.nesting and frame.joined is None and not frame.has_raises:
            # The only one that is reached: its value stands where the call does.
            frame.value = None if is_none else self._as_declared(value)
            frame.has_value = True
            self.scope.defined = None
            return
        self.leave_call(node, value)

    def leave_call(self, node: ast.AST, value: Any) -> None:
        """One of several returns."""
        frame = self.stack.frames[-1]
        if self.scope.declared is not None and not (frame.is_for_effect and value == ()):
            self._check_declared(node, self.scope.declared, value)
        if frame.joined is None:
            kinds = self._kinds_of_result(value)
            frame.joined = self.paths.join(
                node, value, kinds, "returned", frame.block, frame.first_variable
            )
        keys = [f"{self._key_of_result()} {k}" for k in range(len(frame.joined.places))]
        made: list[Expr] = []
        for leaf, place in zip(frame.joined.put(node, value), frame.joined.variables):
            kind = kind_of(place)
            is_float = kind == "float" and self.scope.declared is not None
            made.append(self.operators.cast(leaf, kind) if is_float else self.kinds.fitted(
                node, keys[len(made)], leaf, kind, "the result"))  # fmt: skip
        self.code.add(Statement.leave(made, self.code.line))
        frame.states.append(self.sharing.parts)
        self.scope.defined = None

    def _key_of_result(self) -> str:
        """What tells the results of this call from those of others."""
        return f"result of call {self.stack.frames[-1].number}"

    def _kinds_of_result(self, value: Any) -> list[str]:
        """The kinds of numbers of a value that is the first of several that a call may return."""
        if self.scope.declared is not None:
            return [leaf.kind for leaf in all_leaves(self.scope.declared)]
        leaves, k, kinds = leaves_of_value(value), 0, []
        for leaf in leaves:
            kind = leaf.kind if isinstance(leaf, Array) else kind_of(leaf)
            if not isinstance(leaf, Array):
                kind = "float" if f"{self._key_of_result()} {k}" in self.kinds.floats else kind
                k += 1
            kinds.append(kind)
        return kinds

    def _as_declared(self, value: Any) -> Any:
        """A number in the type that the annotation says."""
        kinds = self.scope.declared_kinds
        if kinds == ["float"] and not isinstance(value, (tuple, Record, Array)):
            return float(value) if is_number(value) else self.operators.cast(value, "float")
        return value

    # ----- what annotations say

    def declared_by(self, tree: ast.FunctionDef, is_part: bool = False) -> Leaf | None:
        """What the annotation of the result says; None: there is none, or one that says nothing
        of a function that becomes part of another."""
        is_none = isinstance(tree.returns, ast.Constant) and tree.returns.value is None
        source = self.scope.source
        if tree.returns is None or (is_part and (is_none or is_open(source, tree.returns))):
            return None
        return structure_of(source, tree.returns)

    def _check_declared(self, node: ast.AST, declared: Leaf, value: Any) -> None:
        """Refuses a result of another structure than the annotation's; extents that it names are
        those of arguments: known to be, or asserted. Numbers are converted elsewhere."""
        own = Leaf.of(value)
        if isinstance(declared, Parts) and isinstance(own, Parts):
            is_same = declared.made_by is own.made_by or (
                declared.made_by is tuple and issubclass(own.made_by, tuple)
            )
            if is_same and len(declared.parts) == len(own.parts):
                parts = value.fields.values() if isinstance(value, Record) else value
                for inner, part in zip(declared.parts.values(), parts):
                    self._check_declared(node, inner, part)
                return
        elif isinstance(declared, TensorOf) and isinstance(own, TensorOf):
            if declared.kind == own.kind and len(declared.extents) == len(own.extents):
                # Of functions that become part of others the names mean something elsewhere.
                extents = () if self.stack.frames else declared.extents
                for wanted, extent in zip(extents, value.shape):
                    if not isinstance(wanted, str):
                        self.integers.require_same(wanted, extent)
                    elif name := self.scope.symbols.get(wanted):
                        self.integers.require_same(self.code.leaf(name), extent)
                return
        elif type(declared) is type(own):
            return
        self.scope.refuse(
            node, f"it returns {_outline(own)}, and {_outline(declared)} by its annotation",
            "A result of the annotation's structure is required.", TypeError,
        )  # fmt: skip


def _split(value: Any) -> list[Any]:
    """The numbers and arrays of a structure, in order."""
    if isinstance(value, (tuple, Record)):
        parts = value if isinstance(value, tuple) else value.fields.values()
        return [leaf for part in parts for leaf in _split(part)]
    return [value]


def _names_of_results(tree: ast.FunctionDef) -> list[str]:
    """The names of results: those of the variables that the first return of a tuple names."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Return) and isinstance(node.value, ast.Tuple):
            items = node.value.elts
            names = [item.id for item in items if isinstance(item, ast.Name)]
            if len(names) == len(items) == len(set(names)):
                return names
    return []


def _outline(structure: Leaf) -> str:
    is_array = isinstance(structure, TensorOf)
    return f"{structure.outline()} of {structure.kind}" if is_array else structure.outline()
