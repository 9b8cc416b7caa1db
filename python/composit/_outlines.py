"""Outlines: the JSON in a file's metadata that says how its tensors stand in a structure, read
without trust."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NoReturn

from composit._core import value_error


class _BrokenOutline(Exception):
    pass


class Outline:
    """The reader of one outline. Each tensor of the file stands in it once."""

    def __init__(self, text: str, tensors: Mapping[str, Any]) -> None:
        self._text = text
        self._tensors = tensors
        self._used: set[str] = set()

    def rebuilt(
        self, where: str, required: str, rebuild: Callable[[Outline, Any, str], Any]
    ) -> Any:
        """rebuild(self, outline, place) of the whole. ValueError, which begins with `where`, for
        whatever is wrong."""
        try:
            import json

            try:
                outline = json.loads(self._text)
            except ValueError as error:
                raise _BrokenOutline(f"it is no JSON: {error}") from None
            made = rebuild(self, outline, "")
            for name in self._tensors:
                if name not in self._used:
                    raise _BrokenOutline(f"the tensor {name!r} stands nowhere in it")
            return made
        except (_BrokenOutline, RecursionError) as error:
            why = error if isinstance(error, _BrokenOutline) else "it is nested too deep"
            message = f"{where}: its outline is broken: {why}. {required} is required."
        raise value_error(message)

    def refuse(self, place: str, what: str) -> NoReturn:
        """For `rebuild`, where the outline is wrong."""
        raise _BrokenOutline(f"{place or 'the whole'} {what}")

    def kind(self, outline: Any, place: str, also: str = "") -> tuple[str, Any]:
        """The only key of an object, beside `also`, and its value."""
        if isinstance(outline, dict):
            found = [item for item in outline.items() if item[0] != also]
            if len(found) == 1:
                return found[0]
        self.refuse(place, f"is {_shown(outline)}, not an object of one kind")

    def items(self, content: Any, place: str) -> Iterator[tuple[Any, str]]:
        """Each item of a list and its place."""
        if not isinstance(content, list):
            self.refuse(place, f"holds {_shown(content)} in place of a list")
        return ((item, join(place, i)) for i, item in enumerate(content))

    def pairs(self, content: Any, place: str) -> Iterator[tuple[Any, Any]]:
        """Each key and value of a dictionary."""
        for pair, _ in self.items(content, place):
            if not isinstance(pair, list) or len(pair) != 2:
                self.refuse(place, f"holds {_shown(pair)} in place of a key and a value")
            yield pair[0], pair[1]

    def put(self, made: dict[Any, Any], key: Any, value: Any, place: str) -> None:
        """made[key] = value, of a key that is new and can be one."""
        try:
            is_old = key in made
        except TypeError:
            self.refuse(place, f"has a key of type {type(key).__name__}")
        if is_old:
            self.refuse(place, f"has the key {_shown(key)} twice")
        made[key] = value

    def tensor(self, name: Any, place: str) -> Any:
        """The tensor of that name, which no other place has."""
        if not isinstance(name, str) or name not in self._tensors:
            self.refuse(place, f"is the tensor {_shown(name)}, which the file does not have")
        if name in self._used:
            self.refuse(place, f"is the tensor {_shown(name)}, which stands in another place, too")
        self._used.add(name)
        return self._tensors[name]

    def text(self, content: Any, place: str) -> str:
        if not isinstance(content, str):
            self.refuse(place, f"holds {_shown(content)} in place of a text")
        return content


def join(place: str, key: Any) -> str:
    """ "a.b": the place of an item."""
    return f"{place}.{key}" if place else str(key)


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
