"""Handles of hooks."""

from __future__ import annotations

from typing import Any


class _Handle:
    """Removes a hook."""

    def __init__(self, hooks: dict[int, Any], hook: Any) -> None:
        self._hooks, self._id = hooks, id(self)
        hooks[self._id] = hook

    def remove(self) -> None:
        """The hook is not called any more."""
        self._hooks.pop(self._id, None)

    def __enter__(self) -> _Handle:
        return self

    def __exit__(self, *_: Any) -> None:
        self.remove()
