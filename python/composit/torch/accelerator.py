"""torch.accelerator: the CUDA devices, by their numbers."""

from __future__ import annotations

from typing import Any, NoReturn

from composit._core import runtime_error
from composit.torch import cuda, places

__path__: list[str] = []  # modules below are found by composit.torch.parts


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


current_device_idx = current_device_index
set_device_idx = set_device_index


class device_index:
    """A with block in which a device is the current one; nothing for None."""

    def __init__(self, device: int | None, /) -> None:
        self._device = cuda.device(device)

    def __enter__(self) -> None:
        self._device.__enter__()

    def __exit__(self, *_: Any) -> None:
        self._device.__exit__()


def get_device_capability(device: Any = None, /) -> Any:
    """{"supported_dtypes": ...} of a device; RuntimeError where there is none."""
    _check()
    from composit.torch import dtypes

    cuda.get_device_properties(device)
    return {"supported_dtypes": set(dtypes.by_name.values())}


def set_stream(stream: Any, /) -> None:
    """Accepted: there is one queue. RuntimeError where there is no device."""
    _check()


empty_cache = cuda.empty_cache


def memory_allocated(device_index: Any = None, /) -> int:
    """As cuda.memory_allocated."""
    return cuda.memory_allocated(device_index)


def max_memory_allocated(device_index: Any = None, /) -> int:
    """As cuda.max_memory_allocated."""
    return cuda.max_memory_allocated(device_index)


def memory_reserved(device_index: Any = None, /) -> int:
    """As cuda.memory_reserved."""
    return cuda.memory_reserved(device_index)


def max_memory_reserved(device_index: Any = None, /) -> int:
    """As cuda.max_memory_reserved."""
    return cuda.max_memory_reserved(device_index)


def memory_stats(device_index: Any = None, /) -> dict[str, Any]:
    """As cuda.memory_stats."""
    return cuda.memory_stats(device_index)


def reset_peak_memory_stats(device_index: Any = None, /) -> None:
    """As cuda.reset_peak_memory_stats."""
    cuda.reset_peak_memory_stats(device_index)


def empty_host_cache() -> None:
    """Nothing: the host's memory is given back as it is freed."""


def reset_accumulated_memory_stats(device_index: Any = None, /) -> None:
    """Nothing: memory_stats counts what is there."""


def get_memory_info(device_index: Any = None, /) -> tuple[int, int]:
    """The bytes that are free, and all bytes; RuntimeError where there is no device."""
    _check()
    return cuda.mem_get_info(device_index)


def current_stream(device: Any = None, /) -> Any:
    """Its queue; RuntimeError where there is none."""
    _check()
    return cuda.current_stream(device)


def synchronize(device: Any = None, /) -> None:
    """Waits for all work; RuntimeError where there is none."""
    _check()
    cuda.synchronize(device)
