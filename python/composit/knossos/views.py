"""Names for parts of other arrays, `row = a[i]`. NumPy's share their elements, kernels' are copies:
what would show the difference is refused."""

from __future__ import annotations

from composit.knossos.arrays import Array, Stored
from composit.knossos.composed import Composed
from composit.knossos.values import Mismatch

# Of copies: the arrays that they are parts of, and whether those have changed since.
State = dict[int, dict[int, bool]]


def joined(states: list[State]) -> State:
    """What holds where several ways meet."""
    made: State = {}
    for state in states:
        for number, wholes in state.items():
            own = made.setdefault(number, {})
            for whole, is_changed in wholes.items():
                own[whole] = own.get(whole, False) or is_changed
    return made


class Restart(Exception):
    """What the translation took for granted turned out otherwise."""


class Views(Composed):
    """What copies stand for, along the statements."""

    def __init__(self) -> None:
        super().__init__()
        self.parts: State = {}
        self.ended: set[int] = set()  # arrays that branches and loops before this place have made
        self.carried: dict[int, State] = {}  # by loops: what their iterations hand on
        self.count_of_loops = 0

    def copy_of_parts(self, stored: Stored, value: Array) -> None:
        """An array has got the elements of a value."""
        wholes = dict.fromkeys(value.parts_of - self.fresh - {stored.number}, False)
        for whole in value.parts_of:
            wholes = {**self.parts.get(whole, {}), **wholes}
        self.parts[stored.number] = wholes

    def check_current(self, number: int) -> None:
        for whole, is_changed in self.parts.get(number, {}).items():
            if is_changed:
                of = self.arrays[whole][0]
                name = "what is read" if number in self.fresh else self.arrays[number][0]
                place = "behind the part" if number in self.fresh else f"where {name} is assigned"
                raise Mismatch(
                    f"{name} is a part of {of}, whose elements may have changed since: NumPy's "
                    f"would change with them", f"Write .copy() {place}.",
                )  # fmt: skip

    def check_own(self, stored: Stored) -> None:
        """Refuses to assign elements of a part of another array."""
        if self.parts.get(stored.number):
            whole = self.arrays[next(iter(self.parts[stored.number]))][0]
            raise Mismatch(
                f"an element of {stored.name} is assigned, which is a part of {whole}: NumPy "
                f"changes {whole}, too", f"Write .copy() where {stored.name} is assigned.",
            )  # fmt: skip

    def has_changed(self, stored: Stored) -> None:
        """Elements of an array were assigned."""
        for wholes in self.parts.values():
            if stored.number in wholes:
                wholes[stored.number] = True

    def stored(self, value: Array, name: str) -> Stored:
        made = super().stored(value, name)
        if made is not value:
            self.copy_of_parts(made, value)
            self.fresh.add(made.number)
        return made

    # ----- ways through the function

    def begin_of_loop(self) -> tuple[int, State]:
        """The number of a loop, and the state that its iterations begin with: that before it, and
        what an iteration hands on, which an earlier translation has shown."""
        number = self.count_of_loops
        self.count_of_loops += 1
        begin = joined([self.parts, self.carried.get(number, {})])
        self.parts = snapshot(begin)
        return number, begin

    def end_of_loop(self, number: int, begin: State, again: list[State], ends: list[State]) -> None:
        """`again`: the states that begin another iteration, `ends`: those that leave the loop."""
        handed_on = {array: wholes for array, wholes in joined(again).items() if array in begin}
        if joined([begin, handed_on]) != begin:
            self.carried[number] = joined([self.carried.get(number, {}), handed_on])
            raise Restart
        self.parts = joined([begin, *again, *ends])


def snapshot(state: State) -> State:
    return {number: dict(wholes) for number, wholes in state.items()}
