"""map_location of torch.load: where a tensor goes that was saved on a device."""

from __future__ import annotations

from typing import Any

from composit._core import type_error
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


def place_of(location: str, map_location: Any) -> str:
    """The full name of where a tensor goes that was saved on `location`. `map_location`: None, a
    device or its name, a dictionary of locations, or a function of (storage, location). Elsewhere
    where that device is not here and map_location does not name it, RuntimeError where it does."""
    wanted = map_location
    if isinstance(wanted, dict):
        wanted = wanted.get(location)
    elif callable(wanted):
        found = wanted(Stored(location), location)
        if found is not None and not isinstance(found, Stored):
            raise type_error(
                f"load: map_location returned {found!r}. The storage that it gets, one of its "
                "cpu(), cuda() or to(), or None is required."
            )
        wanted = None if found is None else str(found.device)
    if wanted is not None:
        return places.full_name(wanted)
    if location.startswith(("cpu", "meta")):
        return "cpu"
    try:
        return places.full_name(location)
    except RuntimeError as error:
        if location.startswith("cuda"):
            raise Elsewhere(
                "Attempting to deserialize object on a CUDA device but torch.cuda.is_available() "
                "is False. If you are running on a CPU-only machine, please use torch.load with "
                "map_location=torch.device('cpu') to map your storages to the CPU."
            ) from None
        why = str(error).partition("; available")[0]
        raise Elsewhere(
            f"Attempting to deserialize object on {location!r}, but {why}. torch.load with "
            "map_location='cpu' puts it into the host's memory."
        ) from None
