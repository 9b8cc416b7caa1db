"""Names that a text mentions: reads, assigns, or assigns elements of; jumps that it holds."""

from __future__ import annotations

import ast
import weakref
from typing import Any, NamedTuple


class Changes:
    """What the body of a loop changes: names that it assigns, and arrays of which it assigns
    elements. `calls` are those that are known to change elements, by their places, with the names
    that the functions read of what stands around them."""

    def __init__(self, body: list[ast.stmt], calls: dict[Place, set[str]] | None = None) -> None:
        self.names = assigned_in(body)
        self.elements: set[str] = set().union(*(_mentioned(each).elements for each in body))
        for each in (node for statement in body if calls for node in ast.walk(statement)):
            if isinstance(each, ast.Call) and place_of(each) in calls:  # type: ignore[operator]
                self.elements |= names_in(each) | calls[place_of(each)]  # type: ignore[index]


Place = tuple[int, int]


def place_of(node: ast.Call) -> Place:
    return node.lineno, node.col_offset


class Mentioned(NamedTuple):
    """The names in a part of a text: all, those assigned, those of which elements are assigned."""

    names: frozenset[str]
    assigned: frozenset[str]
    elements: frozenset[str]
    appended: frozenset[str]  # those of lists that `v.append(…)` makes longer


# Loops within loops ask for the same statements again and again.
_known: weakref.WeakKeyDictionary[ast.AST, Mentioned] = weakref.WeakKeyDictionary()


def _mentioned(node: ast.AST) -> Mentioned:
    known = _known.get(node)
    if known is not None:
        return known
    names, assigned, elements, appended = set[str](), set[str](), set[str](), set[str]()
    if isinstance(node, (ast.FunctionDef, ast.Lambda)):  # whose names are its own
        inside = [_mentioned(each) for each in ast.iter_child_nodes(node)]
        return Mentioned(
            frozenset().union(*(each.names for each in inside)),
            frozenset([node.name]) if isinstance(node, ast.FunctionDef) else frozenset(),
            frozenset().union(*(each.elements for each in inside)),
            frozenset().union(*(each.appended for each in inside)),
        )
    waiting = [node]
    while waiting:
        each = waiting.pop()
        if isinstance(each, (ast.FunctionDef, ast.Lambda)):
            _known[each] = _mentioned(each)
        inner = _known.get(each)
        if inner is not None:
            names |= inner.names
            assigned |= inner.assigned
            elements |= inner.elements
            appended |= inner.appended
            continue
        if isinstance(each, ast.Name):
            names.add(each.id)
            if isinstance(each.ctx, ast.Store):
                assigned.add(each.id)
        elif isinstance(each, ast.Subscript) and isinstance(each.ctx, ast.Store):
            elements |= names_in(each.value)
        elif isinstance(each, ast.Attribute) and each.attr == "append":
            appended |= names_in(each.value)
        waiting.extend(ast.iter_child_nodes(each))
    made = Mentioned(*map(frozenset, (names, assigned, elements | appended, appended)))
    _known[node] = made
    return made


def assigned_in(body: list[ast.stmt]) -> set[str]:
    return set().union(*(_mentioned(each).assigned for each in body))


def names_in(node: ast.AST) -> set[str]:
    return set(_mentioned(node).names)


NOTHING = Changes([])


def appended_in(body: list[ast.stmt]) -> set[str]:
    """The names that stand in `v.append(…)`."""
    return set().union(*(_mentioned(each).appended for each in body))


def loops_of_names(tree: ast.AST) -> dict[str, set[frozenset[ast.AST]]]:
    """Of each name that stands outside loops of that name: the loops around each of its places."""
    places: dict[str, set[frozenset[ast.AST]]] = {}
    waiting: list[tuple[ast.AST, frozenset[ast.AST], frozenset[str]]] = [
        (tree, frozenset(), frozenset())
    ]
    while waiting:
        node, loops, own = waiting.pop()
        if isinstance(node, ast.For) and node is not tree:
            loops, own = loops | {node}, own | names_in(node.target)
        elif isinstance(node, ast.Name) and node.id not in own:
            places.setdefault(node.id, set()).add(loops)
        waiting.extend((each, loops, own) for each in ast.iter_child_nodes(node))
    return places


def passes_over(body: list[ast.stmt]) -> bool:
    """Whether statements may be passed over, except by branches."""
    jumps = (ast.Break, ast.Continue, ast.Return)
    return any(isinstance(each, jumps) for statement in body for each in ast.walk(statement))


def jumps_of(body: list[ast.stmt], kinds: Any = (ast.Break, ast.Continue)) -> bool:
    """Whether statements hold a jump of their own loop."""
    for statement in body:
        if isinstance(statement, kinds):
            return True
        inner = [each for each in ast.iter_child_nodes(statement) if isinstance(each, ast.stmt)]
        if isinstance(statement, (ast.For, ast.While)):
            inner = statement.orelse
        if jumps_of(inner, kinds):
            return True
    return False


def leaves(body: list[ast.stmt]) -> bool:
    """Whether the statements hold a return, or a break of their own loop."""
    for statement in body:
        if isinstance(statement, (ast.Return, ast.Break)):
            return True
        if isinstance(statement, (ast.For, ast.While)):
            if any(isinstance(each, ast.Return) for each in ast.walk(statement)):
                return True
            if leaves(statement.orelse):
                return True
        elif leaves([each for each in ast.iter_child_nodes(statement)
                      if isinstance(each, ast.stmt)]):  # fmt: skip
            return True
    return False


def counts_of_names(tree: ast.FunctionDef, context: type[ast.expr_context]) -> dict[str, int]:
    """How often each name stands there to be read, or to be assigned."""
    counts: dict[str, int] = {}
    for each in ast.walk(tree):
        if isinstance(each, ast.Name) and isinstance(each.ctx, context):
            counts[each.id] = counts.get(each.id, 0) + 1
    return counts


def rebound_in(tree: ast.FunctionDef) -> set[str]:
    """The names that get other values in a function, not only other elements (`v += 1`)."""
    in_place = {each.target for each in ast.walk(tree) if isinstance(each, ast.AugAssign)}
    return {each.id for each in ast.walk(tree)
            if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)
            and each not in in_place}  # fmt: skip
