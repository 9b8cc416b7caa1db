"""Repeated structure in a sequence: a model's layers become one layer and how often it comes."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import composit._core as _core


@dataclass
class Repeat:
    """`count` runs of `length` positions each, one behind the other, from `start`; `items` is the
    first run: positions, and Repeats within it."""

    start: int
    length: int
    count: int
    items: list[int | Repeat]


def folded(signatures: Sequence[Hashable], least: int = 4) -> list[int | Repeat]:
    """The positions of a sequence, runs of equal stretches folded where that leaves out at least so
    many positions.

    folded("abcbcbcd", 2) is [0, Repeat(start=1, length=2, count=3, items=[1, 2]), 7]
    """
    return [_repeat(item) for item in _core.folded(codes_of(signatures), least)]


def codes_of(signatures: Sequence[Hashable]) -> list[int]:
    """A number for each, equal for equal ones."""
    numbers: dict[Hashable, int] = {}
    return [numbers.setdefault(one, len(numbers)) for one in signatures]


def _repeat(item: Any) -> int | Repeat:
    if isinstance(item, int):
        return item
    start, length, count, items = item
    return Repeat(start, length, count, [_repeat(one) for one in items])
