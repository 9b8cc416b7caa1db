"""A kernel's Python text as a procedure: statements over typed variables.

Types come from the annotations of the arguments and from what is assigned. A variable that is
assigned integer literals in one place and floats in another is a float: what shows that restarts
the translation."""

from __future__ import annotations

import ast
from typing import Any

import composit._core as _core
from composit._core.procedure import Procedure, Statement
from composit._core.scalar import Expr
from composit.knossos.annotations import Leaf, leaves_of, structure_of
from composit.knossos.array_statements import ArrayOf
from composit.knossos.arrays import Array, Stored
from composit.knossos.closures import FunctionOf
from composit.knossos.inlining import Frame, Inlining
from composit.knossos.loops import Loop
from composit.knossos.parameters import add_parameters, names_of_results
from composit.knossos.raising import Returned, raise_statement
from composit.knossos.sequences import assigned_in
from composit.knossos.source import Source, shown
from composit.knossos.targets import has_elements
from composit.knossos.terms import variables_of
from composit.knossos.values import (
    FunctionValue,
    Mismatch,
    is_number,
    kind_of,
    leaves_with_names,
    with_article,
)
from composit.knossos.views import Restart, State, joined, snapshot


class Translator(Inlining):
    """One run over the text, with what is known of the variables."""

    def __init__(
        self, source: Source, dtype: Any, floats: set[str], as_kernel: Any, has_arrays: bool
    ) -> None:
        super().__init__(source, dtype, as_kernel)
        self.assigned = assigned_in(source.tree.body)
        self.locals = self.assigned | {each.arg for each in source.tree.args.args}
        self.frames: list[Frame] = []
        self.nesting = self.count_of_calls = 0
        self.root_has_arrays = self.operators.has_arrays = has_arrays
        self.strong: set[str] = set()
        self.floats = floats
        self.variables: list[tuple[str, Any]] = []
        self.numbers: dict[str, int] = {}
        self.kinds: dict[str, str] = {}
        self.weak: set[str] = set()
        self.structures: dict[str, Any] = {}
        self.defined: set[str] | None = set()  # None: this place is never reached
        self.results: list[tuple[str, str]] = []
        self.result_structure: Any = None
        self.returns: list[tuple[ast.Return, list[Any]]] = []
        self.loops: list[Loop] = []
        self.hidden = 0
        self.head: list[int] = []
        self.outputs: dict[int, Any] = {}
        self.symbols: dict[str, str] = {}
        self.shown: dict[int, str] = {}  # the names of hidden variables, which scopes tell apart
        stores = [each.id for each in ast.walk(source.tree)
                  if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)]  # fmt: skip
        self.count_of_assignments = {name: stores.count(name) for name in stores}
        self.parameter_count = 0
        self.has_returned, self.count_of_parts = False, 0
        self.count_of_returns = sum(isinstance(each, ast.Return) for each in ast.walk(source.tree))

    # ----- the function

    def run(self) -> Procedure:
        tree = self.source.tree
        add_parameters(self, tree)
        parameters = self.parameter_count = len(self.variables)
        self.root_has_arrays = self.root_has_arrays or bool(self.arrays)
        self.declared = self._declared_structure(tree)
        self.declared_result = self._declared_result(self.declared)
        self.result_names = names_of_results(tree)
        self.line = tree.lineno
        with self.emitting([]) as copies:
            self.copy_arguments(tree)
        body = copies + self.block(self._without_doc(tree.body))
        self.returned.check(0, [self.operators.dtype_of(kind) for _, kind in self.results])
        if not self.has_returned:
            self.refuse(tree, "it returns nothing", "A return of numbers is required.")
        if not _core.procedure.always_leaves(body):
            self.refuse(
                tree.body[-1], "its end can be reached without a return",
                "Every path has to return a number.",
            )  # fmt: skip
        results = [(name, self.operators.dtype_of(kind)) for name, kind in self.results]
        made = Procedure(
            self.source.name, self.source.file, tree.lineno, self.source.documentation,
            [(_plain(self.shown.get(number, name)), dtype) for number, (name, dtype)
             in enumerate(self.variables)], parameters, results, body,
            [(_plain(name), *rest) for name, *rest in self.arrays],
            self.head if self.arrays else [],
        )  # fmt: skip
        return _core.procedure.without_dead_code(made, True) if self.arrays else made

    @staticmethod
    def _without_doc(body: list[ast.stmt]) -> list[ast.stmt]:
        first = body[0]
        is_doc = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
        return body[1:] if is_doc else body

    # ----- variables

    def add_variable(self, name: str, kind: str) -> int:
        self.numbers[name] = len(self.variables)
        self.kinds[name] = kind
        self.variables.append((name, self.operators.dtype_of(kind)))
        return self.numbers[name]

    def hidden_variable(self, wanted: str, kind: str) -> str:
        name = wanted
        arrays = {array for array, _, _, _ in self.arrays}
        while name in self.numbers or name in self.assigned or name in arrays:
            self.hidden += 1
            name = f"{wanted}_{self.hidden}"
        self.shown[self.add_variable(name, kind)] = wanted
        return name

    def leaf(self, name: str) -> Expr:
        number = self.numbers[name]
        return Expr.argument(number, self.variables[number][1], name)

    def is_assigned_once(self, value: Expr) -> bool:
        """Whether a variable is assigned in one place, or a parameter nowhere."""
        if value.index in self.loaded:
            return True
        times = self.count_of_assignments.get(self.whole(value.index), 0)
        return times == (0 if value.index < self.parameter_count else 1)

    def read(self, node: ast.AST, name: str) -> Any:
        structure = self.structures.get(name)
        if structure is None or self.defined is None or name not in self.defined:
            kind = self.kinds.get(name, structure.kind if type(structure) is Leaf else "")
            first = {"float": " = 0.0", "int": " = 0", "bool": " = False"}.get(kind, " = …")
            if isinstance(structure, ArrayOf):
                extents = ", ".join("n" for _ in structure.stored.shape)
                first = f" = np.zeros({extents if ',' not in extents else f'({extents})'})"
            self.refuse(
                node, f"{name} may have no value here",
                f"Give it one on every path that leads here, as {name}{first} before the "
                "branch or loop.", NameError,
            )  # fmt: skip
        return structure.build(lambda leaf: self.leaf(leaf), name)

    # ----- statements

    def block(self, body: list[ast.stmt], is_certain: bool = False) -> list[Any]:
        with self.emitting([]) as out:
            if is_certain:
                self.certain.append(out)
            self._statements(body, out)
        return out

    def _statements(self, body: list[ast.stmt], out: list[Any]) -> None:
        for statement in body:
            if self.defined is None:
                break  # never reached
            self.line = statement.lineno
            if not self.is_in_library[-1]:
                self.construct = statement
            method = getattr(self, "do_" + type(statement).__name__.lower(), None)
            try:
                if method is None:
                    self.refuse_statement(statement)
                else:
                    method(statement, out)
            except Mismatch as error:
                if self.is_in_library[-1]:
                    raise
                self.refuse(statement, error.wrong, error.instead, TypeError)

    def refuse_statement(self, node: ast.stmt) -> None:
        instead = {
            "ClassDef": "Define the class outside.",
            "Import": "Import at the top of the module.",
            "ImportFrom": "Import at the top of the module.",
            "Try": "Kernels raise nothing: write an if.",
            "With": "Write what it holds.",
            "Global": "Kernels change nothing outside: return the value.",
            "Nonlocal": "Kernels change nothing outside: return the value.",
            "Delete": "Leave it out.",
            "Match": "Write if, elif and else.",
        }.get(type(node).__name__, "See docs/knossos.md for what kernels may hold.")
        self.refuse(node, f"`{shown(node).splitlines()[0]}` is not part of kernels", instead)

    def do_pass(self, node: ast.Pass, out: list[Any]) -> None:
        pass

    def do_expr(self, node: ast.Expr, out: list[Any]) -> None:
        if isinstance(node.value, ast.Constant):
            return
        before, self.called_for_effect = self.count_of_changes, node.value
        if not isinstance(node.value, ast.Call) or (
            self.value(node.value) is not None and self.count_of_changes == before
        ):
            self.refuse(
                node, f"the value of `{shown(node)}` is not used",
                "Assign it, or leave the line out: kernels have no side effects.",
            )  # fmt: skip

    def do_functiondef(self, node: ast.FunctionDef, out: list[Any]) -> None:
        name = ast.copy_location(ast.Name(node.name), node)
        self.assign(name, self.function_inside(node), out)

    def do_assert(self, node: ast.Assert, out: list[Any]) -> None:
        holds = self.operators.truth(self.value(node.test))
        if isinstance(holds, Expr):
            claim = f"the assertion `{shown(node.test)}` does not hold"
            if node.msg is not None:
                is_text = isinstance(node.msg, ast.Constant)
                claim += ": " + str(ast.literal_eval(node.msg) if is_text else shown(node.msg))
            claim = claim.replace("{}", "{ }") + "."
            out.append(Statement.expect(holds, node.lineno, "AssertionError", claim))
        elif not holds:
            self.refuse(node, f"`{shown(node.test)}` never holds", "Leave it out.", ValueError)

    def do_raise(self, node: ast.Raise, out: list[Any]) -> None:
        out.append(raise_statement(self, node))
        out.append(self.returned.end(self.frames[-1].number if self.frames else 0))
        self.defined = None

    def do_return(self, node: ast.Return, out: list[Any]) -> None:
        if self.frames:
            self.return_inlined(node, out)
            return
        if node.value is None:
            self.refuse(node, "it returns nothing here", "A number is required.")
        value = self.value(node.value)
        if self.declared is not None:
            self.check_declared(node, self.declared, value)
        parts, self.result_structure = self.split(value), value
        for place, part in enumerate(parts):
            if isinstance(part, Array):
                self.return_array(place, part)
        numbers = tuple(part for part in parts if not isinstance(part, Array))
        values = [leaf for _, leaf in leaves_with_names(numbers)]
        has_arrays = len(values) != len(parts)
        if self.has_returned and has_arrays and len(parts) != self.count_of_parts:
            self.refuse(
                node, "it returns other arrays here than elsewhere", "The same are required."
            )
        self.has_returned, self.count_of_parts = True, len(parts)
        if not parts:
            self.refuse(node, "it returns an empty tuple", "A number is required.")
        kinds = self.declared_result or [kind_of(each) for each in values]
        if has_arrays and len(kinds) != len(values):
            kinds = [kind_of(each) for each in values]
        if len(kinds) != len(values) or (self.results and len(self.results) != len(values)):
            count = len(self.results or kinds)
            self.refuse(
                node, f"it returns {len(values)} numbers here, and {count} elsewhere or by its "
                "annotation", "The same number on every path is required.", TypeError,
            )  # fmt: skip
        if not self.results:
            self.results = [self._result(i, len(kinds), kind) for i, kind in enumerate(kinds)]
        out.append(Statement.leave(
            [self._fitted(node, f"return {i}", value, self.results[i][1], "the result")
             for i, value in enumerate(values)], node.lineno,
        ))  # fmt: skip
        self.defined = None

    def _result(self, i: int, count: int, kind: str) -> tuple[str, str]:
        name = "y" if count == 1 else f"y{i}"
        if len(self.result_names) == count:
            name = self.result_names[i]
        return name, "float" if f"return {i}" in self.floats else kind

    def _fitted(self, node: ast.AST, key: str, value: Any, kind: str, what: str) -> Expr:
        """The value as an expression of a kind; restarts where the kind should have been float."""
        own = kind_of(value)
        if own == kind:
            return self.operators.cast(value, kind)
        if kind == "float" and own == "int" and (is_number(value) or self.is_weak(value)):
            return self.operators.cast(value, "float")
        if kind == "float" and own == "int" and self.declared_result and key[:7] == "return ":
            return self.operators.cast(value, "float")
        is_open = key not in self.floats and (key in self.weak or not self.declared_result)
        if own == "float" and kind == "int" and is_open and key not in self.strong:
            self.floats.add(key)
            self.carried.clear()  # loops are counted otherwise
            raise Restart
        self.refuse(
            node, f"{what} is {with_article(own)} here and {with_article(kind)} elsewhere",
            f"One type is required: write {kind}(…) here." if kind != "bool" else
            "One type is required.", TypeError,
        )  # fmt: skip

    def is_weak(self, value: Any) -> bool:
        """Whether an int expression is a variable that only literals were assigned to."""
        return (
            isinstance(value, Expr) and value.op == "argument"
            and self.variables[value.index][0] in self.weak
        )  # fmt: skip

    # ----- assignments

    def do_assign(self, node: ast.Assign, out: list[Any]) -> None:
        value = self.value_or_function(node.value)
        if len(node.targets) > 1:
            value = self.given_to_several(node, value)
        for target in node.targets:
            self.assign(target, value, out)

    def do_annassign(self, node: ast.AnnAssign, out: list[Any]) -> None:
        if node.value is None:
            return
        value = self.value(node.value)
        leaves = [kind for _, kind in leaves_of(structure_of(self.source, node.annotation), "v")]
        if leaves == ["float"] and kind_of(value) == "int":
            value = self.operators.cast(value, "float")
        self.assign(node.target, value, out)

    def do_augassign(self, node: ast.AugAssign, out: list[Any]) -> None:
        if isinstance(node.target, ast.Subscript):
            value = self.value(node.value)
            self.augment_element(node, self.symbol(node.op), value)
            return
        if not isinstance(node.target, ast.Name):
            self.refuse(
                node, f"`{shown(node.target)}` is part of a value, which does not change",
                "Make a new tuple or record with the part replaced.",
            )  # fmt: skip
        old = self.of_name(ast.copy_location(ast.Name(node.target.id), node.target))
        other, symbol = self.value(node.value), self.symbol(node.op)
        if not isinstance(old, Array) and not isinstance(other, Array):
            self.assign(node.target, self.operators.binary(symbol, old, other), out)
            return
        value = self.elementwise(
            lambda a, b: self.operators.of_elements(symbol, a, b), [old, other]
        )
        if isinstance(old, Stored):
            self.check_holds(old.kind, value.kind, node)
            self.change_in_place(old, value, node)
        else:
            self.assign(node.target, value, out)

    def assign(self, target: ast.expr, value: Any, out: list[Any]) -> None:
        if isinstance(target, ast.Subscript):
            self.assign_element(target, value)
            return
        if has_elements(target):
            self.assign_in_order(target, value, out)
            return
        pairs: list[tuple[str, Any]] = []
        self.spread(target, value, lambda each, part: pairs.append((self.name_of(each), part)))
        assert self.defined is not None
        for name, each in pairs:
            self._check_structure(target, name, each)
        for name, each in pairs:
            if isinstance(each, FunctionValue):
                self._assign_function(target, name, each)
        pairs = [pair for pair in pairs if not isinstance(pair[1], FunctionValue)]
        leaves = [(name + path, leaf) for name, each in pairs
                  for path, leaf in leaves_with_names(each, has_arrays=True)]  # fmt: skip
        self.assign_arrays([leaf for leaf in leaves if isinstance(leaf[1], Array)], target)
        numbers = [(name, leaf, target) for name, leaf in leaves if not isinstance(leaf, Array)]
        self._assign_leaves(numbers, out)
        for name, each in pairs:
            self.structures[name] = self.structure_of_variable(name, each)
            self.defined.add(name)

    def _assign_function(self, target: ast.expr, name: str, value: FunctionValue) -> None:
        known = self.structures.get(name)
        if known is not None and not known.function.is_same(value):  # type: ignore[attr-defined]
            self.refuse(
                target, f"{name} is one function here and another one before",
                "Give them two names, and choose between their values.", TypeError,
            )  # fmt: skip
        self.structures[name] = FunctionOf(value)
        self.defined.add(name)  # type: ignore[union-attr]

    def _check_structure(self, target: ast.expr, name: str, value: Any) -> None:
        """Refuses another structure than the variable has. An array may be another one."""
        known = self.structures.get(name)
        structure = FunctionOf(value) if isinstance(value, FunctionValue) else Leaf.of(value)
        if known is None or known.outline() == structure.outline():
            return
        if isinstance(known, ArrayOf) and isinstance(value, Array) and known.block is self.out:
            return
        self.refuse(
            target, f"{name} is {structure.outline()} here and {known.outline()} before",
            "A variable keeps its structure: use another name.", TypeError,
        )  # fmt: skip

    def _assign_leaves(self, leaves: list[tuple[str, Any, ast.expr]], out: list[Any]) -> None:
        """All at once: what a later value still reads is written last."""
        made = [(name, self._variable_value(name, value, node), node)
                for name, value, node in leaves]  # fmt: skip
        late: list[tuple[str, Expr, ast.expr]] = []
        for i, (name, value, node) in enumerate(made):
            number = self.numbers[name]
            if any(number in variables_of(other) for _, other, _ in made[i + 1 :]):
                new = self.hidden_variable("new_" + name, self.kinds[name])
                late.append((name, self.leaf(new), node))
                out.append(Statement.assign(self.numbers[new], value, node.lineno))
        now = {name for name, _, _ in late}
        for name, value, node in [m for m in made if m[0] not in now] + late:
            number = self.numbers[name]
            # A parameter that is assigned has two values.
            is_once = self.count_of_assignments.get(name) == 1 and number >= self.parameter_count
            if is_once and kind_of(value) == "int":
                known = self.resolved(value)
                if self.is_of_parameters(known):
                    self.aliases[number] = known
            self.homes[number] = out
            out.append(Statement.assign(number, value, node.lineno))

    def _variable_value(self, name: str, value: Any, node: ast.AST) -> Expr:
        own = kind_of(value)
        weak = own == "int" and (is_number(value) or self.is_weak(value))
        if name not in self.numbers:
            kind = "float" if name in self.floats else own
            self.add_variable(name, kind)
            if weak:
                self.weak.add(name)
        if own == "int" and not weak and self.kinds[name] == "int":
            self.weak.discard(name)
            self.strong.add(name)
        return self._fitted(node, name, value, self.kinds[name], name)

    # ----- branches and loops

    def do_if(self, node: ast.If, out: list[Any]) -> None:
        condition = self.operators.truth(self.value(node.test))
        if isinstance(condition, bool):
            out.extend(self.block(node.body if condition else node.orelse))
            return
        before, parts = set(self.defined or ()), snapshot(self.parts)
        first = len(self.arrays)
        self.nesting += 1
        with self.where(node.test, True):
            body = self.block(node.body)
        after_body, parts_after_body = self.defined, self.parts
        self.defined, self.parts = set(before), parts
        with self.where(node.test, False):
            otherwise = self.block(node.orelse)
        self.nesting -= 1
        if self.defined is None:
            self.defined, self.parts = after_body, parts_after_body
        elif after_body is not None:
            self.defined &= after_body
            self.parts = joined([self.parts, parts_after_body])
        self.ended |= set(range(first, len(self.arrays)))
        out.append(Statement.branch(condition, body, otherwise, node.lineno))


def _plain(name: str) -> str:
    """The name of a part, "point.x", as C++ has it."""
    return name.replace(".", "_")


def translate(source: Source, dtype: Any, as_kernel: Any) -> tuple[Procedure, Any]:
    """The procedure in one floating dtype, and the structure of what it returns.

    `as_kernel(function)` is the kernel of another function that is called."""
    floats: set[str] = set()
    carried: dict[int, State] = {}
    copied: set[str] = set()
    changing_calls: dict[Any, set[str]] = {}
    returned = Returned()
    has_arrays = False
    while True:
        translator = Translator(source, dtype, floats, as_kernel, has_arrays)
        translator.carried, translator.copied = carried, copied
        translator.changing_calls, translator.returned = changing_calls, returned
        try:
            made = translator.run()
        except Restart:
            has_arrays = translator.root_has_arrays
            continue
        return made, Leaf.of(translator.result_structure)
