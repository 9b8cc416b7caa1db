"""torch.cuda.memory: how much memory of CUDA devices is in use."""

from __future__ import annotations

from typing import Any, NoReturn

from composit._core import not_implemented, runtime_error, value_error
from composit.torch.cuda.device_names import devices as _devices
from composit.torch.cuda.device_names import held as _held
from composit.torch.cuda.device_names import name_of as _name_of
from composit.torch.cuda.device_names import names as _names


def empty_cache() -> None:
    """Gives memory back to the driver that no tensor uses any more."""
    for name in _names():
        _devices.give_back_kept_memory(name)


def ipc_collect() -> None:
    """Accepted: no memory is shared with other processes."""


def mem_get_info(device: Any = None) -> tuple[int, int]:
    """The bytes that are free, and all bytes, of a device's memory."""
    facts = _devices.describe(_name_of(device))
    return facts["free_bytes"], facts["memory_bytes"]


def memory_allocated(device: Any = None) -> int:
    """Bytes that tensors hold; 0 where no device is."""
    return _held(device, "held_bytes")


def max_memory_allocated(device: Any = None) -> int:
    """The most bytes that tensors held since the last reset; 0 where no device is."""
    return _held(device, "most_held_bytes")


def memory_reserved(device: Any = None) -> int:
    """Bytes that tensors hold, and those that are kept for the next; 0 where no device is."""
    return _held(device, "held_bytes") + _held(device, "kept_bytes") if _names() else 0


def max_memory_reserved(device: Any = None) -> int:
    """The most bytes that tensors held, and those that are kept now; 0 where no device is."""
    return _held(device, "most_held_bytes") + _held(device, "kept_bytes") if _names() else 0


def reset_peak_memory_stats(device: Any = None) -> None:
    """max_memory_allocated begins anew."""
    if _names():
        _devices.forget_most_held(_name_of(device))


reset_max_memory_allocated = reset_max_memory_cached = reset_peak_memory_stats
memory_cached, max_memory_cached = memory_reserved, max_memory_reserved


def memory_stats(device: Any = None) -> dict[str, Any]:
    """allocated_bytes.all.current and .peak, reserved_bytes.all.current; nothing where no device
    is."""
    if not _names():
        return {}
    return {
        "allocated_bytes.all.current": memory_allocated(device),
        "allocated_bytes.all.peak": max_memory_allocated(device),
        "reserved_bytes.all.current": memory_reserved(device),
    }


def memory_summary(device: Any = None, abbreviated: bool = False) -> str:
    """memory_stats as lines; empty where no device is."""
    return "\n".join(f"{name}: {value}" for name, value in memory_stats(device).items())


memory_stats_as_nested_dict = memory_stats


def reset_accumulated_memory_stats(device: Any = None) -> None:
    """Nothing: memory_stats counts what is there."""


def set_per_process_memory_fraction(fraction: float, device: Any = None) -> None:
    """Accepts 1. NotImplementedError for less; ValueError outside [0, 1]. AssertionError where no
    device is."""
    _name_of(device)
    if not 0 <= fraction <= 1:
        raise value_error(f"Invalid fraction value: {fraction}. Allowed range: 0~1")
    if fraction < 1:
        raise not_implemented("set_per_process_memory_fraction: limits of memory are not built.")


def get_per_process_memory_fraction(device: Any = None) -> float:
    """1.0; AssertionError where no device is."""
    _name_of(device)
    return 1.0


def _not_measured(name: str) -> Any:
    def ask(device: Any = None) -> NoReturn:
        _name_of(device)
        raise not_implemented(f"torch.cuda.{name}: what NVIDIA's tools measure is not asked.")

    ask.__doc__ = "NotImplementedError; AssertionError where no device is."
    ask.__name__ = name
    return ask


utilization, memory_usage = _not_measured("utilization"), _not_measured("memory_usage")
temperature, power_draw = _not_measured("temperature"), _not_measured("power_draw")
clock_rate, device_memory_used = _not_measured("clock_rate"), _not_measured("device_memory_used")
list_gpu_processes = _not_measured("list_gpu_processes")


def memory_snapshot(mempool_id: Any = None, include_traces: bool = True) -> NoReturn:
    """NotImplementedError; AssertionError where no device is."""
    _name_of(None)
    raise not_implemented("torch.cuda.memory_snapshot is not built.")


_debug_mode = [0]


def set_sync_debug_mode(debug_mode: int | str) -> None:
    """Accepted: "default", "warn", "error", or 0 to 2. RuntimeError for another one."""
    modes: list[Any] = ["default", "warn", "error"]
    if debug_mode in modes:
        debug_mode = modes.index(debug_mode)
    if debug_mode not in (0, 1, 2):
        raise runtime_error(
            "invalid value of debug_mode, expected one of `default`, `warn`, `error`"
        )
    _debug_mode[0] = int(debug_mode)


def get_sync_debug_mode() -> int:
    """What set_sync_debug_mode was given."""
    return _debug_mode[0]
