"""What one translation of a text finds out for the next one, which begins again with it."""

from __future__ import annotations

import dataclasses
from typing import Any, NoReturn

# Of copies: the arrays that they are parts of, and whether those have changed since.
State = dict[int, dict[int, bool]]


class Restart(Exception):
    """What the translation took for granted turned out otherwise: it begins again."""


@dataclasses.dataclass(eq=False)
class GrowingList:
    """What a list holds in the end: elements, and how often each place appends at most."""

    is_empty: bool = True
    kind: str = "float"
    shape: tuple[Any, ...] = ()  # of elements that are arrays
    appends: dict[Any, Any] = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(eq=False)
class Found:
    """Empty for the first translation."""

    for_derivatives: bool = False  # functions of the library have their texts for derivatives
    has_texts_for_derivatives: bool = False  # and there are some
    has_arrays: bool = False  # the kernel makes or takes some
    floats: set[str] = dataclasses.field(default_factory=set)  # variables, and "return 0"
    # By loops, counted from the first: what their iterations hand on.
    carried: dict[int, State] = dataclasses.field(default_factory=dict)
    copied: set[str] = dataclasses.field(default_factory=set)  # arguments that are copied first
    # By calls and places that make them.
    lists: dict[Any, GrowingList] = dataclasses.field(default_factory=dict)
    # Of calls that change elements, by their places: the names that stand around the function.
    changing_calls: dict[Any, set[str]] = dataclasses.field(default_factory=dict)
    # The dtypes of the numbers that calls return, by their numbers. The kernel has the number 0.
    returned: dict[int, list[Any]] = dataclasses.field(default_factory=dict)

    def begin_again(self) -> NoReturn:
        """Where what was found out may change how loops are counted."""
        self.carried.clear()
        raise Restart


def joined(states: list[State]) -> State:
    """What holds where several ways meet."""
    made: State = {}
    for state in states:
        for number, wholes in state.items():
            own = made.setdefault(number, {})
            for whole, is_changed in wholes.items():
                own[whole] = own.get(whole, False) or is_changed
    return made


def snapshot(state: State) -> State:
    return {number: dict(wholes) for number, wholes in state.items()}
