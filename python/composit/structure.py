"""Nested tuples, lists, dictionaries and dataclasses of tensors: taken apart, put together and
described (bindings/structures.cpp)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import composit._core as _core

Rebuild = Callable[[Any], Any]
_structures: Any = _core.structures

# flatten(value): the leaves in order, and the function that puts others in their places.
flatten: Callable[[Any], tuple[list[Any], Rebuild]] = _structures.flatten
# leaves(value, kind): those of lists, tuples and dictionaries, or the values of a kind in them.
leaves: Callable[..., list[Any]] = _structures.leaves
# mapped(value, function, kind): with the function's results in the places of leaves, or of the
# values of a kind.
mapped: Callable[..., Any] = _structures.mapped
# mapped_pairs(value, other, function, kind): with function(value, the other structure's) for each
# of the kind.
mapped_pairs: Callable[..., Any] = _structures.mapped_pairs
# changed(value, change): with what `change` makes of each leaf; objects of subclasses of lists,
# tuples and dictionaries, but for named tuples, are leaves.
changed: Callable[[Any, Callable[[Any], Any]], Any] = _structures.changed
# The structure as text, with * for leaves.
outline: Callable[[Any], str] = _structures.outline
# A name for each leaf, from keys, fields and places: names_of({"w": [a, b]}) is ["w_0", "w_1"], and
# with the root "state" ["state_w_0", "state_w_1"]. Places alone make no name.
names_of: Callable[..., list[str]] = _structures.names_of
# names_of, numbered where several leaves would have one name: ["w_0", "b", "w_1"].
distinct_names_of: Callable[[Any], list[str]] = _structures.distinct_names_of
# spread(name, prefix, value): for each leaf of `value` the integer or None of `prefix`, whose
# structure begins as value's: an entry holds for all below it. TypeError, ValueError where it does
# not.
spread: Callable[[str, Any, Any], list[int | None]] = _structures.spread
# add_library(take_apart): what says from now on what containers of another library hold.
add_library: Callable[[Callable[[Any], Any]], None] = _structures.add_library
