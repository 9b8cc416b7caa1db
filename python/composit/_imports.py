"""Waits for modules of other libraries: what is to be done with one is done once it is imported."""

from __future__ import annotations

import importlib.machinery
import sys
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any

_waiting: dict[str, list[Callable[[ModuleType], None]]] = {}


class _Loader:
    """A module's own loader, after which those who wait get the module."""

    def __init__(self, own: Any) -> None:
        self.own = own

    def create_module(self, spec: Any) -> Any:
        return self.own.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        spec = module.__spec__
        assert spec is not None
        spec.loader = module.__loader__ = self.own
        self.own.exec_module(module)
        for begin in _waiting[module.__name__]:
            begin(module)


class _Finder:
    """Finds the modules that somebody waits for."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: Any = None
    ) -> importlib.machinery.ModuleSpec | None:
        if fullname not in _waiting:
            return None
        spec = importlib.machinery.PathFinder.find_spec(fullname, path, target)
        if spec is not None and spec.loader is not None:
            spec.loader = _Loader(spec.loader)  # type: ignore[assignment]
        return spec


def when_imported(name: str, begin: Callable[[ModuleType], None]) -> None:
    """Calls `begin` with the module of that name: now, if it is there, and each time that somebody
    imports it from now on."""
    if not _waiting:
        sys.meta_path.insert(0, _Finder())  # type: ignore[arg-type]
    _waiting.setdefault(name, []).append(begin)
    module = sys.modules.get(name)
    if module is not None:
        begin(module)
