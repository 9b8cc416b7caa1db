"""A graph's nodes in the modules that made them; what repeats is held once, with how often."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from composit.folding import Repeat, folded


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
    places = {node: i for i, node in enumerate(order)}
    paths = [node.module_path for node in order]
    if not any(paths):
        return paths
    users: dict[int, str] = {}
    for node, path in zip(order, paths):
        for source, _ in node.operand_nodes:
            place = places[source]
            if source.is_constant:
                users[place] = _common(users[place], path) if place in users else path
    for place, path in users.items():
        paths[place] = path
    return paths


def _common(a: str, b: str) -> str:
    shared = []
    for x, y in zip(a.split("."), b.split(".")):
        if x != y:
            break
        shared.append(x)
    return ".".join(shared)


def parts_of(paths: Sequence[str], signatures: Sequence[Hashable], fold: bool) -> list[int | Part]:
    """Positions, in order, in the modules of these paths. With `fold`, neighbours in a list of
    modules that hold equal nodes are one, and so are stretches of nodes that repeat.

    parts_of(["", "a", "a"], "xyy", False) is [0, Part("a", [1, 2], [[1, 2]])]
    """
    root = Part()
    found = {"": root}
    for position, path in enumerate(paths):
        _found(found, path).items.append(position)
    _finish(root, signatures, fold)
    return root.items


def _found(found: dict[str, Part], path: str) -> Part:
    """The part of that path; it and those around it are made when they are met."""
    if path not in found:
        around, _, name = path.rpartition(".")
        found[path] = Part(name)
        _found(found, around).items.append(found[path])
    return found[path]


def _finish(part: Part, signatures: Sequence[Hashable], fold: bool) -> Hashable:
    """Folds what the part holds. The shape of that: equal for parts of equal nodes."""
    shapes: dict[int, Hashable] = {}  # of parts, by their place
    for place, item in enumerate(part.items):
        if isinstance(item, Part):
            shapes[place] = (_kind(item.name), _finish(item, signatures, fold))
    whole = tuple(
        shapes[place] if isinstance(item, Part) else signatures[item]
        for place, item in enumerate(part.items)
    )
    part.runs = [list(_positions(part.items))]
    if fold:
        part.items = _stretches(_neighbours(part.items, shapes), signatures)
    only = part.items[0] if len(part.items) == 1 else None
    if isinstance(only, Part) and part.name and only.name and len(only.runs) == 1:
        part.name, part.items = f"{part.name}.{only.name}", only.items
    return whole


def _kind(name: str) -> str:
    """The name without its numbers: what layers of one list have in common."""
    return re.sub(r"\d+", "#", name)


def _positions(items: Sequence[int | Part]) -> Iterator[int]:
    for item in items:
        if isinstance(item, Part):
            yield from item.runs[0]
        else:
            yield item


def _neighbours(items: list[int | Part], shapes: dict[int, Hashable]) -> list[int | Part]:
    """The items, parts of one shape with no other part between them as one."""
    result: list[int | Part] = []
    first: Part | None = None
    shape: Hashable = None
    for place, item in enumerate(items):
        if not isinstance(item, Part):
            result.append(item)
        elif first is not None and shapes[place] == shape:
            first.runs.append(item.runs[0])
            first.last = item.name
        else:
            result.append(item)
            first, shape = item, shapes[place]
    return result


def _stretches(items: list[int | Part], signatures: Sequence[Hashable]) -> list[int | Part]:
    """The items, nodes that repeat between two parts as one part without a name."""
    result: list[int | Part] = []
    waiting: list[int] = []

    def put() -> None:
        pieces = folded([signatures[position] for position in waiting])
        result.extend(_placed(piece, waiting) for piece in pieces)
        waiting.clear()

    for item in items:
        if isinstance(item, Part):
            put()
            result.append(item)
        else:
            waiting.append(item)
    put()
    return result


def _placed(piece: int | Repeat, positions: list[int]) -> int | Part:
    """A piece of a stretch, whose nodes have these positions."""
    if isinstance(piece, int):
        return positions[piece]
    starts = range(piece.start, piece.start + piece.count * piece.length, piece.length)
    return Part(
        items=[_placed(inner, positions) for inner in piece.items],
        runs=[positions[start : start + piece.length] for start in starts],
    )


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
