"""Libraries whose values kernels of composit.knossos are called with. Each says here which values
are its own, and how a kernel is called with them: knossos knows none of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Library:
    """`owns(value)`: whether a value is the library's. `call(kernel, arguments)`: what the kernel
    computes of arguments of which some are. Of arguments of several libraries the one of the lowest
    `order` is called."""

    name: str
    order: int
    owns: Callable[[Any], bool]
    call: Callable[[Any, list[Any]], Any]


_libraries: list[Library] = []


def register(library: Library) -> None:
    """Says that kernels may be called with the library's values."""
    _libraries.append(library)
    _libraries.sort(key=lambda each: each.order)


def library_of(values: Iterable[Any]) -> Library | None:
    """The library that is called for these values; None where none owns one of them."""
    for library in _libraries:
        if any(map(library.owns, values)):
            return library
    return None
