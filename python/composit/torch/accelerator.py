"""torch.accelerator: the CUDA devices, by their numbers."""

from __future__ import annotations

from typing import Any, NoReturn

from composit._core import runtime_error
from composit.torch import cuda, places


def _missing() -> NoReturn:
    raise runtime_error("Cannot access accelerator device when none is available.")


def _check() -> None:
    if not cuda.is_available():
        _missing()


def is_available() -> bool:
    """Whether there is one."""
    return cuda.is_available()


def device_count() -> int:
    """How many there are."""
    return cuda.device_count()


def current_accelerator(check_available: bool = False) -> Any:
    """device("cuda"); None where there is none."""
    return places.device("cuda") if cuda.is_available() else None


def current_device_index() -> int:
    """The number of the current one; RuntimeError where there is none."""
    _check()
    return cuda.current_device()


def set_device_index(device: Any, /) -> None:
    """Makes one the current one of this thread; RuntimeError where there is none."""
    _check()
    cuda.set_device(device)


def current_stream(device: Any = None, /) -> Any:
    """Its queue; RuntimeError where there is none."""
    _check()
    return cuda.current_stream(device)


def synchronize(device: Any = None, /) -> None:
    """Waits for all work; RuntimeError where there is none."""
    _check()
    cuda.synchronize(device)
