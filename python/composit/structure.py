"""Nested tuples, lists, dictionaries and dataclasses of tensors: taken apart and put together."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

from composit._core import with_location

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
    if is_record(value):
        named = {key: _collect(item, leaves) for key, item in fields_of(value).items()}
        return lambda items: type(value)(**{key: part(items) for key, part in named.items()})
    if value is None:
        return lambda items: None
    leaves.append(value)
    return next


def is_record(value: Any) -> bool:
    """Whether it is made by a dataclass, of its fields alone, and is no array itself."""
    return (
        dataclasses.is_dataclass(value)
        and not isinstance(value, type)
        and not hasattr(value, "__array__")
        and all(field.init for field in dataclasses.fields(value))
    )


def fields_of(value: Any) -> dict[str, Any]:
    """The fields of a dataclass's object."""
    return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}


def outline(value: Any) -> str:
    """The structure as text, with * for leaves."""
    if isinstance(value, list):
        return f"[{', '.join(map(outline, value))}]"
    if isinstance(value, tuple):
        name = type(value).__name__ if hasattr(value, "_fields") else ""
        return f"{name}({', '.join(map(outline, value))}{',' if len(value) == 1 else ''})"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key!r}: {outline(item)}" for key, item in value.items()) + "}"
    if is_record(value):
        parts = (f"{key}={outline(item)}" for key, item in fields_of(value).items())
        return f"{type(value).__name__}({', '.join(parts)})"
    return "None" if value is None else "*"


def spread(name: str, prefix: Any, value: Any) -> list[int | None]:
    """For each leaf of `value` the integer or None of `prefix`, whose structure begins as
    value's: an entry holds for all below it. TypeError, ValueError where it does not."""
    if prefix is None or (isinstance(prefix, int) and not isinstance(prefix, bool)):
        return [prefix] * len(flatten(value)[0])
    if not isinstance(prefix, (tuple, list, dict)):
        raise TypeError(
            with_location(
                f"{name}: {prefix!r} is not an axis. An integer, None, or a structure of them is "
                "required."
            )
        )
    pairs: list[tuple[Any, Any]] = []
    if isinstance(prefix, dict) and isinstance(value, dict) and prefix.keys() == value.keys():
        pairs = [(prefix[key], item) for key, item in value.items()]
    elif type(prefix) is type(value) is not dict and len(prefix) == len(value):
        pairs = list(zip(prefix, value))
    else:
        raise ValueError(
            with_location(
                f"{name}: {prefix!r} is given for the structure {outline(value)}. "
                "One that begins the same is required."
            )
        )
    return [axis for part, item in pairs for axis in spread(name, part, item)]
