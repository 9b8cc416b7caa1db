"""Functions that are called within a kernel and become part of it: those with arrays, those that
call themselves to a depth that is known, and, within kernels of numbers, those of several results.
"""

from __future__ import annotations

import ast
import copy
import types
from typing import Any

from composit import _core
from composit._core.procedure import Statement
from composit._core.scalar import Expr
from composit.knossos.annotations import Leaf, TensorOf, leaves_of, structure_of
from composit.knossos.arrays import Array, Stored
from composit.knossos.loops import Loops
from composit.knossos.sequences import NOTHING, assigned_in
from composit.knossos.source import Source, known_kernel
from composit.knossos.values import (
    Record,
    is_number,
    kind_of,
    leaves_with_names,
    with_article,
)
from composit.knossos.views import Restart, State

_MOST_CALLS = 500


class Frame:
    """A call that is being translated."""

    def __init__(self, function: Any, known: dict[int, int], nesting: int) -> None:
        self.function, self.known, self.nesting = function, known, nesting
        self.value: Any = None
        self.has_value = False
        self.variables: list[int] = []  # of what branches return
        self.structure: Leaf | None = None


class Inlining(Loops):
    """Calls as statements; the rest of statements is the translator's."""

    frames: list[Frame]
    count_of_calls: int
    count_of_assignments: dict[str, int]
    count_of_reads: dict[str, int]  # in the function that is called
    declared_result: list[str] | None
    root_has_arrays: bool
    carried: dict[int, State]

    def _declared_structure(self, tree: ast.FunctionDef) -> Leaf | None:
        return None if tree.returns is None else structure_of(self.source, tree.returns)

    def _declared_result(self, declared: Leaf | None) -> list[str] | None:
        return None if declared is None else [kind for _, kind in leaves_of(declared, "y")]

    def _without_doc(self, body: list[ast.stmt]) -> list[ast.stmt]:
        raise NotImplementedError

    def _statements(self, body: list[ast.stmt], out: list[Any]) -> None:
        raise NotImplementedError

    def _fitted(self, node: ast.AST, key: str, value: Any, kind: str, what: str) -> Expr:
        raise NotImplementedError

    def add_array(
        self, wanted: str, kind: str, shape: tuple[Any, ...], role: str = "local",
        is_list: int = 0,
    ) -> Stored:  # fmt: skip
        if not self.root_has_arrays and role != "input":  # which calls before this one depend on
            self.root_has_arrays = True
            self.carried.clear()
            raise Restart
        return super().add_array(wanted, kind, shape, role, is_list)

    def calls_itself(self, source: Source) -> bool:
        """Whether the function is called by itself, directly or through others."""
        seen: set[Any] = set()
        pending = [source]
        while pending:
            here = pending.pop()
            for node in ast.walk(here.tree):
                if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
                    continue
                try:
                    found = here.meaning(node.func.id)
                except KeyError:
                    continue
                if hasattr(found, "procedure"):  # a kernel
                    found = getattr(found, "__wrapped__", found)
                if found is source.function:
                    return True
                if isinstance(found, types.FunctionType) and found not in seen:
                    seen.add(found)
                    known = known_kernel(found)
                    try:
                        pending.append(Source(found) if known is None else known._source)
                    except NotImplementedError:
                        continue
        return False

    def becomes_statements(self, source: Source) -> bool:
        """Whether a function of numbers that another one calls becomes part of it: one that returns
        several, as the function in C++ would be called for each. Within kernels with arrays calls
        stay calls: their functions have no branches, and loops over them are vectorised."""
        if self.root_has_arrays or source.tree.returns is None:
            return False
        if len(leaves_of(structure_of(source, source.tree.returns), "y")) < 2:
            return False
        loops = [each for each in ast.walk(source.tree) if isinstance(each, (ast.For, ast.While))]
        return not any(isinstance(each, ast.Return) for loop in loops for each in ast.walk(loop))

    def inlined(self, node: ast.Call, source: Source, arguments: list[Any]) -> Any:
        """The value of the call, whose statements stand before it."""
        parameters = source.tree.args.args
        if len(parameters) != len(arguments):
            self.refuse(node, f"{source.name} of {len(arguments)} arguments",
                        f"It has {len(parameters)}.", TypeError)  # fmt: skip
        known = {i: value for i, value in enumerate(arguments) if type(value) is int}
        self._check_depth(node, source, known)
        self.count_of_calls += 1
        names = self._renamed(source)
        tree = _Renaming(names).visit(copy.deepcopy(source.tree))
        before = (self.source, self.refuse, self.locals, self.loops, self.defined,
                  self.declared_result, self.bound, self.line)  # fmt: skip
        self.source, self.refuse = source, source.refuse
        self.locals = set(names.values())
        self.assigned |= self.locals
        self.loops, self.bound = [], []
        own = {parameter.arg for parameter in tree.args.args}
        self.count_of_assignments |= {
            name: count + (name in own)  # an argument that is assigned has two values
            for name, count in _counts(tree, ast.Store).items()
        }
        self.count_of_reads = _counts(tree, ast.Load)
        values: dict[str, Any] = {}
        for parameter, value in zip(tree.args.args, arguments):
            self._bind(node, parameter, value, values)
        self.bound = [values]
        self.declared_result = self._declared_result(self._declared_structure(tree))
        frame, first = Frame(source.function, known, self.nesting), len(self.arrays)
        self.frames.append(frame)
        with self.emitting([]) as out:
            self._statements(self._without_doc(tree.body), out)
        self.frames.pop()
        (self.source, self.refuse, self.locals, self.loops, self.defined,
         self.declared_result, self.bound, self.line) = before  # fmt: skip
        # Its own arrays have no names outside.
        self.fresh |= set(range(first, len(self.arrays)))
        return self._value_of(node, source, frame, out)

    def _check_depth(self, node: ast.Call, source: Source, known: dict[int, int]) -> None:
        for frame in reversed(self.frames):
            if frame.function is source.function:
                if not any(i in frame.known and value < frame.known[i]
                           for i, value in known.items()):  # fmt: skip
                    self.refuse(
                        node, "it calls itself, to a depth that depends on values",
                        "An argument that is a literal integer at first and smaller in each call, "
                        "or a loop, is required.",
                    )  # fmt: skip
                break
        if self.count_of_calls >= _MOST_CALLS:
            self.refuse(node, f"more than {_MOST_CALLS} calls become part of it", "Write a loop.")

    def _renamed(self, source: Source) -> dict[str, str]:
        """A name for each argument and variable of the function that nothing here has: its own,
        where it is free."""
        own = [each.arg for each in source.tree.args.args]
        taken = self.assigned | set(self.numbers) | set(self.structures) | self.locals
        taken |= {name for name, _, _, _ in self.arrays}
        within = {each.id for each in ast.walk(source.tree) if isinstance(each, ast.Name)} | {*own}
        names = {}
        for name in [*own, *sorted(assigned_in(source.tree.body) - set(own))]:
            here, k = name, 2
            while here in taken or (here != name and here in within):
                here, k = f"{name}_{k}", k + 1
            names[name] = here
            taken.add(here)
        return names

    def _bind(self, node: ast.Call, parameter: ast.arg, value: Any, values: dict[str, Any]) -> None:
        """An argument by its name: as it is where it does not change, else in a variable."""
        if parameter.annotation is None:
            self.refuse(parameter, "an argument has no annotation",
                        "Write float, int, bool, Tensor[float, n], …")  # fmt: skip
        structure = structure_of(self.source, parameter.annotation)
        value = self._fitting_argument(node, structure, value)
        is_assigned = self.count_of_assignments.get(parameter.arg)
        if is_assigned and isinstance(value, Array):
            self.refuse(parameter, "an argument that is an array is assigned",
                        "Use another name.")  # fmt: skip
        if is_assigned:
            self.assign(ast.Name(parameter.arg, lineno=node.lineno), value, self.out)
        else:
            is_read_again = self.count_of_reads.get(parameter.arg, 0) > 1
            if is_read_again and not self.root_has_arrays:
                value = self.as_before(value, NOTHING, parameter.arg)
            values[parameter.arg] = value

    def _fitting_argument(self, node: ast.Call, structure: Leaf, value: Any) -> Any:
        if isinstance(structure, TensorOf):
            if not isinstance(value, Array) or len(value.shape) != len(structure.extents):
                self.refuse(
                    node, f"{with_article(kind_of(value))} stands for an array of "
                    f"{len(structure.extents)} axes", "Such an array is required.", TypeError,
                )  # fmt: skip
            found = self.stored(value, "argument")
            # In the function it is an argument, whose elements do not change.
            return Stored(found.number, found.name, found.kind, found.shape, found.at, True,
                          found.is_list)  # fmt: skip
        if isinstance(value, Array):
            self.refuse(node, f"an array stands for {structure.outline()}",
                        "As the annotation says is required.", TypeError)  # fmt: skip
        if type(structure) is not Leaf:
            return value
        if structure.kind == "float":
            return float(value) if is_number(value) else self.operators.cast(value, "float")
        if kind_of(value) not in (structure.kind, "bool"):
            self.refuse(node, f"{with_article(kind_of(value))} stands for {structure.kind}",
                        f"A value of type {structure.kind} is required.", TypeError)  # fmt: skip
        return value

    def _value_of(self, node: ast.Call, source: Source, frame: Frame, out: list[Any]) -> Any:
        if not frame.variables:
            self.out.extend(out)
            if not frame.has_value:
                source.refuse(
                    source.tree, "its end can be reached without a return",
                    "Every path has to return a number.",
                )  # fmt: skip
            return frame.value
        if not _core.procedure.always_leaves(out):
            source.refuse(
                source.tree.body[-1], "its end can be reached without a return",
                "Every path has to return a number.",
            )  # fmt: skip
        self.out.extend(_core.procedure.assigning_results(out, frame.variables))
        assert frame.structure is not None
        numbers = [(number, self.variables[number]) for number in frame.variables]
        leaves = iter([Expr.argument(number, dtype, name) for number, (name, dtype) in numbers])
        return frame.structure.build(lambda _: next(leaves), "")

    # ----- returns

    def return_inlined(self, node: ast.Return, out: list[Any]) -> None:
        """A return of the call that is being translated."""
        if node.value is None:
            self.refuse(node, "it returns nothing here", "A number is required.")
        frame = self.frames[-1]
        value = self.value(node.value)
        if isinstance(value, Array) and value.is_list:  # its names mean something here only
            value = self.stored(value, "list")
        if self.nesting == frame.nesting and not frame.variables:
            # The only one that is reached: its value stands where the call does.
            frame.value, frame.has_value = self._declared(node, value), True
            self.defined = None
            return
        if self.loops:
            self.refuse(node, "a return within a loop of a function that becomes part of another",
                        "Keep the value in a variable and write break.")  # fmt: skip
        leaves = [leaf for _, leaf in leaves_with_names(value)]
        kinds = self.declared_result
        if kinds is None or len(kinds) != len(leaves):
            self.refuse(node, "its result has no annotation that says its type",
                        "Write it, as -> float.", TypeError)  # fmt: skip
        if not frame.variables:
            frame.structure = Leaf.of(value)
            frame.variables = [self.numbers[self.hidden_variable("returned", kind)]
                               for kind in kinds]  # fmt: skip
        made = [self._fitted(node, "returned", leaf, kind, "the result")
                if kind != "float" else self.operators.cast(leaf, "float")
                for leaf, kind in zip(leaves, kinds)]  # fmt: skip
        out.append(Statement.leave(made, node.lineno))
        self.defined = None

    def _declared(self, node: ast.Return, value: Any) -> Any:
        """A number in the type that the annotation says."""
        kinds = self.declared_result
        if kinds == ["float"] and not isinstance(value, (tuple, Record, Array)):
            return float(value) if is_number(value) else self.operators.cast(value, "float")
        return value


def _counts(tree: ast.FunctionDef, context: type[ast.expr_context]) -> dict[str, int]:
    """How often each name stands there to be read, or to be assigned."""
    counts: dict[str, int] = {}
    for each in ast.walk(tree):
        if isinstance(each, ast.Name) and isinstance(each.ctx, context):
            counts[each.id] = counts.get(each.id, 0) + 1
    return counts


class _Renaming(ast.NodeTransformer):
    """The names of a function's arguments and variables, but not those of comprehensions."""

    def __init__(self, names: dict[str, str]) -> None:
        self.names = names

    def visit_Name(self, node: ast.Name) -> ast.Name:
        node.id = self.names.get(node.id, node.id)
        return node

    def visit_arg(self, node: ast.arg) -> ast.arg:
        node.arg = self.names.get(node.arg, node.arg)
        return node
