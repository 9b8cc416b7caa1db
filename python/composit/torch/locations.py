"""map_location of torch.load: where a tensor goes that was saved on a device."""

from __future__ import annotations

from typing import Any

import composit._core as _core
from composit.torch import places


class Elsewhere(Exception):
    """A tensor was saved on a device that is not here."""


class Stored:
    """What map_location functions get in place of a storage: its device, and others in place of
    it."""

    def __init__(self, place: str) -> None:
        self._place = place

    @property
    def device(self) -> places.device:
        """Where it is to lie."""
        return places.device(self._place)

    def cpu(self) -> Stored:
        """In the host's memory."""
        return Stored("cpu")

    def cuda(self, device: Any = None, non_blocking: bool = False) -> Stored:
        """On a CUDA device."""
        return Stored(str(places.device("cuda" if device is None else device)))

    def to(self, *, device: Any, non_blocking: bool = False) -> Stored:
        """On a device."""
        return Stored(str(places.device(device)))


# place_of(location, map_location): the full name of where a tensor goes that was saved on
# `location`. `map_location`: None, a device or its name, a dictionary of locations, or a function
# of (storage, location). Elsewhere where that device is not here and map_location does not name it,
# RuntimeError where it does.
place_of = _core.place_of_saved
_core.provide("saved_elsewhere", Elsewhere)
_core.provide("stored_place", Stored)
