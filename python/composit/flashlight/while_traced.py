"""Changes of torch that stay while any thread traces: what they change is the process's."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator


class WhileTraced:
    """A context for each trace: `begin`, which is told whether it is the first of those that go on,
    when one begins, and `end` when the last one has ended."""

    def __init__(self, begin: Callable[[bool], None], end: Callable[[], None]) -> None:
        self._begin, self._end = begin, end
        self._lock = threading.Lock()
        self._traces = 0

    @contextlib.contextmanager
    def __call__(self) -> Iterator[None]:
        with self._lock:
            self._traces += 1
            self._begin(self._traces == 1)
        try:
            yield
        finally:
            with self._lock:
                self._traces -= 1
                if not self._traces:
                    self._end()
