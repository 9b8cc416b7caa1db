"""torch.cpu: the CPU as a device, whose work is done in order."""

from __future__ import annotations

import contextlib
from typing import Any

__path__: list[str] = []  # modules below are found by composit.torch.parts
__all__ = [
    "Event", "Stream", "StreamContext", "current_device", "current_stream", "device_count",
    "is_available", "is_initialized", "set_device", "stream", "synchronize",
]  # fmt: skip


def is_available() -> bool:
    """True."""
    return True


def is_initialized() -> bool:
    """True."""
    return True


def device_count() -> int:
    """1"""
    return 1


def current_device() -> str:
    """The name of the device."""
    return "cpu"


def set_device(device: Any) -> None:
    """Accepted: there is one."""


def synchronize(device: Any = None) -> None:
    """Computes what lives and has no value yet."""
    from composit.torch import materializing

    materializing.materialize()


class Stream:
    """The order in which work is done, of which there is one."""

    def __init__(self, priority: int = -1) -> None:
        pass

    def wait_stream(self, stream: Any) -> None:
        """Nothing: work is done in order."""

    def record_event(self) -> None:
        """Nothing: work is done in order."""

    def wait_event(self, event: Any) -> None:
        """Nothing: work is done in order."""


class Event:
    """A point in the order of work."""

    def query(self) -> bool:
        """True."""
        return True

    def record(self, stream: Any = None) -> None:
        """Nothing: work is done in order."""

    def synchronize(self) -> None:
        """Nothing: work is done in order."""

    def wait(self, stream: Any = None) -> None:
        """Nothing: work is done in order."""


def current_stream(device: Any = None) -> Stream:
    """The stream."""
    return Stream()


def stream(stream: Any) -> Any:
    """A with block that changes nothing."""
    return contextlib.nullcontext()


StreamContext = contextlib.nullcontext
