"""Elements, rows and slices of arrays: which elements a part has, and where."""

from __future__ import annotations

import dataclasses
from typing import Any

from composit.knossos.translator.arrays import Array, Index, Line, Stored
from composit.knossos.translator.code import Code
from composit.knossos.translator.integers import Integers
from composit.knossos.translator.terms import linear, same
from composit.knossos.values import Mismatch, is_number, kind_of, make

NEW_AXIS = object()  # np.newaxis between the brackets: an axis of one element


@dataclasses.dataclass(eq=False)
class Slices:
    """What stands between the brackets of an array."""

    code: Code
    integers: Integers

    def indexed(self, array: Array, given: list[Any]) -> Any:
        """array[given]: a number, or an array of the axes that are left. None stands for `:`."""
        count = sum(index is not NEW_AXIS for index in given)
        if count > len(array.shape):
            raise Mismatch(
                f"{count} indices of an array of {len(array.shape)} axes",
                "At most one for each axis is possible.",
            )
        if array.is_list and count < len(given):
            raise Mismatch("a new axis of a list", "Write np.array([…]) around the list.")
        given = given + [None] * (len(array.shape) - count)
        fixed: list[Any] = []
        shape: list[Any] = []
        extents = iter(array.shape)
        for index in given:
            if index is NEW_AXIS:
                shape.append(1)
                fixed.append(NEW_AXIS)
                continue
            extent = next(extents)
            if index is None:
                shape.append(extent)
                fixed.append((0, 1))
            elif isinstance(index, slice):
                begin, step, count = self._sliced(index, extent)
                shape.append(count)
                fixed.append((begin, step))
            else:
                fixed.append(self.integers.place(index, extent))
        if not shape:
            return array.at(fixed)

        def at(indices: Index) -> Any:
            rest, places = iter(indices), []
            for index in fixed:
                if index is NEW_AXIS:
                    next(rest)
                else:
                    is_kept = isinstance(index, tuple)
                    places.append(self.integers.along(next(rest), *index) if is_kept else index)
            return array.at(places)

        # A list's elements may be lists; a part of a list of numbers is a list of its own.
        is_slice = not given or given[0] is None or isinstance(given[0], slice)
        lists = array.is_list - (not is_slice) if array.is_list else 0
        is_own = lists and len(array.shape) == 1
        parts_of = frozenset[int]() if is_own else array.parts_of
        line = _line_of(array, fixed)
        return Array(array.kind, tuple(shape), at, array.reads, lists, parts_of=parts_of,
                     elsewhere=None if line is None else frozenset([line]))  # fmt: skip

    def _sliced(self, index: slice, extent: Any) -> tuple[Any, int, Any]:
        """The first index, the step, and how many elements. Where the extent is no literal the
        bounds are asserted to lie within: what NumPy would cut short has no extent to be known."""
        if any(type(bound) is bool or not (bound is None or kind_of(bound) == "int")
               for bound in (index.start, index.stop, index.step)):  # fmt: skip
            raise Mismatch("a slice whose bounds are no integers", "Integers are required.")
        if not (index.step is None or is_number(index.step)):
            raise Mismatch("a slice whose step is not literal", "Write a loop.")
        step = 1 if index.step is None else index.step
        if step == 0:
            raise Mismatch("a slice of step 0", "Another step is required.")
        if not all(bound is None or is_number(bound) for bound in (index.start, index.stop)):
            return self._between(index, step, extent)
        if is_number(extent):
            begin, end, _ = index.indices(int(extent))
            return begin, step, len(range(begin, end, step))
        # Bounds as (counts from the end, by how much).
        first, last = ((False, 0), (True, 0)) if step > 0 else ((True, -1), (False, -1))
        least = 0  # how many elements the axis has for NumPy to find both bounds in it
        if index.start is not None:
            first, least = (index.start < 0, index.start), _needed(index.start, step)
        if index.stop is not None:
            last, least = (index.stop < 0, index.stop), max(least, _needed(index.stop, step))
        (begin_end, begin_by), (end_end, end_by) = first, last
        size = abs(step)
        between = (end_by - begin_by) * (1 if step > 0 else -1)
        if begin_end == end_end:
            count: Any = max(-(-between // size), 0)
            least = least if count else 0
        elif begin_end != (step < 0):
            raise Mismatch(
                f"a slice from {index.start} to {index.stop} with the step {step}, of an axis "
                "whose extent is not literal", "Write a loop.",
            )  # fmt: skip
        else:
            least = max(least, -between)
            count = self.integers.moved(extent, between + size - 1)
            if size != 1:
                count = make("divide", [self.code.integer(count), self.code.integer(size)])
        known = self.integers.least(extent)
        if least > 0 and (known is None or known < least):
            enough = make("greater_equal", [self.code.integer(extent), self.code.integer(least)])
            claim = f"the axis has {{}} elements%s. At least {least} are required."
            self.code.expect(enough, "ValueError", claim, [self.code.integer(extent)])
        return self.integers.moved(extent, begin_by) if begin_end else begin_by, step, count

    def _between(self, index: slice, step: int, extent: Any) -> tuple[Any, int, Any]:
        """The same of bounds that are computed, which are asserted to lie within, in order."""
        if step < 0:
            raise Mismatch("a slice to smaller indices whose bounds are computed", "Write a loop.")
        begin = 0 if index.start is None else self._bound(index.start, extent)
        end = extent if index.stop is None else self._bound(index.stop, extent)
        start, stop = linear(self.integers.resolved(begin)), linear(self.integers.resolved(end))
        if start[0] is None:
            count = self.integers.moved(end, -start[1])
        elif stop[0] is not None and same(start[0], stop[0]):
            count = stop[1] - start[1]
        else:
            count = make("subtract", [self.code.integer(end), self.code.integer(begin)])
        claim = (
            "a slice from {} to {} of an axis of {}%s. Bounds within it, in order, are required."
        )
        told = [self.code.integer(each) for each in (begin, end, extent)]
        for lower, upper in ((0, begin), (begin, end), (end, extent)):
            if not self._is_in_order(lower, upper):
                holds = make("less_equal", [self.code.integer(lower), self.code.integer(upper)])
                self.code.expect(holds, "ValueError", claim, told)
        if step != 1:
            count = self.integers.plus(count, step - 1)
            count = count // step if is_number(count) else make(
                "divide", [self.integers.settled(count), self.code.integer(step)])  # fmt: skip
        return begin, step, count if is_number(count) else self.integers.settled(count)

    def _bound(self, value: Any, extent: Any) -> Any:
        """A bound of a slice, from the front."""
        if is_number(value):
            return value if value >= 0 else self.integers.moved(extent, value)
        if self.integers.is_natural(value):
            return value
        return self.integers.from_front(self.integers.settled(value), extent)

    def _is_in_order(self, lower: Any, upper: Any) -> bool:
        """Whether one is known not to be above the other."""
        if is_number(lower):
            least = self.integers.least(upper)
            return least is not None and least >= lower
        a, b = linear(self.integers.resolved(lower)), linear(self.integers.resolved(upper))
        if a[0] is not None and b[0] is not None and same(a[0], b[0]):
            return a[1] <= b[1]
        return self.integers.is_natural(lower) and self.integers.is_within(
            self.integers.moved(lower, -1), upper
        )


def _line_of(array: Array, fixed: list[Any]) -> Line | None:
    """The line that a part of a stored array is; None: it is none."""
    kept = [axis for axis, index in enumerate(fixed) if isinstance(index, tuple)]
    has_new = any(index is NEW_AXIS for index in fixed)
    if not isinstance(array, Stored) or has_new or len(kept) != 1:
        return None
    begin, step = fixed[kept[0]]
    return Line(array.number, kept[0], int(begin), step) if is_number(begin) else None


def _needed(bound: int, step: int) -> int:
    """Of how many elements an axis must be for a bound of a slice to lie within."""
    before = int(step < 0)  # downwards, bounds may lie before the first element
    return -bound - before if bound < 0 else bound + before
