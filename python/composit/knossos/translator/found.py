"""What one translation of a text finds out for the next one, which begins again with it."""

from __future__ import annotations

import dataclasses
from typing import Any

import composit._core as _core

# Of copies: the arrays that they are parts of, and whether those have changed since.
State = dict[int, dict[int, bool]]


class Restart(Exception):
    """What the translation took for granted turned out otherwise: it begins again."""


_core.provide("knossos_restart", Restart)


@dataclasses.dataclass(eq=False)
class GrowingList:
    """What a list holds in the end: elements, and how often each place appends at most."""

    is_empty: bool = True
    kind: str = "float"
    shape: tuple[Any, ...] = ()  # of elements that are arrays
    appends: dict[Any, Any] = dataclasses.field(default_factory=dict)


class Found(_core.knossos.Found):
    """Empty for the first translation."""

    def __init__(self, for_derivatives: bool = False) -> None:
        super().__init__()
        self.for_derivatives = for_derivatives
        self.floats: set[str] = set()  # variables, and "return 0"
        self.copied: set[str] = set()  # arguments that are copied first
        # By calls and places that make them.
        self.lists: dict[Any, GrowingList] = {}
        # Of calls that change elements, by their places: the names that stand around the function.
        self.changing_calls: dict[Any, set[str]] = {}
        # The dtypes of the numbers that calls return, by their numbers. The kernel has the number
        # 0.
        self.returned: dict[int, list[Any]] = {}
