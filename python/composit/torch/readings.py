"""Gradients of leaves that were written since operations read them: the sum over what was read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from composit import _core


def summed(
    chain_rule: Callable[[list[Any]], list[Any]], tensors: list[Any], outputs: list[Any]
) -> list[Any]:
    """The gradients by chain_rule(nodes) of what the tensors hold, with those of what leaves among
    them held when operations that the outputs depend on read them."""
    before = [_core.readings_before(x, outputs) if x._is_leaf_with_grad else [] for x in tensors]
    ends = [x._lazy for x in tensors]
    if not any(before):
        return chain_rule(ends)
    found = chain_rule(ends + [node for nodes in before for node in nodes])
    totals, rest = found[: len(ends)], iter(found[len(ends) :])
    for i, nodes in enumerate(before):
        for _ in nodes:
            totals[i] = totals[i] + next(rest)
    return totals
