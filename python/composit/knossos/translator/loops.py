"""Loops of kernels: for, while, their else, break and continue."""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Callable
from typing import Any

from composit._core.knossos import (
    Array,
    Block,
    Code,
    Integers,
    Makers,
    Operators,
    Range,
    Sharing,
    joined,
    variables_of,
)
from composit._core.procedure import Statement
from composit.knossos.annotations import Leaf
from composit.knossos.translator.assignments import Assignments
from composit.knossos.translator.expressions import Expressions, Forms
from composit.knossos.translator.found import Found
from composit.knossos.translator.lists import Lists
from composit.knossos.translator.mentions import (
    Changes,
    appended_in,
    assigned_in,
    jumps_of,
    leaves,
    passes_over,
    text_of,
)
from composit.knossos.translator.scope import Loop, Scope
from composit.knossos.translator.sequences import Sequences
from composit.knossos.translator.statements import Statements
from composit.knossos.translator.targets import Targets
from composit.knossos.values import is_number, make


@dataclasses.dataclass(eq=False)
class Loops:
    """Loops over ranges and arrays, and over tuples, which are written out."""

    code: Code
    operators: Operators
    scope: Scope
    found: Found
    integers: Integers
    sharing: Sharing
    expressions: Expressions
    statements: Statements
    makers: Makers
    lists: Lists
    targets: Targets
    sequences: Sequences
    assignments: Assignments

    def __post_init__(self) -> None:
        # The variable that says whether the next loop was left; the last loop that had one.
        self._flag: int | None = None
        self._left: Loop | None = None

    def forms(self) -> Forms:
        return {
            ast.While: lambda node: self._with_else(self._while, node),
            ast.For: lambda node: self._with_else(self._for, node),
            ast.Break: self.do_break, ast.Continue: self.do_continue,
        }  # fmt: skip

    def _while(self, node: ast.While) -> None:
        with self.code.emitting() as needed:
            condition = self.operators.truth(self.expressions.value(node.test))
        if condition is False:
            return
        if needed:
            # What the condition reads is read in each iteration.
            stop = [Statement.simple("stop", node.lineno)]
            block = self._loop_body(node.body, False, test=node.test)
            is_over = self.operators.unary("not", condition)
            whole = [*needed, Statement.branch(is_over, stop, [], node.lineno), *block]
            forever = self._truth(True)
            self.code.add(Statement.loop([], forever, whole, [], node.lineno))
            return
        for_ever = condition is True
        if for_ever and not leaves(node.body):
            self.scope.refuse(
                node, "the loop never ends", "A break, a return, or a condition is required."
            )
        body = self._loop_body(node.body, for_ever, test=node.test)
        if not for_ever:
            condition = self.operators.truth(self.expressions.value(node.test))
        condition = self.operators.cast(condition, "bool")
        self.code.add(Statement.loop([], condition, body, [], node.lineno))

    def _truth(self, value: bool) -> Any:
        return self.operators.cast(value, "bool")

    def _loop_body(
        self, body: list[ast.stmt], for_ever: bool, is_certain: bool = False,
        test: ast.expr | None = None, begin: Callable[[], None] | None = None,
        runs: bool = False, trips: Any = None,
    ) -> Block:  # fmt: skip
        """The statements of an iteration. `test`: what is read before each; `begin`: adds what an
        iteration begins with. `runs`: there is one. `trips`: how many there are."""
        number, state = self.sharing.begin_of_loop()
        first = self.code.array_count
        translated = Block()
        if begin is not None:
            with self.code.emitting(translated):
                begin()
        elif test is not None and any(state.values()):
            with self.code.emitting():  # reads nothing that an iteration has changed
                self.expressions.value(test)
        before = set(self.scope.defined or ())
        self.scope.loops.append(Loop(for_ever, self._flag, trips))
        growing = self.lists.begin_loop(body)
        self._flag = None
        self.scope.nesting += 1
        translated.extend(self.statements.block(body, is_certain))
        self.scope.nesting -= 1
        loop = self.scope.loops.pop()
        self._left = loop if loop.flag is not None else self._left
        goes_on = self.scope.defined is not None
        again = [*loop.parts_at_continues, *([self.sharing.parts] if goes_on else [])]
        self.sharing.end_of_loop(number, state, again, loop.parts_at_stops)
        if growing[0]:
            self.lists.end_loop(growing, trips, not passes_over(body))
        self.sharing.ended |= set(range(first, self.code.array_count))
        ends = [*loop.defined_at_stops, *loop.defined_at_continues]
        ends += [] if self.scope.defined is None else [self.scope.defined]
        self.scope.defined = before
        if runs and ends:
            self.scope.defined = before | self._numbers_among(set.intersection(*ends))
        if for_ever:
            stops = loop.defined_at_stops
            self.scope.defined = set.intersection(*stops) if stops else None
        return translated

    def _numbers_among(self, names: set[str]) -> set[str]:
        """The names that stand for numbers, which have values wherever they are read behind a loop
        that runs."""
        return {name for name in names if type(self.scope.structures.get(name)) is Leaf}

    def _for(self, node: ast.For) -> None:
        changes = Changes(node.body, self.found.changing_calls)
        items = self.sequences.sequence(node.iter, changes)
        if isinstance(items, Range):
            self._over_range(node, items)
        elif isinstance(items, Array):
            self._over_array(node, items)
        elif not jumps_of(node.body):
            self._unrolled(node, items, changes)
        elif items:
            self._over_array(node, self.sequences.choosing(items, changes))

    def _is_own(self, name: str, node: ast.For, changes: Changes) -> bool:
        """Whether a name of a loop's head means something in the loop only, and does not change."""
        is_free = not self.code.has(name) and name not in self.scope.structures
        return is_free and name not in changes.names and not self._is_used_outside(node, name)

    def _over_range(self, node: ast.For, items: Range) -> None:
        if not isinstance(node.target, ast.Name):
            self.scope.refuse(node.target, "the loop over a range has several names",
                        "One name is required.")  # fmt: skip
        name = node.target.id
        begin, end, step = items.begin, items.end, items.step
        changes = Changes(node.body, self.found.changing_calls)
        trips = self._trips(items) if self.scope.appended & appended_in(node.body) else None
        is_own = self._is_own(name, node, changes)
        end_value = end if is_number(end) else self._kept(end, changes.names | {name})
        counter = name
        if is_own:
            self.code.add_variable(name, "int")
        else:
            counter = self.code.hidden_variable(f"next_{name}", "int")
        here = self.code.leaf(counter)

        def set_counter(value: Any) -> list[Any]:
            number = self.code.number_of(counter)
            return [Statement.assign(number, self.operators.cast(value, "int"), node.lineno)]

        least = self.integers.least(begin)
        if step > 0 and least is not None and least >= 0 and is_own:
            known = self.integers.resolved(end)
            bound = known if self.integers.is_of_parameters(known) else end_value
            self.integers.bound(self.code.number_of(counter), least, bound)
        least, known = self.integers.least(end), self.integers.resolved_within(begin)
        if (
            step < 0
            and least is not None
            and least >= -1
            and self.integers.is_of_parameters(known)
            and is_own
        ):
            bound = known + 1 if is_number(known) else make("add", [known, self.code.integer(1)])
            self.integers.bound(self.code.number_of(counter), least + 1, bound)
        first = set_counter(begin)
        condition = make("less" if step > 0 else "greater",
                         [here, self.operators.cast(end_value, "int")])  # fmt: skip
        moved = make("add" if step > 0 else "subtract",
                     [here, self.operators.cast(abs(step), "int")])  # fmt: skip
        next_ = set_counter(moved)
        body = Block()
        before = set(self.scope.defined or ())
        runs = is_number(begin) and is_number(end) and (end - begin) * step > 0
        if is_own:
            self.scope.structures[name] = Leaf("int")
            self.scope.defined = before | {name}
        else:
            with self.code.emitting(body):
                self.assignments.assign(node.target, here)
            if runs and name not in before:  # has a value behind the loop
                first_value = self.operators.cast(begin, "int")
                self.code.assign(self.code.number_of(name), first_value, node.lineno)
                before |= {name}
        is_certain = runs and not passes_over(node.body)
        body.extend(self._loop_body(node.body, False, is_certain, runs=runs, trips=trips))
        new = (self.scope.defined or set()) - before - {name} if runs else set()
        new = {each for each in new if self._is_used_outside(node, each)}
        self._begin_with_values(new, node.lineno)
        self.scope.defined = before | new
        if is_own:
            del self.scope.structures[name]
            self.code.forget(name)
        self.code.add(Statement.loop(first, condition, body, next_, node.lineno))

    def _trips(self, items: Range) -> Any:
        """How often a loop over a range runs."""
        count, operators = self.makers.counted(items).shape[0], self.operators
        if is_number(count) or count.op == "select" or self.integers.is_natural(count):
            return count
        return operators.select(operators.compare(">", count, 0), count, 0)

    def _begin_with_values(self, names: set[str], line: int) -> None:
        """Variables that a loop which runs is the first to assign, and that may be read behind it:
        what they hold before it does not matter."""
        for name in sorted(names):
            zero = self.operators.cast(0, self.code.kind_named(name))
            self.code.assign(self.code.number_of(name), zero, line)

    def _over_array(self, node: ast.For, items: Array) -> None:
        target, own = node.target, self._enumerating(node)
        if own:
            self.code.add_variable(own, "int")
            counter = own
            self.scope.structures[own] = Leaf("int")
        else:
            first_name = next(each.id for each in ast.walk(target) if isinstance(each, ast.Name))
            counter = self.code.hidden_variable(f"{first_name}_index", "int")
        number, here = self.code.number_of(counter), self.code.leaf(counter)
        self.integers.bound(number, 0, items.shape[0])
        before = set(self.scope.defined or ())
        if own:
            self.scope.defined = before | {own}

        def begin() -> None:
            item = items.at([here])
            if own:
                self.assignments.assign(target.elts[1], item[1])  # type: ignore[attr-defined]
            else:
                self.assignments.assign(target, item)

        body = self._loop_body(node.body, False, begin=begin, trips=items.shape[0])
        self.scope.defined = before
        if own:
            del self.scope.structures[own]
            self.code.forget(own)
        first = [Statement.assign(number, self.operators.cast(0, "int"), node.lineno)]
        moved = make("add", [here, self.operators.cast(1, "int")])
        condition = make("less", [here, self.operators.cast(items.shape[0], "int")])
        next_ = [Statement.assign(number, moved, node.lineno)]
        self.code.add(Statement.loop(first, condition, body, next_, node.lineno))

    def _enumerating(self, node: ast.For) -> str:
        """The name of `for i, v in enumerate(…)` that counts from 0, where it can be the counter of
        the loop; empty: there is none."""
        call, target = node.iter, node.target
        meaning = self.scope.meaning_or_none
        is_counted = isinstance(call, ast.Call) and meaning(call.func) is enumerate
        is_pair = isinstance(target, (ast.Tuple, ast.List)) and len(target.elts) == 2
        if not is_counted or not is_pair or len(call.args) != 1 or call.keywords:  # type: ignore
            return ""
        counter = target.elts[0]  # type: ignore[attr-defined]
        if not isinstance(counter, ast.Name):
            return ""
        return (
            counter.id
            if self._is_own(counter.id, node, Changes(node.body, self.found.changing_calls))
            else ""
        )

    def _unrolled(self, node: ast.For, items: tuple[Any, ...], changes: Changes) -> None:
        """The body once for each value of a tuple."""
        names = {each.id for each in ast.walk(node.target) if isinstance(each, ast.Name)}
        if len(items) > 1:  # what is assigned in the text once is assigned several times
            for name in names | assigned_in(node.body):
                count = self.code.times_assigned(name)
                self.code.set_times_assigned(name, count + len(items))
        is_own = all(self._is_own(name, node, changes) for name in names)
        items = self.sequences.as_before(items, changes)
        for item in items:
            if self.scope.defined is None:
                return
            self.code.line = node.lineno
            if not is_own:
                self.assignments.assign(node.target, item)
                self.statements.run(node.body)
                continue
            self.targets.bind(node.target, item)
            self.statements.run(node.body)
            self.scope.bound.pop()

    def _is_used_outside(self, loop: ast.For, name: str) -> bool:
        """Whether the function reads or assigns the name outside the loop, apart from loops of
        the same name."""
        return text_of(self.scope.source.tree).is_used_outside(text_of(loop), name)

    def _kept(self, end: Any, changed: set[str]) -> Any:
        """The bound as it was before the loop."""
        names = {self.code.whole(number) for number in variables_of(end)}
        if not names & changed and end.op == "argument":
            return end
        return self.code.held(self.code.integer(end), "stop")

    def _with_else(self, loop: Callable[[Any], None], node: Any) -> None:
        """A loop, then its else, which runs where no break has left the loop."""
        if not node.orelse:
            loop(node)
            return
        if not jumps_of(node.body, by_break_alone=True):
            loop(node)
            self.statements.run(node.orelse)
            return
        name = self.code.hidden_variable("is_left", "bool")
        number, line = self.code.number_of(name), node.lineno
        self.code.assign(number, self._truth(False), line)
        self._flag = number
        loop(node)
        if self._flag is not None:  # the loop never runs
            self._flag = None
            self.statements.run(node.orelse)
            return
        left, self._left = self._left, None
        if left is None or not left.defined_at_stops:  # no break is reached
            self.statements.run(node.orelse)
            return
        defined, parts = set.intersection(*left.defined_at_stops), joined(left.parts_at_stops)
        self.scope.nesting += 1
        otherwise = self.statements.block(node.orelse)
        self.scope.nesting -= 1
        self.code.add(Statement.branch(self.code.leaf(name), [], otherwise, line))
        is_over = self.scope.defined is None
        if self.scope.defined is not None:
            defined &= self.scope.defined
        self.scope.defined = defined
        self.sharing.parts = joined([parts, {} if is_over else self.sharing.parts])

    def do_break(self, node: ast.Break) -> None:
        if self.scope.loops[-1].flag is not None:
            true = self._truth(True)
            self.code.assign(self.scope.loops[-1].flag, true, node.lineno)
        self.scope.loops[-1].defined_at_stops.append(set(self.scope.defined or ()))
        self.scope.loops[-1].parts_at_stops.append(self.sharing.parts)
        self.code.add(Statement.simple("stop", node.lineno))
        self.scope.defined = None

    def do_continue(self, node: ast.Continue) -> None:
        self.scope.loops[-1].parts_at_continues.append(self.sharing.parts)
        self.scope.loops[-1].defined_at_continues.append(set(self.scope.defined or ()))
        self.code.add(Statement.simple("go_on", node.lineno))
        self.scope.defined = None
