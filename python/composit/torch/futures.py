"""torch.futures: results that may come later."""

from __future__ import annotations

import threading
from typing import Any

from composit._core import runtime_error

__all__ = ["Future", "collect_all", "wait_all"]


class Future:
    """A result that may come later, with the functions that are called then."""

    def __init__(self, *, devices: Any = None) -> None:
        self._is_there = threading.Event()
        self._lock = threading.Lock()
        self._callbacks: list[Any] = []
        self._result: Any = None
        self._error: BaseException | None = None

    def done(self) -> bool:
        """Whether the result is there."""
        return self._is_there.is_set()

    def wait(self) -> Any:
        """The result, waited for. Raises the exception that was set in its place."""
        self._is_there.wait()
        return self.value()

    def value(self) -> Any:
        """The result. Raises the exception that was set in its place; RuntimeError where there is
        none yet."""
        if not self.done():
            raise runtime_error("Future.value: there is no result yet. wait() waits for it.")
        if self._error is not None:
            raise self._error
        return self._result

    def set_result(self, result: Any) -> None:
        """Gives it its result. RuntimeError where it has one."""
        self._complete(result, None)

    def set_exception(self, result: BaseException) -> None:
        """Gives it an exception, which wait() and value() raise."""
        if not isinstance(result, Exception):
            raise AssertionError(f"{result} is of type {type(result)}, not an Exception.")
        self._complete(None, result)

    def _complete(self, result: Any, error: BaseException | None) -> None:
        with self._lock:
            if self.done():
                raise runtime_error(
                    "Attempting to mark a completed Future as complete again. Note that a Future "
                    "can only be marked completed once."
                )
            self._result, self._error = result, error
            self._is_there.set()
        for callback in self._callbacks:
            callback(self)

    def add_done_callback(self, callback: Any) -> None:
        """Calls callback(future) when the result is there: now, if it is."""
        with self._lock:
            if not self.done():
                self._callbacks.append(callback)
                return
        callback(self)

    def then(self, callback: Any) -> Future:
        """A Future of what callback(future) returns."""
        later = Future()

        def continued(future: Future) -> None:
            try:
                later.set_result(callback(future))
            except Exception as error:
                later.set_exception(error)

        self.add_done_callback(continued)
        return later


def collect_all(futures: list[Future]) -> Future:
    """A Future of the list of futures, there when all of them are."""
    all_of_them = Future()
    left = [len(futures)]
    lock = threading.Lock()

    def one_more(_: Future) -> None:
        with lock:
            left[0] -= 1
            is_last = left[0] == 0
        if is_last:
            all_of_them.set_result(futures)

    if not futures:
        all_of_them.set_result(futures)
    for future in futures:
        future.add_done_callback(one_more)
    return all_of_them


def wait_all(futures: list[Future]) -> list[Any]:
    """The results of all, waited for."""
    return [future.wait() for future in collect_all(futures).wait()]
