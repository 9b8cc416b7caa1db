"""A graph's nodes in the modules that made them; what repeats is held once, with how often."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import composit._core as _core
from composit.folding import codes_of


@dataclass
class Part:
    """A module of a traced model, by its name within the one around it; or, without a name, a
    stretch of nodes that repeats. `items` are positions of nodes, and Parts, in order; `runs` the
    positions of all nodes within, then those of each equal part behind it, in the same order."""

    name: str = ""
    items: list[int | Part] = field(default_factory=list)
    runs: list[list[int]] = field(default_factory=list)
    last: str = ""

    @property
    def label(self) -> str:
        """For the reader: "layer.0 … layer.11, 12 times"."""
        if len(self.runs) < 2:
            return self.name
        times = f"{len(self.runs)} times"
        return f"{self.name} … {self.last}, {times}" if self.name else times


def module_paths(order: Sequence[Any]) -> list[str]:
    """The module of each node of a topological order; that of a weight or a number is what the
    modules that use it have in common."""
    return _core.module_paths(order)


def parts_of(paths: Sequence[str], signatures: Sequence[Hashable], fold: bool) -> list[int | Part]:
    """Positions, in order, in the modules of these paths. With `fold`, neighbours in a list of
    modules that hold equal nodes are one, and so are stretches of nodes that repeat.

    parts_of(["", "a", "a"], "xyy", False) is [0, Part("a", [1, 2], [[1, 2]])]
    """
    return [_part(item) for item in _core.parts_of(paths, codes_of(signatures), fold)]


def _part(item: Any) -> int | Part:
    if isinstance(item, int):
        return item
    name, items, runs, last = item
    return Part(name, [_part(one) for one in items], runs, last)


def drawn_for(items: Sequence[int | Part]) -> Iterator[tuple[int, int]]:
    """Each position with the one that stands for it."""
    for item in items:
        if not isinstance(item, Part):
            yield item, item
            continue
        first = dict(drawn_for(item.items))
        for run in item.runs:
            for position, equal in zip(run, item.runs[0]):
                yield position, first[equal]
