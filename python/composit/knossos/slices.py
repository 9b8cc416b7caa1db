"""Elements, rows and slices of arrays inside kernels: which elements a part has, and where."""

from __future__ import annotations

from typing import Any

from composit.knossos.arrays import Array, Arrays, Index
from composit.knossos.terms import linear, same
from composit.knossos.values import Mismatch, is_number, kind_of, make

NEW_AXIS = object()  # np.newaxis between the brackets: an axis of one element


class Slices(Arrays):
    """What stands between the brackets of an array."""

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
                fixed.append(self.place(index, extent))
        if not shape:
            return array.at(fixed)

        def at(indices: Index) -> Any:
            rest, places = iter(indices), []
            for index in fixed:
                if index is NEW_AXIS:
                    next(rest)
                else:
                    is_kept = isinstance(index, tuple)
                    places.append(self.along(next(rest), *index) if is_kept else index)
            return array.at(places)

        # A list's elements may be lists; a part of a list of numbers is a list of its own.
        is_slice = not given or given[0] is None or isinstance(given[0], slice)
        lists = array.is_list - (not is_slice) if array.is_list else 0
        is_own = lists and len(array.shape) == 1
        parts_of = frozenset[int]() if is_own else array.parts_of
        return Array(array.kind, tuple(shape), at, array.reads, lists, parts_of=parts_of)

    def plus(self, a: Any, b: Any) -> Any:
        if is_number(a) and is_number(b):
            return a + b
        for one, other in ((a, b), (b, a)):
            if is_number(one) and one == 0:
                return other
        return make("add", [self.integer(a), self.integer(b)])

    def moved(self, extent: Any, by: int) -> Any:
        """extent + by, as a variable and one constant."""
        base, constant = linear(self.resolved(extent))
        constant += by
        if base is None or constant == 0:
            return constant if base is None else base
        return make("add" if constant > 0 else "subtract", [base, self.integer(abs(constant))])

    def along(self, index: Any, begin: Any, step: int) -> Any:
        """begin + step * index"""
        if is_number(index) and is_number(begin):
            return begin + step * index
        if step == -1:
            return make("subtract", [self.integer(begin), self.integer(index)])
        if step != 1:
            index = step * index if is_number(index) else make(
                "multiply", [index, self.integer(step)])  # fmt: skip
        return index if is_number(begin) and begin == 0 else self.plus(index, begin)

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
            count = self.moved(extent, between + size - 1)
            if size != 1:
                count = make("divide", [self.integer(count), self.integer(size)])
        known = self.least(extent)
        if least > 0 and (known is None or known < least):
            enough = make("greater_equal", [self.integer(extent), self.integer(least)])
            claim = f"the axis has {{}} elements%s. At least {least} are required."
            self._expect(enough, "ValueError", claim, [self.integer(extent)])
        return self.moved(extent, begin_by) if begin_end else begin_by, step, count

    def _between(self, index: slice, step: int, extent: Any) -> tuple[Any, int, Any]:
        """The same of bounds that are computed, which are asserted to lie within, in order."""
        if step < 0:
            raise Mismatch("a slice to smaller indices whose bounds are computed", "Write a loop.")
        begin = 0 if index.start is None else self._bound(index.start, extent)
        end = extent if index.stop is None else self._bound(index.stop, extent)
        start, stop = linear(self.resolved(begin)), linear(self.resolved(end))
        if start[0] is None:
            count = self.moved(end, -start[1])
        elif stop[0] is not None and same(start[0], stop[0]):
            count = stop[1] - start[1]
        else:
            count = make("subtract", [self.integer(end), self.integer(begin)])
        claim = (
            "a slice from {} to {} of an axis of {}%s. Bounds within it, in order, are required."
        )
        told = [self.integer(each) for each in (begin, end, extent)]
        for lower, upper in ((0, begin), (begin, end), (end, extent)):
            if not self._is_in_order(lower, upper):
                holds = make("less_equal", [self.integer(lower), self.integer(upper)])
                self._expect(holds, "ValueError", claim, told)
        if step != 1:
            count = self.plus(count, step - 1)
            count = count // step if is_number(count) else make(
                "divide", [self._settled(count), self.integer(step)])  # fmt: skip
        return begin, step, count if is_number(count) else self._settled(count)

    def _bound(self, value: Any, extent: Any) -> Any:
        """A bound of a slice, from the front."""
        if is_number(value):
            return value if value >= 0 else self.moved(extent, value)
        if self.is_natural(value):
            return value
        value = self._settled(value)
        wrapped = make("add", [value, self.integer(extent)])
        below = make("less", [value, self.integer(0)])
        return self._settled(make("select", [below, wrapped, value]))

    def _is_in_order(self, lower: Any, upper: Any) -> bool:
        """Whether one is known not to be above the other."""
        if is_number(lower):
            least = self.least(upper)
            return least is not None and least >= lower
        a, b = linear(self.resolved(lower)), linear(self.resolved(upper))
        if a[0] is not None and b[0] is not None and same(a[0], b[0]):
            return a[1] <= b[1]
        return self.is_natural(lower) and self.is_within(self.moved(lower, -1), upper)


def _needed(bound: int, step: int) -> int:
    """Of how many elements an axis must be for a bound of a slice to lie within."""
    before = int(step < 0)  # downwards, bounds may lie before the first element
    return -bound - before if bound < 0 else bound + before
