"""Nested tuples, lists, dictionaries and dataclasses of tensors: taken apart and put together."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

from composit._core import type_error, value_error

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


def changed(value: Any, change: Callable[[Any], Any]) -> Any:
    """The value with what `change` makes of each leaf of its lists, tuples and dictionaries;
    objects of their subclasses, but for named tuples, are leaves."""
    if type(value) in (list, tuple):
        return type(value)(changed(item, change) for item in value)
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*(changed(item, change) for item in value))
    if type(value) is dict:
        return {key: changed(item, change) for key, item in value.items()}
    return change(value)


def is_record(value: Any) -> bool:
    """Whether it is made by a dataclass, of its fields alone, and is no array itself."""
    # Programs without dataclasses do not import their module.
    if not hasattr(type(value), "__dataclass_fields__") or hasattr(value, "__array__"):
        return False
    import dataclasses

    return all(field.init for field in dataclasses.fields(value))


def fields_of(value: Any) -> dict[str, Any]:
    """The fields of a dataclass's object."""
    import dataclasses

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


def names_of(value: Any, root: str = "") -> list[str]:
    """A name for each leaf, from keys, fields and places: names_of({"w": [a, b]}) is ["w_0",
    "w_1"], and with the root "state" ["state_w_0", "state_w_1"]. Places alone make no name."""
    if value is None:
        return []
    if is_record(value) or isinstance(value, dict) or hasattr(value, "_fields"):
        items = (
            fields_of(value) if is_record(value) else
            value if isinstance(value, dict) else value._asdict()
        )  # fmt: skip
        join = f"{root}_" if root else ""
        return [name for key, item in items.items() for name in names_of(item, f"{join}{key}")]
    if isinstance(value, (tuple, list)):
        return [
            name
            for i, item in enumerate(value)
            for name in names_of(item, f"{root}_{i}" if root else "")
        ]
    return [root]


def distinct_names_of(value: Any) -> list[str]:
    """names_of, numbered where several leaves would have one name: ["w_0", "b", "w_1"]."""
    names = names_of(value)
    numbers = {name: itertools.count() for name in names if name and names.count(name) > 1}
    return [f"{name}_{next(numbers[name])}" if name in numbers else name for name in names]


def spread(name: str, prefix: Any, value: Any) -> list[int | None]:
    """For each leaf of `value` the integer or None of `prefix`, whose structure begins as
    value's: an entry holds for all below it. TypeError, ValueError where it does not."""
    if prefix is None or (isinstance(prefix, int) and not isinstance(prefix, bool)):
        return [prefix] * len(flatten(value)[0])
    if not isinstance(prefix, (tuple, list, dict)):
        raise type_error(
            f"{name}: {prefix!r} is not an axis. An integer, None, or a structure of them is "
            "required."
        )
    pairs: list[tuple[Any, Any]] = []
    if isinstance(prefix, dict) and isinstance(value, dict) and prefix.keys() == value.keys():
        pairs = [(prefix[key], item) for key, item in value.items()]
    elif type(prefix) is type(value) is not dict and len(prefix) == len(value):
        pairs = list(zip(prefix, value))
    else:
        raise value_error(
            f"{name}: {prefix!r} is given for the structure {outline(value)}. "
            "One that begins the same is required."
        )
    return [axis for part, item in pairs for axis in spread(name, part, item)]
