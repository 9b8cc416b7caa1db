"""The call in progress, one for each thread: sessions are begun here, and asked for by inputs and
nodes."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


class _Current(threading.local):
    session: Any = None


_current = _Current()


def current() -> Any:
    """The session of the call that this thread is in; None outside of calls."""
    return _current.session


@contextmanager
def begun(session: Any) -> Iterator[Any]:
    """The session as the thread's, until the block is left."""
    before, _current.session = _current.session, session
    try:
        yield session
    finally:
        _current.session = before
