"""Names that users know: the modules that users import say here what they have, so that the modules
below them can ask."""

from __future__ import annotations

from typing import Any

_modules: dict[str, dict[str, Any]] = {}


def publish(module: str, names: dict[str, Any]) -> None:
    """Says that users know `names`, the namespace of a module."""
    _modules[module] = names


def is_public(name: str) -> bool:
    """Whether one of the published modules has the name."""
    return any(name in names for names in _modules.values())


def find(module: str, name: str) -> Any:
    """What a published module has under a name. AttributeError where it has nothing."""
    names = _modules[module]
    return names[name] if name in names else names["__getattr__"](name)
