"""What is known of integers before a kernel runs: bounds, extents, places in arrays."""

from __future__ import annotations

import ast
import contextlib
import dataclasses
from collections.abc import Iterable, Iterator
from typing import Any

from composit._core.scalar import Expr
from composit.knossos.translator.code import Code
from composit.knossos.translator.terms import linear, same
from composit.knossos.values import Mismatch, is_number, kind_of, make


@dataclasses.dataclass(eq=False)
class Integers:
    """Integers are Python's, or expressions over variables. What is not known of them is asserted
    by statements of the code."""

    code: Code

    def __post_init__(self) -> None:
        self.aliases: dict[int, Any] = {}  # of variables that are assigned once: what they are
        # Of counters: from which integer on, and below which extent they run.
        self.bounds: dict[int, tuple[int, Any]] = {}
        self.settled_as: dict[int, Expr] = {}  # of variables for indices: what they are
        self.sizes: dict[int, Any] = {}  # of variables for extents: what they were made of
        # Of a variable and an extent: the index that it was settled as, and the block that did.
        self._places: dict[tuple[int, str], tuple[Any, list[Any]]] = {}

    def resolved(self, value: Any) -> Any:
        """What a variable stands for that is assigned once, a number known before the run."""
        while not is_number(value) and value.op == "argument" and value.index in self.aliases:
            value = self.aliases[value.index]
        return value

    def resolved_within(self, value: Any) -> Any:
        """A sum or product with what its variables stand for."""
        value = self.resolved(value)
        if is_number(value) or value.op not in ("add", "subtract", "multiply"):
            return value
        operands = [self.resolved_within(operand) for operand in value.operands]
        return make(value.op, [self.code.integer(operand) for operand in operands])

    def in_parameters(self, value: Any) -> Any:
        """An extent, in which parameters stand for the variables that are computed of them."""
        if is_number(value):
            return value
        if value.op == "argument":
            known = self.aliases.get(value.index, self.settled_as.get(value.index))
            return value if known is None else self.in_parameters(known)
        if not value.operands:
            return value
        return value.with_operands([self.in_parameters(operand) for operand in value.operands])

    def least(self, value: Any) -> int | None:
        """A number that an integer is known not to be below; None: none is known."""
        base, constant = linear(self.resolved(value))
        if base is None:
            return constant
        if base.op == "argument":
            if base.index in self.bounds:
                return self.bounds[base.index][0] + constant
            return constant if base.index in self.extents else None
        if base.op in ("add", "multiply"):
            bounds = [self.least(operand) for operand in base.operands]
            if all(bound is not None and bound >= 0 for bound in bounds):
                return constant
        return None

    def greatest(self, value: Any) -> int | None:
        """A number that an integer is known not to be above; None: none is known."""
        base, constant = linear(self.resolved(value))
        if base is None:
            return constant
        if base.op == "argument" and base.index in self.bounds:
            below, moved = linear(self.resolved(self.bounds[base.index][1]))
            return moved - 1 + constant if below is None else None
        if base.op not in ("add", "multiply"):
            return None
        bounds = [self.greatest(operand) for operand in base.operands]
        if None in bounds or not all(map(self.is_natural, base.operands)):
            return None
        a, b = bounds
        return (a + b if base.op == "add" else a * b) + constant  # type: ignore[operator]

    def is_natural(self, value: Any) -> bool:
        """Whether an integer is known not to be negative."""
        bound = self.least(value)
        return bound is not None and bound >= 0

    @property
    def extents(self) -> set[int]:
        """The variables that are extents of arguments."""
        return {
            extent.index for _, _, shape, role in self.code.arrays if role == "input"
            for extent in shape if extent.op == "argument"
        }  # fmt: skip

    def is_within(self, value: Any, extent: Any) -> bool:
        """Whether a natural number is known to be below an extent."""
        base, constant = linear(self.resolved(value))
        bound = self.greatest(value)
        least = self.least(extent)
        if bound is not None and least is not None and bound < least:
            return True
        top, limit = linear(self.resolved(extent))
        if base is not None and top is not None and same(base, top):
            return constant < limit
        if base is None or base.op != "argument" or base.index not in self.bounds:
            return False
        below, moved = linear(self.resolved(self.bounds[base.index][1]))
        if (below is None) != (top is None) or (below is not None and not same(below, top)):
            return False
        return moved + constant <= limit

    def place(self, value: Any, extent: Any) -> Any:
        """An index as Python means it: negative ones count from the end. Asserted, unless known,
        to lie within."""
        if kind_of(value) not in ("int", "bool"):
            raise Mismatch(f"the index is a {kind_of(value)}", "An integer is required.")
        if isinstance(value, bool) or kind_of(value) == "bool":
            raise Mismatch("the index is a bool", "An integer is required.")
        if is_number(value) and is_number(extent):
            if not -extent <= value < extent:
                raise Mismatch(
                    f"index {value} of an axis of {extent}", "One that it has is required."
                )
            return value % extent
        if is_number(value) and value < 0:
            made = make("subtract", [self.code.integer(extent), self.code.integer(-value)])
            holds = make("greater_equal", [made, self.code.integer(0)])
            self._expect_place(holds, self.code.integer(value), extent)
            return made
        key = self._place_key(value, extent)
        if key is None:
            return self._settled_place(value, extent)
        known = self._places.get(key)
        if known and any(block is known[1] for block in self.code.blocks):
            return known[0]
        with self.code.emitting_further_out(self.code.homes.get(value.index)):
            made = self._settled_place(value, extent)
            self._places[key] = (made, self.code.out)
        return made

    def _settled_place(self, value: Any, extent: Any) -> Any:
        given = self.code.integer(value)
        if not self.is_natural(value):
            given = value = self.settled(value)
            value = self.from_front(value, extent)
            self._expect_place(make("greater_equal", [value, self.code.integer(0)]), given, extent)
        if not self.is_within(value, extent):
            holds = make("less", [self.code.integer(value), self.code.integer(extent)])
            self._expect_place(holds, given, extent)
        return value

    def _place_key(self, value: Any, extent: Any) -> tuple[int, str] | None:
        """What tells places apart, of a variable that keeps its value where it can be read."""
        if is_number(value) or value.op != "argument" or not self.code.is_assigned_once(value):
            return None
        return value.index, str(extent)

    def _expect_place(self, condition: Expr, index: Expr, extent: Any) -> None:
        claim = "index {} lies outside of an axis of {}%s. An index that it has is required."
        self.code.expect(condition, "IndexError", claim, [index, self.code.integer(extent)])

    def settled(self, value: Expr) -> Expr:
        """An index, or a bound of a slice, in a variable."""
        if value.op == "argument":
            return value
        here = self.code.held(value, "index")
        self.settled_as[here.index] = value
        return here

    def from_front(self, value: Expr, extent: Any) -> Expr:
        """An index, or a bound of a slice, that counts from the end where it is negative."""
        wrapped = make("add", [value, self.code.integer(extent)])
        below = make("less", [value, self.code.integer(0)])
        return self.settled(make("select", [below, wrapped, value]))

    def require_same(self, a: Any, b: Any) -> None:
        """That two extents are the same: known, or asserted."""
        a, b = self.resolved(a), self.resolved(b)
        if same(a, b):
            return
        if is_number(a) and is_number(b):
            raise Mismatch(f"extents {a} and {b} do not fit", "Equal extents are required.")
        a, b = self.code.integer(a), self.code.integer(b)
        claim = "extents {} and {} do not fit%s. Equal extents are required."
        self.code.expect(make("equal", [a, b]), "ValueError", claim, [a, b])

    def require_shape(self, a: Iterable[Any], b: Iterable[Any]) -> None:
        """The same of all axes, as far as both have some."""
        for one, other in zip(a, b):
            self.require_same(one, other)

    def extent(self, value: Any) -> Any:
        """An extent that stays what it is: an integer, or made of parameters; or kept."""
        value = self.resolved(value)
        if is_number(value) or self.is_of_parameters(value):
            return value
        here = self.code.held(value, "size")
        self.sizes[here.index] = value
        known = self.resolved_within(value)
        if self.is_of_parameters(known):
            self.aliases[here.index] = known
        return here

    def kept(self, value: Any, wanted: str) -> Any:
        """A number as it is now."""
        if is_number(value) or self.is_of_parameters(self.resolved(value)):
            return value
        return self.code.held(value, wanted)

    def plus(self, a: Any, b: Any) -> Any:
        if is_number(a) and is_number(b):
            return a + b
        for one, other in ((a, b), (b, a)):
            if is_number(one) and one == 0:
                return other
        return make("add", [self.code.integer(a), self.code.integer(b)])

    def moved(self, extent: Any, by: int) -> Any:
        """extent + by, as a variable and one constant."""
        base, constant = linear(self.resolved(extent))
        constant += by
        if base is None or constant == 0:
            return constant if base is None else base
        return make("add" if constant > 0 else "subtract", [base, self.code.integer(abs(constant))])

    def along(self, index: Any, begin: Any, step: int) -> Any:
        """begin + step * index"""
        if is_number(index) and is_number(begin):
            return begin + step * index
        if step == -1:
            return make("subtract", [self.code.integer(begin), self.code.integer(index)])
        if step != 1:
            index = step * index if is_number(index) else make(
                "multiply", [index, self.code.integer(step)])  # fmt: skip
        return index if is_number(begin) and begin == 0 else self.plus(index, begin)

    def is_of_parameters(self, value: Any) -> bool:
        """Whether an integer is known before the kernel runs."""
        if is_number(value):
            return True
        if value.op == "argument":
            is_parameter = value.index < self.code.parameter_count
            return is_parameter and self.code.whole(value.index) not in self.code.assigned
        return value.op == "constant" or (
            bool(value.operands) and all(map(self.is_of_parameters, value.operands))
        )

    @contextlib.contextmanager
    def where(self, test: ast.expr, holds: bool) -> Iterator[None]:
        """What a condition says of the least values of counters, in the branch that it guards."""
        before = dict(self.bounds)
        for name, kind, number in comparisons(test, holds):
            counter = self.code.numbers.get(name)
            if counter not in self.bounds:
                continue
            least, bound = self.bounds[counter]
            if kind in (ast.GtE, ast.Eq):
                least = max(least, number)
            elif kind is ast.Gt or (kind is ast.NotEq and number == least):
                least = max(least, number + 1)
            self.bounds[counter] = (least, bound)
        try:
            yield
        finally:
            self.bounds = before


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
