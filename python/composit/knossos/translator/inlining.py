"""Functions that are called within a kernel and become part of it: those with arrays, those that
call themselves to a depth that is known, and, within kernels of numbers, those of several results.
"""

from __future__ import annotations

import ast
import copy
import dataclasses
import types
from typing import Any

import composit._core as _core
from composit._core.knossos import Array, Block, Code, Operators, Sharing, Storage, joined
from composit.knossos.annotations import Leaf, TensorOf, leaves_of, structure_of
from composit.knossos.closures import FunctionValue, Inner, is_open
from composit.knossos.library import LibrarySource
from composit.knossos.source import Source, known_kernel
from composit.knossos.translator.assignments import Assignments
from composit.knossos.translator.call_stack import CallStack, Frame
from composit.knossos.translator.found import Found
from composit.knossos.translator.mentions import (
    NOTHING,
    appended_in,
    assigned_in,
    names_in,
    text_of,
)
from composit.knossos.translator.raising import Raising
from composit.knossos.translator.returns import Returns
from composit.knossos.translator.scope import Scope
from composit.knossos.translator.sequences import Sequences
from composit.knossos.translator.statements import Statements
from composit.knossos.values import is_number, kind_of, with_article

_MOST_CALLS = 500
_CHOOSING = (ast.If, ast.IfExp, ast.For, ast.While, ast.BoolOp)


def without_documentation(body: list[ast.stmt]) -> list[ast.stmt]:
    """The statements of a function."""
    first = body[0]
    is_doc = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
    return body[1:] if is_doc else body


@dataclasses.dataclass(eq=False)
class Inlining:
    """Calls as statements."""

    code: Code
    operators: Operators
    scope: Scope
    found: Found
    stack: CallStack
    sharing: Sharing
    storage: Storage
    statements: Statements
    sequences: Sequences
    assignments: Assignments
    raising: Raising
    returns: Returns

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
        of functions that choose stay calls: those in C++ have no branches, and loops over them are
        vectorised. What raises becomes part of these, as calls check nothing."""
        walked = list(ast.walk(source.tree))
        if self.found.has_arrays and any(isinstance(each, ast.Raise) for each in walked):
            return True
        if self.found.has_arrays and any(isinstance(each, _CHOOSING) for each in walked):
            return False
        if source.tree.returns is None:
            return False
        if len(leaves_of(structure_of(source, source.tree.returns), "y")) < 2:
            return False
        loops = [each for each in ast.walk(source.tree) if isinstance(each, (ast.For, ast.While))]
        return not any(isinstance(each, ast.Return) for loop in loops for each in ast.walk(loop))

    def inlined(
        self, node: ast.Call, source: Source, arguments: list[Any], inner: Inner | None = None
    ) -> Any:
        """The value of the call, whose statements stand before it. `inner`: the function is one
        that is defined within the kernel, and reads what stands around it."""
        parameters = source.tree.args.args
        if len(parameters) != len(arguments):
            self.scope.refuse(node, f"{source.name} of {len(arguments)} arguments",
                              f"It has {len(parameters)}.", TypeError)  # fmt: skip
        known = {i: value for i, value in enumerate(arguments) if type(value) is int}
        self._check_depth(node, source, known)
        self.stack.count_of_calls += 1
        names = self._renamed(source)
        if self.scope.is_in_library[-1]:  # which calls another of its functions
            source = LibrarySource(source, self.scope.source, node, source.tree.name)
        tree = _Renaming(names).of_function(copy.deepcopy(source.tree))
        if appended_in(source.tree.body):
            self.scope.appended |= appended_in(tree.body)
        around: list[dict[str, Any]] = []
        own = set(names.values())
        self.code.assigned |= own
        if inner is not None:
            around = self.scope.bound if inner.names is self.scope.locals else inner.bound
            own |= inner.names
        line = self.code.line
        with self.scope.within(source, own, around, isinstance(source, LibrarySource)):
            values = self._bound(node, tree, arguments)
            self.scope.bound = [*around, values]
            self.scope.declare(self.returns.declared_by(tree, is_part=True))
            first = self.code.array_count
            with self.code.emitting() as out:
                frame = Frame(
                    source.function, node, self.stack.count_of_calls, known, self.scope.nesting,
                    self.code.variable_count, first, node is self.stack.called_for_effect,
                    set() if inner is None else names_in(source.tree),
                    any(isinstance(each, ast.Raise) for each in ast.walk(tree)), out,
                )  # fmt: skip
                self.stack.frames.append(frame)
                self.statements.run(without_documentation(tree.body))
                is_joined = frame.joined is not None or frame.has_raises
                if frame.is_for_effect and self.scope.defined is not None and is_joined:
                    self.returns.leave_call(node, ())
            self.stack.frames.pop()
        self.code.line = line
        # Its own arrays have no names outside.
        self.sharing.fresh |= set(range(first, self.code.array_count))
        is_of_library = isinstance(source, LibrarySource)
        name = source.called if isinstance(source, LibrarySource) else source.tree.name
        out.join_call(name, is_of_library)
        return self._value_of(source, frame, out)

    def _bound(self, node: ast.Call, tree: ast.FunctionDef, arguments: list[Any]) -> dict[str, Any]:
        """The arguments that stand for values; others are assigned to variables."""
        parameters = {parameter.arg for parameter in tree.args.args}
        for name, count in text_of(tree).counts_of_names(True).items():
            # An argument that is assigned has two values.
            self.code.set_times_assigned(name, count + (name in parameters))
        reads, rebound = text_of(tree).counts_of_names(False), text_of(tree).rebound()
        values: dict[str, Any] = {}
        for parameter, value in zip(tree.args.args, arguments):
            is_read_again = reads.get(parameter.arg, 0) > 1
            self._bind(node, parameter, value, values, rebound, is_read_again)
        return values

    def _check_depth(self, node: ast.Call, source: Source, known: dict[int, int]) -> None:
        for frame in reversed(self.stack.frames):
            if frame.function is source.function:
                if not any(i in frame.known and value < frame.known[i]
                           for i, value in known.items()):  # fmt: skip
                    self.scope.refuse(
                        node, "it calls itself, to a depth that depends on values",
                        "An argument that is a literal integer at first and smaller in each call, "
                        "or a loop, is required.",
                    )  # fmt: skip
                break
        if self.stack.count_of_calls >= _MOST_CALLS:
            wrong = f"more than {_MOST_CALLS} calls become part of it"
            self.scope.refuse(node, wrong, "Write a loop.")

    def _renamed(self, source: Source) -> dict[str, str]:
        """A name for each argument and variable of the function that nothing here has: its own,
        where it is free."""
        own = [each.arg for each in source.tree.args.args]
        code, scope = self.code, self.scope
        taken = code.assigned | code.names | set(scope.structures) | scope.locals
        taken |= {name for name, _, _, _ in code.arrays}
        within = {each.id for each in ast.walk(source.tree) if isinstance(each, ast.Name)} | {*own}
        names = {}
        for name in [*own, *sorted(assigned_in(source.tree.body) - set(own))]:
            here, k = name, 2
            while here in taken or (here != name and here in within):
                here, k = f"{name}_{k}", k + 1
            names[name] = here
            taken.add(here)
        return names

    def _bind(
        self, node: ast.Call, parameter: ast.arg, value: Any, values: dict[str, Any],
        rebound: set[str], is_read_again: bool,
    ) -> None:  # fmt: skip
        """An argument by its name: as it is where it does not change, else in a variable."""
        if isinstance(value, FunctionValue):
            values[parameter.arg] = value
            return
        if is_open(self.scope.source, parameter.annotation):
            value = self._as_argument(value)
        else:
            assert parameter.annotation is not None
            structure = structure_of(self.scope.source, parameter.annotation)
            value = self._fitting_argument(node, structure, value)
        is_assigned = parameter.arg in rebound if isinstance(value, Array) else (
            self.code.times_assigned(parameter.arg) > 1)  # fmt: skip
        if is_assigned:
            self.assignments.assign(ast.Name(parameter.arg, lineno=node.lineno), value)
        else:
            if is_read_again and not self.found.has_arrays:
                value = self.sequences.as_before(value, NOTHING, parameter.arg)
            values[parameter.arg] = value

    def _fitting_argument(self, node: ast.Call, structure: Leaf, value: Any) -> Any:
        if isinstance(structure, TensorOf):
            if not isinstance(value, Array) or len(value.shape) != len(structure.extents):
                self.scope.refuse(
                    node, f"{with_article(kind_of(value))} stands for an array of "
                    f"{len(structure.extents)} axes", "Such an array is required.", TypeError,
                )  # fmt: skip
            return self._as_argument(value)
        if isinstance(value, Array):
            self.scope.refuse(node, f"an array stands for {structure.outline()}",
                        "As the annotation says is required.", TypeError)  # fmt: skip
        if type(structure) is not Leaf:
            return value
        if structure.kind == "float":
            return float(value) if is_number(value) else self.operators.cast(value, "float")
        if kind_of(value) not in (structure.kind, "bool"):
            self.scope.refuse(node, f"{with_article(kind_of(value))} stands for {structure.kind}",
                        f"A value of type {structure.kind} is required.", TypeError)  # fmt: skip
        return value

    def _as_argument(self, value: Any) -> Any:
        """What an argument is in the function: of arrays the array itself, whose elements the
        function may change."""
        if isinstance(value, Array):
            return self.storage.stored(value, "argument")
        if isinstance(value, tuple):
            return type(value)(map(self._as_argument, value))
        return value

    def _value_of(self, source: Source, frame: Frame, out: Block) -> Any:
        if frame.joined is None:
            self.code.add_all(out)
            if not frame.has_value and frame.is_for_effect:
                return None
            if not frame.has_value:
                source.refuse(
                    source.tree, "its end can be reached without a return",
                    "Every path has to return a number.",
                )  # fmt: skip
            return frame.value
        variables = frame.joined.variables
        self.raising.check(frame.number, [each.dtype for each in variables])
        if not _core.procedure.always_leaves(out):
            source.refuse(
                source.tree.body[-1], "its end can be reached without a return",
                "Every path has to return a number.",
            )  # fmt: skip
        results = [variable.index for variable in variables]
        made, has_flag = _core.procedure.assigning_results(out, self.code.variables, results)
        if has_flag:
            self.code.hidden_variable("has_returned", "bool")
        self.code.add(*made)
        self.sharing.parts = joined(frame.states)
        return frame.joined.value


class _Renaming(ast.NodeTransformer):
    """The names of a function's arguments and variables, but not those of comprehensions, nor
    those that functions inside have for themselves."""

    def __init__(self, names: dict[str, str]) -> None:
        self.names = names

    def of_function(self, tree: ast.FunctionDef) -> ast.FunctionDef:
        self.generic_visit(tree)
        return tree

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        own = {each.arg for each in node.args.args} | assigned_in(node.body)
        node.name = self.names.get(node.name, node.name)
        return self._inside(own).of_function(node)

    def visit_Lambda(self, node: ast.Lambda) -> ast.Lambda:
        self._inside({each.arg for each in node.args.args}).generic_visit(node)
        return node

    def _inside(self, own: set[str]) -> _Renaming:
        return _Renaming({name: new for name, new in self.names.items() if name not in own})

    def visit_Name(self, node: ast.Name) -> ast.Name:
        node.id = self.names.get(node.id, node.id)
        return node

    def visit_arg(self, node: ast.arg) -> ast.arg:
        node.arg = self.names.get(node.arg, node.arg)
        return node
