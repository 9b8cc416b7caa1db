"""Modules that few programs need: their package imports them when they are first asked for."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Collection, Mapping
from typing import Any


def getter(
    package: str,
    modules: Collection[str],
    homes: Mapping[str, str] | None = None,
    otherwise: Callable[[str], Any] | None = None,
) -> Callable[[str], Any]:
    """The package's `__getattr__`. It imports these of its modules, and for names in `homes` the
    modules that have them. For other names it returns what `otherwise` does; AttributeError
    without.

    tools/check_layers.py reads the names where they are written down: they count as imports."""

    def get(name: str) -> Any:
        """What is imported when it is first asked for."""
        if homes is not None and name in homes:
            return getattr(importlib.import_module(f"{package}.{homes[name]}"), name)
        if name in modules:
            return importlib.import_module(f"{package}.{name}")
        if otherwise is not None:
            return otherwise(name)
        raise AttributeError(f"module {package!r} has no attribute {name!r}")

    return get
