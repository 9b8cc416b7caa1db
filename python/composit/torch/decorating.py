"""With blocks as decorators: of functions, and of generators, whose bodies run within the block
while their callers' code does not."""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Callable, Generator
from typing import Any


def decorated(function: Any, block: Callable[[], Any]) -> Any:
    """The function, whose calls are within a with block that `block` makes."""
    if inspect.isgeneratorfunction(function):
        return _generator(function, block)

    @functools.wraps(function)
    def within(*args: Any, **kwargs: Any) -> Any:
        with block():
            return function(*args, **kwargs)

    return within


def _generator(function: Any, block: Callable[[], Any]) -> Any:
    @functools.wraps(function)
    def within(*args: Any, **kwargs: Any) -> Generator[Any, Any, Any]:
        inner = function(*args, **kwargs)
        go_on: Callable[[], Any] = functools.partial(next, inner)
        while True:
            try:
                with block():
                    value = go_on()
            except StopIteration as end:
                return end.value
            try:
                sent = yield value
            except GeneratorExit:
                with block():
                    inner.close()
                raise
            except BaseException:
                go_on = functools.partial(inner.throw, sys.exc_info()[1])
            else:
                go_on = functools.partial(inner.send, sent)

    return within
