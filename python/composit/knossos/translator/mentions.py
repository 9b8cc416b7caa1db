"""Names that a text mentions: reads, assigns, or assigns elements of; jumps that it holds
(composit/knossos/syntax.h)."""

from __future__ import annotations

import ast
import weakref

from composit._core.knossos import Text

Place = tuple[int, int]
# Loops within loops ask for the same statements again and again.
_known: weakref.WeakKeyDictionary[ast.AST, Text] = weakref.WeakKeyDictionary()


def text_of(node: ast.AST) -> Text:
    """What a part of a text mentions."""
    known = _known.get(node)
    if known is None:
        known = _known[node] = Text(node)
    return known


class Changes:
    """What the body of a loop changes: names that it assigns, and arrays of which it assigns
    elements. `calls` are those that are known to change elements, by their places, with the names
    that the functions read of what stands around them."""

    def __init__(self, body: list[ast.stmt], calls: dict[Place, set[str]] | None = None) -> None:
        texts = list(map(text_of, body))
        self.names = assigned_in(body)
        self.elements: set[str] = set().union(
            *(each.elements | each.elements_changed_by(calls or {}) for each in texts)
        )


def place_of(node: ast.Call) -> Place:
    return node.lineno, node.col_offset


def assigned_in(body: list[ast.stmt]) -> set[str]:
    return set().union(*(text_of(each).assigned for each in body))


def names_in(node: ast.AST) -> set[str]:
    return text_of(node).names


NOTHING = Changes([])


def appended_in(body: list[ast.stmt]) -> set[str]:
    """The names that stand in `v.append(…)`."""
    return set().union(*(text_of(each).appended for each in body))


def passes_over(body: list[ast.stmt]) -> bool:
    """Whether statements may be passed over, except by branches."""
    return any(text_of(each).passes_over for each in body)


def jumps_of(body: list[ast.stmt], by_break_alone: bool = False) -> bool:
    """Whether statements hold a jump of their own loop."""
    return any(text_of(each).jumps(by_break_alone) for each in body)


def leaves(body: list[ast.stmt]) -> bool:
    """Whether the statements hold a return, or a break of their own loop."""
    return any(text_of(each).leaves for each in body)
