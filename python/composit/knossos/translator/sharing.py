"""Names for other arrays and their parts, `y = x`, `row = a[i]`. NumPy's share their elements,
kernels' are copies: what would show the difference is refused.

When a name gets another array, the one that it stood for before may still have other names. It is
the past array of that name: its elements do not change any more, except through its last name."""

from __future__ import annotations

import dataclasses
from typing import NoReturn

from composit.knossos.translator.arrays import Array, Stored
from composit.knossos.translator.code import Code
from composit.knossos.translator.found import Found, Restart, State, joined, snapshot
from composit.knossos.values import Mismatch


def _past(number: int) -> int:
    """The key of the array that stood where another one, of this number, does now."""
    return -1 - number


@dataclasses.dataclass(eq=False)
class Sharing:
    """What copies stand for, along the statements."""

    code: Code
    found: Found

    def __post_init__(self) -> None:
        self.parts: State = {}
        self.fresh: set[int] = set()  # arrays that have no name in the text
        self.ended: set[int] = set()  # arrays that branches and loops before this place have made
        self._count_of_loops = 0

    def copy_of_parts(self, stored: Stored, value: Array) -> None:
        """An array has got the elements of a value."""
        wholes = dict.fromkeys(value.parts_of - self.fresh - {stored.number}, False)
        for whole in value.parts_of:
            wholes = {**self.parts.get(whole, {}), **wholes}
        self.parts[stored.number] = wholes

    def check_current(self, number: int) -> None:
        for whole, is_changed in self.parts.get(number, {}).items():
            if is_changed:
                of = self._name_of(whole if whole >= 0 else _past(whole))
                name = "what is read" if number in self.fresh else self.code.arrays[number][0]
                place = "behind the part" if number in self.fresh else f"where {name} is assigned"
                raise Mismatch(
                    f"{name} is a part of {of}, whose elements may have changed since: NumPy's "
                    f"would change with them", f"Write .copy() {place}.",
                )  # fmt: skip

    def check_own(self, stored: Stored) -> None:
        """Refuses to assign elements of an array that shares them with another one."""
        for whole in self.parts.get(stored.number, {}):
            if whole >= 0:
                self.refuse_shared(stored, self._name_of(whole))
            elif others := self._others_of(whole, stored.number):
                self.refuse_shared(stored, self._name_of(others[0]))

    def _name_of(self, number: int) -> str:
        """An array may be one of the iteration before, which has no name yet in this one."""
        return self.code.arrays[number][0] if number < len(self.code.arrays) else "another array"

    def refuse_shared(self, stored: Stored, whole: str) -> NoReturn:
        if stored.number in self.fresh:  # what a function is given
            raise Mismatch(
                f"an element of a part of {whole} is assigned, so that NumPy would change {whole}, "
                "too", "Write .copy() behind the part that the function is given.",
            )  # fmt: skip
        instead = f"Write .copy() where {stored.name} is assigned."
        is_argument = any(
            name == whole and role == "input" for name, _, _, role in self.code.arrays
        )
        if is_argument and whole.isidentifier():
            instead = f"Write {whole} = {whole}.copy() at the beginning, or .copy() where " \
                f"{stored.name} is assigned."  # fmt: skip
        raise Mismatch(
            f"an element of {stored.name} is assigned, which may be {whole} or a part of it, so "
            f"that NumPy would change {whole}, too", instead,
        )  # fmt: skip

    def _others_of(self, whole: int, number: int) -> list[int]:
        """The arrays besides one that may share elements with a past array, and that do not have
        them through that one."""
        return [each for each, wholes in self.parts.items()
                if whole in wholes and each != number and number not in wholes]  # fmt: skip

    def overwritten(self, number: int) -> None:
        """Another array stands where this one did."""
        self.parts.pop(number, None)
        self.let_go(number)

    def let_go(self, number: int) -> None:
        """The name of the array stands for another one."""
        sharing = [wholes for wholes in self.parts.values() if number in wholes]
        for wholes in sharing:
            is_changed = wholes.pop(number)
            if is_changed or len(sharing) > 1:
                wholes[_past(number)] = is_changed or wholes.get(_past(number), False)

    def has_changed(self, stored: Stored) -> None:
        """Elements of an array were assigned."""
        for wholes in self.parts.values():
            if stored.number in wholes:
                wholes[stored.number] = True

    # ----- ways through the function

    def begin_of_loop(self) -> tuple[int, State]:
        """The number of a loop, and the state that its iterations begin with: that before it, and
        what an iteration hands on, which an earlier translation has shown."""
        number = self._count_of_loops
        self._count_of_loops += 1
        begin = joined([self.parts, self.found.carried.get(number, {})])
        self.parts = snapshot(begin)
        return number, begin

    def end_of_loop(self, number: int, begin: State, again: list[State], ends: list[State]) -> None:
        """`again`: the states that begin another iteration, `ends`: those that leave the loop."""
        handed_on = {array: wholes for array, wholes in joined(again).items() if array in begin}
        if joined([begin, handed_on]) != begin:
            self.found.carried[number] = joined([self.found.carried.get(number, {}), handed_on])
            raise Restart
        self.parts = joined([begin, *again, *ends])
