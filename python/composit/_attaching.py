"""Methods and properties written in Python for classes of C++."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any


def attach(
    kind: type, methods: Mapping[str, Any], properties: Mapping[str, Callable[[Any], Any]]
) -> None:
    """Puts the methods on the class, and properties that these functions read."""
    for name, method in methods.items():
        setattr(kind, name, method)
    for name, read in properties.items():
        setattr(kind, name, property(read, doc=read.__doc__))
