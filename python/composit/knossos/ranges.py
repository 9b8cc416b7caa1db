"""Integers that kernels count with: ranges, and extents that stay what they are."""

from __future__ import annotations

from typing import Any

from composit._core.procedure import Statement
from composit.knossos.arrays import Array
from composit.knossos.targets import Targets
from composit.knossos.values import is_number, make


class Range:
    """Python's range, whose bounds may be computed."""

    def __init__(self, begin: Any, end: Any, step: int) -> None:
        self.begin, self.end, self.step = begin, end, step

    @property
    def known(self) -> range | None:
        is_known = is_number(self.begin) and is_number(self.end)
        return range(int(self.begin), int(self.end), self.step) if is_known else None


class Ranges(Targets):
    """Integers of ranges and extents."""

    def is_of_parameters(self, value: Any) -> bool:
        """Whether an extent is known before the kernel runs."""
        raise NotImplementedError

    def extent(self, value: Any) -> Any:
        """An extent that stays what it is: an integer, or made of parameters; or kept."""
        value = self.resolved(value)
        if is_number(value) or self.is_of_parameters(value):
            return value
        name = self.hidden_variable("size", "int")
        self.out.append(Statement.assign(self.numbers[name], value, self.line))
        self.sizes[self.numbers[name]] = value
        known = self.resolved_within(value)
        if self.is_of_parameters(known):
            self.aliases[self.numbers[name]] = known
        return self.leaf(name)

    def kept(self, value: Any, wanted: str) -> Any:
        """An integer as it is now."""
        if is_number(value) or self.is_of_parameters(self.resolved(value)):
            return value
        name = self.hidden_variable(wanted, "int")
        self.out.append(Statement.assign(self.numbers[name], value, self.line))
        return self.leaf(name)

    def stepping(self, begin: Any, end: Any, step: Any) -> Array:
        """The integers of a range whose step is computed, and asserted not to be 0."""
        operators = self.operators
        begin, step = self.kept(begin, "start"), self.kept(step, "step")
        claim = "the step of a range is 0%s. Another one is required."
        self._expect(operators.compare("!=", step, 0), "ValueError", claim)
        distance = operators.binary("-", end, begin)
        forwards = operators.compare(">", step, 0)
        size = operators.select(forwards, step, operators.unary("-", step))
        distance = operators.select(forwards, distance, operators.unary("-", distance))
        # A quotient that is rounded down: -1 and less for a range of nothing.
        steps = operators.binary("//", operators.binary("-", distance, 1), size)
        count = operators.select(operators.compare(">", distance, 0),
                                 operators.binary("+", steps, 1), 0)  # fmt: skip
        count = self.extent(count)

        def at(indices: list[Any]) -> Any:
            return operators.binary("+", begin, operators.binary("*", indices[0], step))

        return Array("int", (count,), at)

    def counted(self, of: Range) -> Array:
        """The integers of a range."""
        begin, step = self.kept(of.begin, "start"), of.step
        if of.known is not None:
            count: Any = len(of.known)
        elif is_number(begin) and begin == 0 and step == 1:
            count = self.extent(of.end)
        else:
            low, high = (begin, of.end) if step > 0 else (of.end, begin)
            count = self.operators.binary("-", high, low)
            positive = self.operators.compare(">", count, 0)
            if abs(step) != 1:
                count = self.operators.binary("+", count, abs(step) - 1)
                count = make("divide", [self.integer(count), self.integer(abs(step))])
            count = self.extent(self.operators.select(positive, count, 0))
        return Array("int", (count,), lambda at: self.along(at[0], begin, step))
