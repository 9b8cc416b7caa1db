"""made_once: attributes that are computed when they are first asked for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar

Made = TypeVar("Made")


class made_once(Generic[Made]):
    """functools.cached_property, whose frames are composit's own: locations of errors are where the
    attribute is asked for."""

    def __init__(self, make: Callable[[Any], Made]) -> None:
        self.make = make
        self.__doc__ = make.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, instance: Any, owner: type | None = None) -> Made:
        if instance is None:
            return self  # type: ignore[return-value]
        return vars(instance).setdefault(self.name, self.make(instance))
