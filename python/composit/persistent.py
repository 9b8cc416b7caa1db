"""PersistentMap: a mapping whose changes are new mappings, sharing one dictionary."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

_absent = object()


class PersistentMap(Mapping):
    """The version touched last holds the dictionary; each other one holds what differs from its
    neighbour on the way there. A chain of changes costs O(1) each; going back to an old version
    costs as many steps as lie between."""

    __slots__ = ("_data", "_key", "_next", "_old")

    def __init__(self, data: dict | None = None) -> None:
        self._data: dict | None = {} if data is None else data
        self._next: PersistentMap | None = None
        self._key: Any = None
        self._old: Any = None

    def _dictionary(self) -> dict:
        if self._data is None:
            chain = [self]
            while chain[-1]._data is None:
                chain.append(chain[-1]._next)  # type: ignore[arg-type]
            for version in reversed(chain[:-1]):
                version._take_from(version._next)  # type: ignore[arg-type]
        return self._data  # type: ignore[return-value]

    def _take_from(self, holder: PersistentMap) -> None:
        data = holder._data
        assert data is not None
        key = self._key
        holder._old = data.get(key, _absent)
        holder._key, holder._next, holder._data = key, self, None
        if self._old is _absent:
            data.pop(key, None)
        else:
            data[key] = self._old
        self._data, self._next, self._key, self._old = data, None, None, None

    def _changed(self, key: Any, value: Any) -> PersistentMap:
        data = self._dictionary()
        self._old = data.get(key, _absent)
        if value is _absent:
            del data[key]
        else:
            data[key] = value
        changed = PersistentMap(data)
        self._data, self._next, self._key = None, changed, key
        return changed

    def set(self, key: Any, value: Any) -> PersistentMap:
        """This mapping with key -> value."""
        return self._changed(key, value)

    def remove(self, key: Any) -> PersistentMap:
        """This mapping without key (KeyError if it is not there)."""
        self[key]
        return self._changed(key, _absent)

    def __getitem__(self, key: Any) -> Any:
        return self._dictionary()[key]

    def __contains__(self, key: Any) -> bool:
        return key in self._dictionary()

    def __iter__(self) -> Iterator[Any]:
        return iter(list(self._dictionary()))

    def __len__(self) -> int:
        return len(self._dictionary())

    def __reduce__(self) -> Any:
        return PersistentMap, (dict(self._dictionary()),)
