"""torch.accelerator: there is none."""

from __future__ import annotations

from typing import Any, NoReturn

from composit._core import with_location


def _missing() -> NoReturn:
    raise RuntimeError(with_location("Cannot access accelerator device when none is available."))


def is_available() -> bool:
    """False."""
    return False


def device_count() -> int:
    """0."""
    return 0


def current_accelerator(check_available: bool = False) -> None:
    """None."""
    return None


def current_device_index() -> int:
    """RuntimeError: there is none."""
    _missing()


def set_device_index(device: Any, /) -> None:
    """RuntimeError: there is none."""
    _missing()


def current_stream(device: Any = None, /) -> Any:
    """RuntimeError: there is none."""
    _missing()


def synchronize(device: Any = None, /) -> None:
    """RuntimeError: there is none."""
    _missing()
