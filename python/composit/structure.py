"""Nested tuples, lists and dictionaries of tensors: taken apart and put together again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Rebuild = Callable[[list[Any]], Any]


def flatten(value: Any) -> tuple[list[Any], Rebuild]:
    """The leaves in order, and the function that puts others in their places."""
    leaves: list[Any] = []
    rebuild = _collect(value, leaves)
    return leaves, lambda items: rebuild(iter(items))


def _collect(value: Any, leaves: list[Any]) -> Any:
    if isinstance(value, (tuple, list)):
        parts = [_collect(item, leaves) for item in value]
        if hasattr(value, "_fields"):
            return lambda items: type(value)(*(part(items) for part in parts))
        return lambda items: type(value)(part(items) for part in parts)
    if isinstance(value, dict):
        named = {key: _collect(item, leaves) for key, item in value.items()}
        return lambda items: {key: part(items) for key, part in named.items()}
    if value is None:
        return lambda items: None
    leaves.append(value)
    return next
