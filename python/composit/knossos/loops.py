"""Loops of kernels: for over range, while, break, continue."""

from __future__ import annotations

import ast
import contextlib
from collections.abc import Iterator
from typing import Any

from composit._core.procedure import Statement
from composit._core.scalar import Expr
from composit.knossos.annotations import Leaf
from composit.knossos.array_statements import ArrayStatements
from composit.knossos.arrays import Array
from composit.knossos.source import shown
from composit.knossos.values import is_number, kind_of, make, with_article


class Loop:
    """A loop whose body is being translated."""

    def __init__(self, runs_for_ever: bool) -> None:
        self.runs_for_ever = runs_for_ever
        self.defined_at_stops: list[set[str]] = []


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
    nesting: int

    def block(self, body: list[ast.stmt], is_certain: bool = False) -> list[Any]:
        raise NotImplementedError

    def leaf(self, name: str) -> Expr:
        raise NotImplementedError

    def assign(self, target: ast.expr, value: Any, out: list[Any]) -> None:
        raise NotImplementedError

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
        self._refuse_else(node)
        with self.emitting([]) as needed:
            condition = self.operators.truth(self.value(node.test))
        if condition is False:
            return
        if needed:
            # What the condition reads is read in each iteration.
            stop = [Statement.simple("stop", node.lineno)]
            body = self._loop_body(node.body, False)
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
        body = self._loop_body(node.body, for_ever)
        condition = (
            self._condition(node.test) if not for_ever else self.operators.cast(True, "bool")
        )
        out.append(Statement.loop([], condition, body, [], node.lineno))

    def _condition(self, test: ast.expr) -> Expr:
        return self.operators.truth(self.value(test))

    def _loop_body(
        self, body: list[ast.stmt], for_ever: bool, is_certain: bool = False
    ) -> list[Any]:
        before = set(self.defined or ())
        self.loops.append(Loop(for_ever))
        self.nesting += 1
        translated = self.block(body, is_certain)
        self.nesting -= 1
        loop = self.loops.pop()
        self.defined = before
        if for_ever:
            stops = loop.defined_at_stops
            self.defined = set.intersection(*stops) if stops else None
        return translated

    def do_for(self, node: ast.For, out: list[Any]) -> None:
        self._refuse_else(node)
        if not isinstance(node.target, ast.Name):
            self.refuse(node.target, "the loop has several names", "One name is required.")
        name = node.target.id
        is_range = isinstance(node.iter, ast.Call) and self.meaning_or_none(node.iter.func) is range
        if not is_range:
            self._over_array(node, out)
            return
        begin, end, step = self._range(node.iter)
        changed = assigned_in(node.body)
        is_own = name not in self.numbers and name not in changed
        is_own = is_own and not self._is_used_outside(node, name)
        end_value = end if is_number(end) else self._kept(end, changed | {name}, out, node)
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
        if is_own:
            self.structures[name] = Leaf("int")
            self.defined = before | {name}
        else:
            self.assign(node.target, here, body)
        runs = is_number(begin) and is_number(end) and (end - begin) * step > 0
        body += self._loop_body(node.body, False, runs and not _jumps(node.body))
        self.defined = before
        if is_own:
            del self.structures[name], self.numbers[name]
        out.append(Statement.loop(first, condition, body, next_, node.lineno))

    def _over_array(self, node: ast.For, out: list[Any]) -> None:
        items = self.value(node.iter)
        if not isinstance(items, Array):
            self.refuse(
                node, f"a loop over `{shown(node.iter)}`",
                "Loops go over range(…) or an array; or write while.",
            )  # fmt: skip
        assert isinstance(node.target, ast.Name)
        counter, here = self.loop_over(items, node)
        number = self.numbers[counter]
        before = set(self.defined or ())
        body: list[Any] = []
        with self.emitting(body):
            self.assign(node.target, self.rows(items).at([here]), body)
        body += self._loop_body(node.body, False)
        self.defined = before
        first = [Statement.assign(number, self.operators.cast(0, "int"), node.lineno)]
        moved = make("add", [here, self.operators.cast(1, "int")])
        condition = make("less", [here, self.operators.cast(items.shape[0], "int")])
        next_ = [Statement.assign(number, moved, node.lineno)]
        out.append(Statement.loop(first, condition, body, next_, node.lineno))

    def _is_used_outside(self, loop: ast.For, name: str) -> bool:
        """Whether the function reads or assigns the name outside the loop, apart from loops of
        the same name."""
        inside = {id(each) for each in ast.walk(loop)}
        heads = {id(each.target) for each in ast.walk(self.source.tree)
                 if isinstance(each, ast.For)}  # fmt: skip
        within_same = {
            id(each) for other in ast.walk(self.source.tree)
            if isinstance(other, ast.For) and isinstance(other.target, ast.Name)
            and other.target.id == name for each in ast.walk(other)
        }  # fmt: skip
        return any(
            isinstance(each, ast.Name) and each.id == name and id(each) not in inside
            and id(each) not in heads and id(each) not in within_same
            for each in ast.walk(self.source.tree)
        )  # fmt: skip

    def _kept(self, end: Any, changed: set[str], out: list[Any], node: ast.AST) -> Any:
        """The bound as it was before the loop."""
        names = {self.whole(number) for number in reads(end)}
        if not names & changed and end.op == "argument":
            return end
        stop = self.hidden_variable("stop", "int")
        out.append(Statement.assign(self.numbers[stop], self.operators.cast(end, "int"),
                                    node.lineno))  # type: ignore[attr-defined]  # fmt: skip
        return self.leaf(stop)

    def _range(self, node: ast.expr) -> tuple[Any, Any, int]:
        is_range = isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
        if not is_range or self.meaning_or_none(node.func) is not range:  # type: ignore
            self.refuse(
                node, f"a loop over `{shown(node)}`", "Loops go over range(…); or write while."
            )
        arguments = [self.value(argument) for argument in node.args]  # type: ignore[attr-defined]
        if not 1 <= len(arguments) <= 3:
            self.refuse(node, f"range of {len(arguments)} arguments", "One to three are required.")
        for argument in arguments:
            if kind_of(argument) not in ("int", "bool"):
                self.refuse(
                    node,
                    f"range of {with_article(kind_of(argument))}",
                    "Integers are required.",
                    TypeError,
                )
        begin, end = (0, arguments[0]) if len(arguments) == 1 else arguments[:2]
        step = arguments[2] if len(arguments) == 3 else 1
        if not is_number(step) or step == 0:
            self.refuse(
                node, f"the step `{shown(node.args[2])}`",  # type: ignore[attr-defined]
                "A literal integer other than 0 is required.", ValueError,
            )  # fmt: skip
        return begin, end, int(step)

    def _refuse_else(self, node: Any) -> None:
        if node.orelse:
            self.refuse(
                node.orelse[0], "a loop with else",
                "Remember in a bool whether the loop was left by break.",
            )  # fmt: skip

    def do_break(self, node: ast.Break, out: list[Any]) -> None:
        self.loops[-1].defined_at_stops.append(set(self.defined or ()))
        out.append(Statement.simple("stop", node.lineno))
        self.defined = None

    def do_continue(self, node: ast.Continue, out: list[Any]) -> None:
        out.append(Statement.simple("go_on", node.lineno))
        self.defined = None


def reads(value: Expr) -> set[int]:
    """The variables that an expression reads."""
    found, seen, stack = set(), set(), [value]
    while stack:
        expr = stack.pop()
        if hash(expr) in seen:
            continue
        seen.add(hash(expr))
        if expr.op == "argument":
            found.add(expr.index)
        stack.extend(expr.operands)
    return found


def assigned_in(body: list[ast.stmt]) -> set[str]:
    return {
        node.id for statement in body for node in ast.walk(statement)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }  # fmt: skip


def _jumps(body: list[ast.stmt]) -> bool:
    """Whether statements may be passed over, except by branches."""
    jumps = (ast.Break, ast.Continue, ast.Return)
    return any(isinstance(each, jumps) for statement in body for each in ast.walk(statement))


def _leaves(body: list[ast.stmt]) -> bool:
    """Whether the statements hold a return, or a break of their own loop."""
    for statement in body:
        if isinstance(statement, (ast.Return, ast.Break)):
            return True
        if isinstance(statement, (ast.For, ast.While)):
            if any(isinstance(each, ast.Return) for each in ast.walk(statement)):
                return True
        elif _leaves([each for each in ast.iter_child_nodes(statement)
                      if isinstance(each, ast.stmt)]):  # fmt: skip
            return True
    return False
