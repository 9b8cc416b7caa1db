"""The trace that a thread is in."""

from __future__ import annotations

import threading
from typing import Any

_active = threading.local()


def current() -> Any:
    """The tracer of this thread, if there is a trace."""
    return getattr(_active, "tracer", None)


def enter(tracer: Any) -> None:
    """Says that this thread is in the tracer's trace; None: in none."""
    _active.tracer = tracer
