"""What a captured function reads besides its arguments: globals, closures, modules and their
attributes; whether all of it is as it was. It is read in C++."""

from __future__ import annotations

from typing import Any

import composit._core as _core
from composit.torch import dtypes

_constants = (bool, int, float, complex, str, bytes, type(None), type(...), slice, range,
              dtypes.dtype, dtypes.device)  # fmt: skip


class Unguarded(Exception):
    """The function reads what cannot be watched."""


class Guards:
    """All that was read, in order, with what tells whether it is the same."""

    def __init__(self, function: Any) -> None:
        self.function = function
        self._read = self._now()
        self._held = _core.traces.guards_held(self._read)

    @property
    def tensors(self) -> list[Any]:
        """Those that the function reads."""
        return self._read[4]

    def is_same(self) -> bool:
        """Whether all is as it was."""
        # Mostly everything is the very same object: that is seen without looking at single ones.
        if _core.traces.are_guards_held(self._read, self._held):
            return True
        try:
            now = self._now()
        except Unguarded:
            return False
        if not _core.traces.is_found_again(self._read[0], now[0], _constants):
            return False
        self._read, self._held = now, _core.traces.guards_held(now)
        return True

    def _now(self) -> Any:
        return _core.traces.guards_of(self.function, _constants, Unguarded)


def guards_of(function: Any) -> Guards:
    """What the function reads, as it is now. Unguarded where that is not possible."""
    return Guards(function)
