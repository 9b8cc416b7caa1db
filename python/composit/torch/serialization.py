"""torch.serialization: files, and which classes of users' may be loaded from files of strangers."""

from __future__ import annotations

from typing import Any

from composit.torch import archives
from composit.torch.saving import load, save

__all__ = [
    "add_safe_globals", "clear_safe_globals", "get_safe_globals", "load", "safe_globals", "save",
]  # fmt: skip


def add_safe_globals(safe_globals: list[Any]) -> None:
    """From now on load makes objects of these classes with weights_only=True, too. An entry is a
    class, or a class with the name that files have for it."""
    archives._safe += [x for x in safe_globals if x not in archives._safe]


def get_safe_globals() -> list[Any]:
    """The classes that were added."""
    return list(archives._safe)


def clear_safe_globals() -> None:
    """Forgets the classes that were added."""
    archives._safe.clear()


class safe_globals:
    """Within a with block load makes objects of these classes."""

    def __init__(self, safe_globals: list[Any]) -> None:
        self._classes = safe_globals

    def __enter__(self) -> None:
        self._before = get_safe_globals()
        add_safe_globals(self._classes)

    def __exit__(self, *_: Any) -> None:
        archives._safe[:] = self._before
