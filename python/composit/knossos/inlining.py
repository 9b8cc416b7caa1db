"""Functions that are called within a kernel and become part of it: those with arrays, those that
call themselves to a depth that is known, and, within kernels of numbers, those of several results.
"""

from __future__ import annotations

import ast
import copy
import types
from typing import Any

import composit._core as _core
from composit._core.procedure import Statement
from composit._core.scalar import Expr
from composit.knossos.annotations import Leaf, TensorOf, all_leaves, leaves_of, structure_of
from composit.knossos.arrays import Array, Stored
from composit.knossos.closures import FunctionValue, Inner, is_open
from composit.knossos.library import LibrarySource
from composit.knossos.loops import Loops
from composit.knossos.paths import Joined, leaves_of_value
from composit.knossos.raising import Returned
from composit.knossos.sequences import NOTHING, assigned_in, names_in, place_of
from composit.knossos.source import Source, known_kernel
from composit.knossos.values import (
    Record,
    is_number,
    kind_of,
    with_article,
)
from composit.knossos.views import Restart, State, joined, snapshot

_MOST_CALLS = 500


class Frame:
    """A call that is being translated."""

    def __init__(
        self, function: Any, known: dict[int, int], nesting: int, first_variable: int,
        number: int, node: ast.Call, first_array: int, is_for_effect: bool,
        names_around: set[str], has_raises: bool,
    ) -> None:  # fmt: skip
        self.function, self.known, self.nesting = function, known, nesting
        self.value: Any = None
        self.has_value = False
        self.joined: Joined | None = None  # of what branches return
        self.states: list[State] = []  # what names are parts of, where it returns
        self.first_variable, self.number = first_variable, number
        self.block: list[Any] = []
        self.node, self.first_array = node, first_array
        self.is_for_effect = is_for_effect  # a statement, whose value is not asked for
        self.names_around = names_around
        self.has_raises = has_raises


class Inlining(Loops):
    """Calls as statements; the rest of statements is the translator's."""

    frames: list[Frame]
    count_of_calls: int
    count_of_changes = 0  # of elements of arrays
    called_for_effect: ast.AST | None = None
    changing_calls: dict[Any, set[str]]
    returned: Returned
    count_of_assignments: dict[str, int]
    count_of_reads: dict[str, int]  # in the function that is called
    declared: Leaf | None
    declared_result: list[str] | None
    floats: set[str]
    root_has_arrays: bool
    carried: dict[int, State]

    def _declared_structure(self, tree: ast.FunctionDef, is_part: bool = False) -> Leaf | None:
        """What the annotation of the result says; None: there is none, or one that says nothing
        of a function that becomes part of another."""
        is_none = isinstance(tree.returns, ast.Constant) and tree.returns.value is None
        if tree.returns is None or (is_part and (is_none or is_open(self.source, tree.returns))):
            return None
        return structure_of(self.source, tree.returns)

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
        stay calls: their functions have no branches, and loops over them are vectorised. What
        raises becomes part of these, as calls check nothing."""
        if self.root_has_arrays:
            return any(isinstance(each, ast.Raise) for each in ast.walk(source.tree))
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
            self.refuse(node, f"{source.name} of {len(arguments)} arguments",
                        f"It has {len(parameters)}.", TypeError)  # fmt: skip
        known = {i: value for i, value in enumerate(arguments) if type(value) is int}
        self._check_depth(node, source, known)
        self.count_of_calls += 1
        names = self._renamed(source)
        if self.is_in_library[-1]:  # which calls another of its functions
            source = LibrarySource(source, self.source, node)
        self.is_in_library.append(isinstance(source, LibrarySource))
        tree = _Renaming(names).of_function(copy.deepcopy(source.tree))
        before = (self.source, self.refuse, self.locals, self.loops, self.defined, self.declared,
                  self.declared_result, self.bound, self.line)  # fmt: skip
        self.source, self.refuse = source, source.refuse
        around: list[dict[str, Any]] = []
        self.assigned |= set(names.values())
        if inner is None:
            self.locals = set(names.values())
        else:
            around = self.bound if inner.names is self.locals else inner.bound
            self.locals = inner.names | set(names.values())
        self.loops = []
        own = {parameter.arg for parameter in tree.args.args}
        self.count_of_assignments |= {
            name: count + (name in own)  # an argument that is assigned has two values
            for name, count in _counts(tree, ast.Store).items()
        }
        self.count_of_reads = _counts(tree, ast.Load)
        values: dict[str, Any] = {}
        rebound = _rebound_in(tree)
        for parameter, value in zip(tree.args.args, arguments):
            self._bind(node, parameter, value, values, rebound)
        self.bound = [*around, values]
        self.declared = self._declared_structure(tree, is_part=True)
        self.declared_result = self._declared_result(self.declared)
        first = len(self.arrays)
        frame = Frame(source.function, known, self.nesting, len(self.variables),
                      self.count_of_calls, node, first, node is self.called_for_effect,
                      set() if inner is None else names_in(source.tree),
                      any(isinstance(each, ast.Raise) for each in ast.walk(tree)))  # fmt: skip
        self.frames.append(frame)
        with self.emitting([]) as out:
            frame.block = out
            try:
                self._statements(self._without_doc(tree.body), out)
            finally:
                self.is_in_library.pop()
            is_joined = frame.joined is not None or frame.has_raises
            if frame.is_for_effect and self.defined is not None and is_joined:
                self._leave(node, (), out)
        self.frames.pop()
        (self.source, self.refuse, self.locals, self.loops, self.defined, self.declared,
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

    def _bind(
        self, node: ast.Call, parameter: ast.arg, value: Any, values: dict[str, Any],
        rebound: set[str],
    ) -> None:  # fmt: skip
        """An argument by its name: as it is where it does not change, else in a variable."""
        if isinstance(value, FunctionValue):
            values[parameter.arg] = value
            return
        if is_open(self.source, parameter.annotation):
            value = self._as_argument(value)
        else:
            structure = structure_of(self.source, parameter.annotation)  # type: ignore[arg-type]
            value = self._fitting_argument(node, structure, value)
        is_assigned = parameter.arg in rebound if isinstance(value, Array) else (
            self.count_of_assignments.get(parameter.arg, 0) > 1)  # fmt: skip
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
            return self._as_argument(value)
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

    def _as_argument(self, value: Any) -> Any:
        """What an argument is in the function: of arrays the array itself, whose elements the
        function may change."""
        if isinstance(value, Array):
            return self.stored(value, "argument")
        if isinstance(value, tuple):
            return type(value)(map(self._as_argument, value))
        return value

    def _value_of(self, node: ast.Call, source: Source, frame: Frame, out: list[Any]) -> Any:
        if frame.joined is None:
            self.out.extend(out)
            if not frame.has_value and frame.is_for_effect:
                return None
            if not frame.has_value:
                source.refuse(
                    source.tree, "its end can be reached without a return",
                    "Every path has to return a number.",
                )  # fmt: skip
            return frame.value
        variables = frame.joined.variables
        self.returned.check(frame.number, [each.dtype for each in variables])
        if not _core.procedure.always_leaves(out):
            source.refuse(
                source.tree.body[-1], "its end can be reached without a return",
                "Every path has to return a number.",
            )  # fmt: skip
        results = [variable.index for variable in variables]
        made, has_flag = _core.procedure.assigning_results(out, self.variables, results)
        if has_flag:
            self.hidden_variable("has_returned", "bool")
        self.out.extend(made)
        self.parts = joined(frame.states)
        return frame.joined.value

    def has_changed(self, stored: Stored) -> None:
        super().has_changed(stored)
        self.count_of_changes += 1
        for frame in self.frames:
            place = place_of(frame.node)
            if stored.number < frame.first_array and place not in self.changing_calls:
                self.changing_calls[place] = frame.names_around
                raise Restart  # loops around the call have to know it

    # ----- returns

    def return_inlined(self, node: ast.Return, out: list[Any]) -> None:
        """A return of the call that is being translated."""
        frame = self.frames[-1]
        is_none = node.value is None or (
            isinstance(node.value, ast.Constant) and node.value.value is None
        )
        if is_none and not frame.is_for_effect:
            self.refuse(node, "it returns nothing here", "A number is required.")
        value = () if is_none else self.value(node.value)  # type: ignore[arg-type]
        if isinstance(value, Array) and value.is_list:  # its names mean something here only
            value = self.stored(value, "list")
        if self.nesting == frame.nesting and frame.joined is None and not frame.has_raises:
            # The only one that is reached: its value stands where the call does.
            frame.value = None if is_none else self._declared(node, value)
            frame.has_value = True
            self.defined = None
            return
        self._leave(node, value, out)

    def _leave(self, node: ast.AST, value: Any, out: list[Any]) -> None:
        """One of several returns."""
        frame = self.frames[-1]
        if self.declared is not None and not (frame.is_for_effect and value == ()):
            self.check_declared(node, self.declared, value)
        if frame.joined is None:
            frame.joined = Joined(self, node, value, self._kinds_of_result(value), "returned",
                                  frame.block, frame.first_variable)  # fmt: skip
        keys = [f"{self._key_of_result()} {k}" for k in range(len(frame.joined.places))]
        made: list[Expr] = []
        for leaf, place in zip(frame.joined.put(node, value), frame.joined.variables):
            kind = kind_of(place)
            is_float = kind == "float" and self.declared is not None
            made.append(self.operators.cast(leaf, kind) if is_float else self._fitted(
                node, keys[len(made)], leaf, kind, "the result"))  # fmt: skip
        out.append(Statement.leave(made, self.line))
        frame.states.append(snapshot(self.parts))
        self.defined = None

    def _key_of_result(self) -> str:
        """What tells the results of this call from those of others."""
        return f"result of call {self.frames[-1].number}"

    def _kinds_of_result(self, value: Any) -> list[str]:
        """The kinds of numbers of a value that is the first of several that a call may return."""
        if self.declared is not None:
            return [leaf.kind for leaf in all_leaves(self.declared)]
        leaves, k, kinds = leaves_of_value(value), 0, []
        for leaf in leaves:
            kind = leaf.kind if isinstance(leaf, Array) else kind_of(leaf)
            if not isinstance(leaf, Array):
                kind = "float" if f"{self._key_of_result()} {k}" in self.floats else kind
                k += 1
            kinds.append(kind)
        return kinds

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


def _rebound_in(tree: ast.FunctionDef) -> set[str]:
    """The names that get other values in a function, not only other elements (`v += 1`)."""
    in_place = {each.target for each in ast.walk(tree) if isinstance(each, ast.AugAssign)}
    return {each.id for each in ast.walk(tree)
            if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)
            and each not in in_place}  # fmt: skip


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
