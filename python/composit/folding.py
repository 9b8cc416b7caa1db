"""Repeated structure in a sequence: a model's layers become one layer and how often it comes."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

LONGEST = 3000  # elements of what repeats


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
    import numpy as np

    numbers: dict[Hashable, int] = {}
    codes = np.array([numbers.setdefault(s, len(numbers)) for s in signatures], dtype=np.int64)
    return _parts(codes, 0, len(codes), max(least, len(codes) // 400))


def _parts(codes: Any, start: int, stop: int, least: int) -> list[int | Repeat]:
    found: list[int | Repeat] = []
    waiting = [(start, stop)]
    while waiting:  # from the left; what stands behind a repeat waits
        first, last = waiting.pop()
        best = _best(codes[first:last], least)
        if best is None:
            found.extend(range(first, last))
            continue
        offset, length, count = best
        begin = first + offset
        if offset:
            waiting.append((begin + length * count, last))
            waiting.append((begin, begin + length * count))
            waiting.append((first, begin))
            continue
        found.append(Repeat(begin, length, count, _parts(codes, begin, begin + length, least)))
        waiting.append((begin + length * count, last))
    return found


def _best(codes: Any, least: int) -> tuple[int, int, int] | None:
    """Where the most positions are left out: offset, length and count of the equal stretches."""
    import numpy as np

    best, saved = None, least - 1
    for length in range(1, min(LONGEST, len(codes) // 2) + 1):
        if len(codes) - length <= saved:
            break
        equal = codes[:-length] == codes[length:]
        if np.count_nonzero(equal) <= saved:
            continue
        edges = np.flatnonzero(np.diff(np.concatenate(([0], equal.view(np.int8), [0]))))
        for begin, end in zip(edges[::2], edges[1::2]):
            times = int(end - begin) // length
            if times * length > saved:
                best, saved = (int(begin), length, times + 1), times * length
    return best
