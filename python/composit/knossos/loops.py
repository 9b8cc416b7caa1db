"""Loops of kernels: for over range, while, break, continue."""

from __future__ import annotations

import ast
import contextlib
from collections.abc import Callable, Iterator
from typing import Any

from composit._core.procedure import Statement
from composit._core.scalar import Expr
from composit.knossos.annotations import Leaf
from composit.knossos.array_statements import ArrayStatements
from composit.knossos.arrays import Array
from composit.knossos.ranges import Range
from composit.knossos.sequences import Changes, assigned_in, names_in
from composit.knossos.terms import variables_of
from composit.knossos.values import is_number, kind_of, make
from composit.knossos.views import State, joined, snapshot


class Loop:
    """A loop whose body is being translated."""

    def __init__(self, runs_for_ever: bool, flag: int | None = None) -> None:
        self.runs_for_ever = runs_for_ever
        self.flag = flag  # the variable that says whether a break has left the loop
        self.defined_at_stops: list[set[str]] = []
        # What names are parts of, where the loop is left and where it goes on.
        self.parts_at_stops: list[State] = []
        self.parts_at_continues: list[State] = []
        self.defined_at_continues: list[set[str]] = []


_NOT = {ast.Lt: ast.GtE, ast.GtE: ast.Lt, ast.Gt: ast.LtE, ast.LtE: ast.Gt, ast.Eq: ast.NotEq,
        ast.NotEq: ast.Eq}  # fmt: skip
_TURNED = {ast.Lt: ast.Gt, ast.Gt: ast.Lt, ast.LtE: ast.GtE, ast.GtE: ast.LtE, ast.Eq: ast.Eq,
           ast.NotEq: ast.NotEq}  # fmt: skip


def comparisons(test: ast.expr, holds: bool) -> Iterator[tuple[str, type[ast.cmpop], int]]:
    """(name, comparison, integer) of each that holds where the condition does, or does not."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        yield from comparisons(test.operand, not holds)
    elif isinstance(test, ast.BoolOp):
        if isinstance(test.op, ast.And) == holds:
            for each in test.values:
                yield from comparisons(each, holds)
    elif isinstance(test, ast.Compare) and len(test.ops) == 1:
        kind = type(test.ops[0])
        left, right = test.left, test.comparators[0]
        if isinstance(left, ast.Constant):
            left, right, kind = right, left, _TURNED.get(kind, kind)
        if not isinstance(left, ast.Name) or not isinstance(right, ast.Constant):
            return
        if type(right.value) is int and kind in _NOT:
            yield left.id, kind if holds else _NOT[kind], right.value


class Loops(ArrayStatements):
    """Loops; variables and the other statements are the translator's."""

    numbers: dict[str, int]
    variables: list[tuple[str, Any]]
    defined: set[str] | None
    loops: list[Loop]
    flag: int | None = None  # of the next loop, and the last loop that had one
    left: Loop | None = None
    nesting: int
    count_of_assignments: dict[str, int]
    changing_calls: dict[Any, set[str]]
    _text_of_names: ast.AST | None = None  # of which the next is
    _loops_of_names: dict[str, set[frozenset[ast.AST]]]

    def block(self, body: list[ast.stmt], is_certain: bool = False) -> list[Any]:
        raise NotImplementedError

    def leaf(self, name: str) -> Expr:
        raise NotImplementedError

    def _statements(self, body: list[ast.stmt], out: list[Any]) -> None:
        raise NotImplementedError

    def assign(self, target: ast.expr, value: Any, out: list[Any]) -> None:
        raise NotImplementedError

    def assign_in_order(self, target: ast.expr, value: Any, out: list[Any]) -> None:
        """Names and elements, `y[i], y[j] = y[j], y[i]`: from the left, of values that are known
        before the first one is assigned."""
        pairs: list[tuple[ast.expr, Any]] = []
        self.spread(target, value, lambda each, part: pairs.append((each, part)))
        known = [(each, self._held(part)) for each, part in pairs]
        for each, part in known:
            if isinstance(each, ast.Subscript):
                self.assign_element(each, part)
            else:
                self.assign(each, part, out)

    def is_read_behind_a_break(self, name: str) -> bool:
        return any(name in stops for loop in self.loops for stops in loop.defined_at_stops)

    def _held(self, value: Any) -> Any:
        if isinstance(value, Array):
            return self._copied(value)
        if isinstance(value, tuple):
            return tuple(self._held(part) for part in value)
        if not isinstance(value, Expr) or (value.op == "argument" and self.is_assigned_once(value)):
            return value
        name = self.hidden_variable("value", kind_of(value))
        self.out.append(Statement.assign(self.numbers[name], value, self.line))
        return self.leaf(name)

    def add_variable(self, name: str, kind: str) -> int:
        raise NotImplementedError

    def hidden_variable(self, wanted: str, kind: str) -> str:
        raise NotImplementedError

    @contextlib.contextmanager
    def where(self, test: ast.expr, holds: bool) -> Iterator[None]:
        """What a condition says of the least values of counters, in the branch that it guards."""
        before = dict(self.ranges)
        for name, kind, number in comparisons(test, holds):
            counter = self.numbers.get(name)
            if counter not in self.ranges:
                continue
            least, bound = self.ranges[counter]
            if kind in (ast.GtE, ast.Eq):
                least = max(least, number)
            elif kind is ast.Gt or (kind is ast.NotEq and number == least):
                least = max(least, number + 1)
            self.ranges[counter] = (least, bound)
        try:
            yield
        finally:
            self.ranges = before

    def do_while(self, node: ast.While, out: list[Any]) -> None:
        self._with_else(self._while, node, out)

    def _while(self, node: ast.While, out: list[Any]) -> None:
        with self.emitting([]) as needed:
            condition = self.operators.truth(self.value(node.test))
        if condition is False:
            return
        if needed:
            # What the condition reads is read in each iteration.
            stop = [Statement.simple("stop", node.lineno)]
            body = self._loop_body(node.body, False, test=node.test)
            leaves = self.operators.unary("not", condition)
            body = [*needed, Statement.branch(leaves, stop, [], node.lineno), *body]
            forever = self.operators.cast(True, "bool")
            out.append(Statement.loop([], forever, body, [], node.lineno))
            return
        for_ever = condition is True
        if for_ever and not _leaves(node.body):
            self.refuse(
                node, "the loop never ends", "A break, a return, or a condition is required."
            )
        body = self._loop_body(node.body, for_ever, test=node.test)
        condition = (
            self._condition(node.test) if not for_ever else self.operators.cast(True, "bool")
        )
        out.append(Statement.loop([], condition, body, [], node.lineno))

    def _condition(self, test: ast.expr) -> Expr:
        return self.operators.truth(self.value(test))

    def _loop_body(
        self, body: list[ast.stmt], for_ever: bool, is_certain: bool = False,
        test: ast.expr | None = None, begin: Callable[[list[Any]], None] | None = None,
        runs: bool = False,
    ) -> list[Any]:  # fmt: skip
        """The statements of an iteration. `test`: what is read before each; `begin`: adds what an
        iteration begins with. `runs`: there is one."""
        number, state = self.begin_of_loop()
        first = len(self.arrays)
        translated: list[Any] = []
        if begin is not None:
            with self.emitting(translated):
                begin(translated)
        elif test is not None and any(state.values()):
            with self.emitting([]):  # reads nothing that an iteration has changed
                self.value(test)
        before = set(self.defined or ())
        self.loops.append(Loop(for_ever, self.flag))
        self.flag = None
        self.nesting += 1
        translated += self.block(body, is_certain)
        self.nesting -= 1
        loop = self.loops.pop()
        self.left = loop if loop.flag is not None else self.left
        again = [*loop.parts_at_continues, *([] if self.defined is None else [self.parts])]
        self.end_of_loop(number, state, again, loop.parts_at_stops)
        self.ended |= set(range(first, len(self.arrays)))
        ends = [*loop.defined_at_stops, *loop.defined_at_continues]
        ends += [] if self.defined is None else [self.defined]
        self.defined = before
        if runs and ends:
            self.defined = before | self._numbers_among(set.intersection(*ends))
        if for_ever:
            stops = loop.defined_at_stops
            self.defined = set.intersection(*stops) if stops else None
        return translated

    def _numbers_among(self, names: set[str]) -> set[str]:
        """The names that stand for numbers, which have values wherever they are read behind a loop
        that runs."""
        return {name for name in names if type(self.structures.get(name)) is Leaf}

    def do_for(self, node: ast.For, out: list[Any]) -> None:
        self._with_else(self._for, node, out)

    def changes_of(self, body: list[ast.stmt]) -> Changes:
        return Changes(body, self.changing_calls)

    def _for(self, node: ast.For, out: list[Any]) -> None:
        changes = self.changes_of(node.body)
        items = self.sequence(node.iter, changes)
        if isinstance(items, Range):
            self._over_range(node, items, out)
        elif isinstance(items, Array):
            self._over_array(node, items, out)
        elif not jumps_of(node.body):
            self._unrolled(node, items, changes, out)
        elif items:
            self._over_array(node, self.choosing(items, changes), out)

    def _is_own(self, name: str, node: ast.For, changes: Changes) -> bool:
        """Whether a name of a loop's head means something in the loop only, and does not change."""
        is_free = name not in self.numbers and name not in self.structures
        return is_free and name not in changes.names and not self._is_used_outside(node, name)

    def _over_range(self, node: ast.For, items: Range, out: list[Any]) -> None:
        if not isinstance(node.target, ast.Name):
            self.refuse(node.target, "the loop over a range has several names",
                        "One name is required.")  # fmt: skip
        name = node.target.id
        begin, end, step = items.begin, items.end, items.step
        changes = self.changes_of(node.body)
        is_own = self._is_own(name, node, changes)
        end_value = end if is_number(end) else self._kept(end, changes.names | {name}, out, node)
        counter = name
        if is_own:
            self.add_variable(name, "int")
        else:
            counter = self.hidden_variable(f"next_{name}", "int")
        here = self.leaf(counter)

        def set_counter(value: Any) -> list[Any]:
            number = self.numbers[counter]
            return [Statement.assign(number, self.operators.cast(value, "int"), node.lineno)]

        least = self.least(begin)
        if step > 0 and least is not None and least >= 0 and is_own:
            known = self.resolved(end)
            bound = known if self.is_of_parameters(known) else end_value
            self.ranges[self.numbers[counter]] = (least, bound)
        least, known = self.least(end), self.resolved_within(begin)
        if (
            step < 0
            and least is not None
            and least >= -1
            and self.is_of_parameters(known)
            and is_own
        ):
            bound = known + 1 if is_number(known) else make("add", [known, self.integer(1)])
            self.ranges[self.numbers[counter]] = (least + 1, bound)
        first = set_counter(begin)
        condition = make("less" if step > 0 else "greater",
                         [here, self.operators.cast(end_value, "int")])  # fmt: skip
        moved = make("add" if step > 0 else "subtract",
                     [here, self.operators.cast(abs(step), "int")])  # fmt: skip
        next_ = set_counter(moved)
        body: list[Any] = []
        before = set(self.defined or ())
        runs = is_number(begin) and is_number(end) and (end - begin) * step > 0
        if is_own:
            self.structures[name] = Leaf("int")
            self.defined = before | {name}
        else:
            self.assign(node.target, here, body)
            if runs and name not in before:  # has a value behind the loop
                first_value = self.operators.cast(begin, "int")
                out.append(Statement.assign(self.numbers[name], first_value, node.lineno))
                before |= {name}
        body += self._loop_body(node.body, False, runs and not _jumps(node.body), runs=runs)
        new = (self.defined or set()) - before - {name} if runs else set()
        new = {each for each in new if self._is_used_outside(node, each)}
        self._begin_with_values(new, out, node)
        self.defined = before | new
        if is_own:
            del self.structures[name], self.numbers[name]
        out.append(Statement.loop(first, condition, body, next_, node.lineno))

    def _begin_with_values(self, names: set[str], out: list[Any], node: ast.For) -> None:
        """Variables that a loop which runs is the first to assign, and that may be read behind it:
        what they hold before it does not matter."""
        for name in sorted(names):
            zero = self.operators.cast(0, self.kinds[name])
            out.append(Statement.assign(self.numbers[name], zero, node.lineno))

    def _over_array(self, node: ast.For, items: Array, out: list[Any]) -> None:
        target, own = node.target, self._enumerating(node)
        if own:
            self.add_variable(own, "int")
            counter = own
            self.structures[own] = Leaf("int")
        else:
            first_name = next(each.id for each in ast.walk(target) if isinstance(each, ast.Name))
            counter = self.hidden_variable(f"{first_name}_index", "int")
        number, here = self.numbers[counter], self.leaf(counter)
        self.ranges[number] = (0, items.shape[0])
        before = set(self.defined or ())
        if own:
            self.defined = before | {own}

        def begin(body: list[Any]) -> None:
            item = items.at([here])
            if own:
                self.assign(target.elts[1], item[1], body)  # type: ignore[attr-defined]
            else:
                self.assign(target, item, body)

        body = self._loop_body(node.body, False, begin=begin)
        self.defined = before
        if own:
            del self.structures[own], self.numbers[own]
        first = [Statement.assign(number, self.operators.cast(0, "int"), node.lineno)]
        moved = make("add", [here, self.operators.cast(1, "int")])
        condition = make("less", [here, self.operators.cast(items.shape[0], "int")])
        next_ = [Statement.assign(number, moved, node.lineno)]
        out.append(Statement.loop(first, condition, body, next_, node.lineno))

    def _enumerating(self, node: ast.For) -> str:
        """The name of `for i, v in enumerate(…)` that counts from 0, where it can be the counter of
        the loop; empty: there is none."""
        call, target = node.iter, node.target
        is_counted = isinstance(call, ast.Call) and self.meaning_or_none(call.func) is enumerate
        is_pair = isinstance(target, (ast.Tuple, ast.List)) and len(target.elts) == 2
        if not is_counted or not is_pair or len(call.args) != 1 or call.keywords:  # type: ignore
            return ""
        counter = target.elts[0]  # type: ignore[attr-defined]
        if not isinstance(counter, ast.Name):
            return ""
        return counter.id if self._is_own(counter.id, node, self.changes_of(node.body)) else ""

    def _unrolled(
        self, node: ast.For, items: tuple[Any, ...], changes: Changes, out: list[Any]
    ) -> None:
        """The body once for each value of a tuple."""
        names = {each.id for each in ast.walk(node.target) if isinstance(each, ast.Name)}
        if len(items) > 1:  # what is assigned in the text once is assigned several times
            for name in names | assigned_in(node.body):
                count = self.count_of_assignments.get(name, 0)
                self.count_of_assignments[name] = count + len(items)
        is_own = all(self._is_own(name, node, changes) for name in names)
        items = self.as_before(items, changes)
        for item in items:
            if self.defined is None:
                return
            self.line = node.lineno
            if not is_own:
                self.assign(node.target, item, out)
                self._statements(node.body, out)
                continue
            self._bind_target(node.target, item)
            self._statements(node.body, out)
            self.bound.pop()

    def _is_used_outside(self, loop: ast.For, name: str) -> bool:
        """Whether the function reads or assigns the name outside the loop, apart from loops of
        the same name."""
        tree = self.source.tree
        if self._text_of_names is not tree:
            self._text_of_names, self._loops_of_names = tree, _loops_of_names(tree)
        return any(loop not in loops for loops in self._loops_of_names.get(name, ()))

    def _kept(self, end: Any, changed: set[str], out: list[Any], node: ast.AST) -> Any:
        """The bound as it was before the loop."""
        names = {self.whole(number) for number in variables_of(end)}
        if not names & changed and end.op == "argument":
            return end
        stop = self.hidden_variable("stop", "int")
        out.append(Statement.assign(self.numbers[stop], self.operators.cast(end, "int"),
                                    node.lineno))  # type: ignore[attr-defined]  # fmt: skip
        return self.leaf(stop)

    def _with_else(self, loop: Callable[[Any, list[Any]], None], node: Any, out: list[Any]) -> None:
        """A loop, then its else, which runs where no break has left the loop."""
        if not node.orelse:
            loop(node, out)
            return
        if not jumps_of(node.body, (ast.Break,)):
            loop(node, out)
            self._statements(node.orelse, out)
            return
        name = self.hidden_variable("is_left", "bool")
        number, line = self.numbers[name], node.lineno
        out.append(Statement.assign(number, self.operators.cast(False, "bool"), line))
        self.flag = number
        loop(node, out)
        if self.flag is not None:  # the loop never runs
            self.flag = None
            self._statements(node.orelse, out)
            return
        left, self.left = self.left, None
        if left is None or not left.defined_at_stops:  # no break is reached
            self._statements(node.orelse, out)
            return
        defined, parts = set.intersection(*left.defined_at_stops), joined(left.parts_at_stops)
        self.nesting += 1
        otherwise = self.block(node.orelse)
        self.nesting -= 1
        out.append(Statement.branch(self.leaf(name), [], otherwise, line))
        is_over = self.defined is None
        self.defined = defined if is_over else self.defined & defined  # type: ignore[operator]
        self.parts = joined([parts, {} if is_over else self.parts])

    def do_break(self, node: ast.Break, out: list[Any]) -> None:
        if self.loops[-1].flag is not None:
            true = self.operators.cast(True, "bool")
            out.append(Statement.assign(self.loops[-1].flag, true, node.lineno))
        self.loops[-1].defined_at_stops.append(set(self.defined or ()))
        self.loops[-1].parts_at_stops.append(snapshot(self.parts))
        out.append(Statement.simple("stop", node.lineno))
        self.defined = None

    def do_continue(self, node: ast.Continue, out: list[Any]) -> None:
        self.loops[-1].parts_at_continues.append(snapshot(self.parts))
        self.loops[-1].defined_at_continues.append(set(self.defined or ()))
        out.append(Statement.simple("go_on", node.lineno))
        self.defined = None


def _loops_of_names(tree: ast.AST) -> dict[str, set[frozenset[ast.AST]]]:
    """Of each name that stands outside loops of that name: the loops around each of its places."""
    places: dict[str, set[frozenset[ast.AST]]] = {}
    waiting: list[tuple[ast.AST, frozenset[ast.AST], frozenset[str]]] = [
        (tree, frozenset(), frozenset())
    ]
    while waiting:
        node, loops, own = waiting.pop()
        if isinstance(node, ast.For) and node is not tree:
            loops, own = loops | {node}, own | names_in(node.target)
        elif isinstance(node, ast.Name) and node.id not in own:
            places.setdefault(node.id, set()).add(loops)
        waiting.extend((each, loops, own) for each in ast.iter_child_nodes(node))
    return places


def _jumps(body: list[ast.stmt]) -> bool:
    """Whether statements may be passed over, except by branches."""
    jumps = (ast.Break, ast.Continue, ast.Return)
    return any(isinstance(each, jumps) for statement in body for each in ast.walk(statement))


def jumps_of(body: list[ast.stmt], kinds: Any = (ast.Break, ast.Continue)) -> bool:
    """Whether statements hold a jump of their own loop."""
    for statement in body:
        if isinstance(statement, kinds):
            return True
        inner = [each for each in ast.iter_child_nodes(statement) if isinstance(each, ast.stmt)]
        if isinstance(statement, (ast.For, ast.While)):
            inner = statement.orelse
        if jumps_of(inner, kinds):
            return True
    return False


def _leaves(body: list[ast.stmt]) -> bool:
    """Whether the statements hold a return, or a break of their own loop."""
    for statement in body:
        if isinstance(statement, (ast.Return, ast.Break)):
            return True
        if isinstance(statement, (ast.For, ast.While)):
            if any(isinstance(each, ast.Return) for each in ast.walk(statement)):
                return True
            if _leaves(statement.orelse):
                return True
        elif _leaves([each for each in ast.iter_child_nodes(statement)
                      if isinstance(each, ast.stmt)]):  # fmt: skip
            return True
    return False
