"""The calls that are being translated, of functions that become part of the kernel."""

from __future__ import annotations

import ast
import dataclasses
from typing import Any

from composit._core.knossos import Block, Sharing, Stored
from composit.knossos.translator.found import Found, Restart, State
from composit.knossos.translator.mentions import place_of
from composit.knossos.translator.paths import Joined


@dataclasses.dataclass(eq=False)
class Frame:
    """A call that is being translated."""

    function: Any
    node: ast.Call
    number: int
    known: dict[int, int]  # arguments that are literal integers
    nesting: int
    first_variable: int
    first_array: int
    is_for_effect: bool  # a statement, whose value is not asked for
    names_around: set[str]
    has_raises: bool
    block: Block
    value: Any = None
    has_value: bool = False
    joined: Joined | None = None  # of what branches return
    # What names are parts of, where it returns.
    states: list[State] = dataclasses.field(default_factory=list)


@dataclasses.dataclass(eq=False)
class CallStack:
    """The frames, from the outermost on, and which elements of arrays they change."""

    found: Found
    sharing: Sharing

    def __post_init__(self) -> None:
        self.frames: list[Frame] = []
        self.count_of_calls = 0
        self.count_of_changes = 0  # of elements of arrays
        self.called_for_effect: ast.AST | None = None

    def has_changed(self, stored: Stored) -> None:
        """Elements of an array were assigned."""
        self.sharing.has_changed(stored)
        self.count_of_changes += 1
        for frame in self.frames:
            place = place_of(frame.node)
            if stored.number < frame.first_array and place not in self.found.changing_calls:
                self.found.changing_calls[place] = frame.names_around
                raise Restart  # loops around the call have to know it
