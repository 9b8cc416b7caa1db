"""torch.cuda: questions about CUDA devices. Where none is, settings are accepted, and what needs a
device is refused, as a PyTorch that was built without CUDA does. CUDA's library is opened when the
first of these questions is asked."""

from __future__ import annotations

import re
from typing import Any, NoReturn

import composit._core as _core
from composit._core import not_implemented, runtime_error, value_error, with_location
from composit.torch import places
from composit.torch.cuda.device_names import devices as _devices
from composit.torch.cuda.device_names import missing as _missing
from composit.torch.cuda.device_names import name_of as _name_of
from composit.torch.cuda.device_names import names as _names
from composit.torch.cuda.device_names import was_asked as _was_asked
from composit.torch.cuda.memory import (
    clock_rate,
    device_memory_used,
    empty_cache,
    get_per_process_memory_fraction,
    get_sync_debug_mode,
    ipc_collect,
    list_gpu_processes,
    max_memory_allocated,
    max_memory_cached,
    max_memory_reserved,
    mem_get_info,
    memory_allocated,
    memory_cached,
    memory_reserved,
    memory_snapshot,
    memory_stats,
    memory_stats_as_nested_dict,
    memory_summary,
    memory_usage,
    power_draw,
    reset_accumulated_memory_stats,
    reset_max_memory_allocated,
    reset_max_memory_cached,
    reset_peak_memory_stats,
    set_per_process_memory_fraction,
    set_sync_debug_mode,
    temperature,
    utilization,
)
from composit.torch.functions import random as _random
from composit.torch.parts import getter

has_half = True
has_magma = False
__getattr__ = getter(__name__, ("amp", "nvtx"))

# ----- devices


def is_available() -> bool:
    """Whether there is a CUDA device."""
    return bool(_names())


def device_count() -> int:
    """How many there are."""
    return len(_names())


def is_initialized() -> bool:
    """Whether one was used by these functions."""
    return _was_asked[0] and bool(_names())


def init() -> None:
    """Opens the devices; AssertionError where there is none."""
    _name_of(None)


def current_device() -> int:
    """The number of the device that "cuda" without one is, in this thread."""
    _name_of(None)
    return places.current.cuda


def set_device(device: Any) -> None:
    """Makes a device the current one of this thread. Nothing for negative numbers."""
    if not isinstance(device, int) or device >= 0:
        places.current.cuda = int(_name_of(device, optional=False).partition(":")[2])


def get_device_name(device: Any = None) -> str:
    """Its name."""
    return get_device_properties(device).name


def get_device_capability(device: Any = None) -> tuple[int, int]:
    """Its compute capability, as (9, 0)."""
    found = get_device_properties(device)
    return found.major, found.minor


class _CudaDeviceProperties:
    """name, total_memory in bytes, and major and minor of the compute capability."""

    def __init__(self, facts: dict[str, Any]) -> None:
        text = facts["description"]
        self.name = text.partition(",")[0]
        self.total_memory = facts["memory_bytes"]
        found = re.search(r"compute capability (\d+)\.(\d+)", text)
        self.major, self.minor = (int(found[1]), int(found[2])) if found else (0, 0)

    def __repr__(self) -> str:
        return (
            f"_CudaDeviceProperties(name={self.name!r}, major={self.major}, minor={self.minor}, "
            f"total_memory={self.total_memory // 2**20}MB)"
        )


def get_device_properties(device: Any = None) -> Any:
    """Facts about a device: name, total_memory in bytes, major, minor."""
    return _CudaDeviceProperties(_devices.describe(_name_of(device)))


def is_bf16_supported(including_emulation: bool = True) -> bool:
    """Whether there is a device: arithmetic of bfloat16 is rounded from float32 everywhere."""
    return bool(_names()) and including_emulation


def is_tf32_supported() -> bool:
    """False: products of float32 are made in float32."""
    return False


def is_current_stream_capturing() -> bool:
    """False."""
    return False


def get_arch_list() -> list[str]:
    """None: code is compiled for the device when it is needed."""
    return []


def can_device_access_peer(device: Any, peer_device: Any) -> bool:
    """False: values go from one device to another through the host's memory."""
    _name_of(device), _name_of(peer_device)
    return False


class device:
    """A with block on a device, whose number is the current one there. Nothing for None and for -1;
    AssertionError where no device is."""

    def __init__(self, device: Any) -> None:
        self.idx: Any = -1 if device is None else device
        self._before: list[int] = []

    def __enter__(self) -> None:
        self._before.append(places.current.cuda)
        if not isinstance(self.idx, int) or self.idx >= 0:
            set_device(self.idx)

    def __exit__(self, *_: Any) -> None:
        places.current.cuda = self._before.pop()


class device_of(device):
    """A with block on the device of a tensor; nothing for one that lies elsewhere."""

    def __init__(self, obj: Any) -> None:
        super().__init__(obj.get_device() if obj.device.type == places.cuda_kind else -1)


# ----- the queue of work


def synchronize(device: Any = None) -> None:
    """Waits for all work on a device, and computes what lives and has no value yet."""
    name = _name_of(device)
    from composit.torch import materializing

    materializing.materialize()
    _devices.synchronise(name)


class Event:
    """A point in the queue of the current device: record(), query(), synchronize(), and
    elapsed_time(later) in milliseconds. What lives and has no value yet is computed by record(), so
    that the work before it is in the queue."""

    def __init__(
        self, enable_timing: bool = False, blocking: bool = False, interprocess: bool = False,
        external: bool = False,
    ) -> None:  # fmt: skip
        _name_of(None)
        self._is_timed = enable_timing
        self._event: Any = None

    def record(self, stream: Any = None) -> None:
        """Puts it behind all work that was asked for."""
        from composit.torch import materializing

        materializing.materialize()
        self._event = _devices.record(_name_of(getattr(stream, "device", None)))

    def query(self) -> bool:
        """Whether the work before it is done; True where it was not recorded."""
        return self._event is None or self._event.is_done

    def synchronize(self) -> None:
        """Waits for the work before it."""
        if self._event is not None:
            self._event.wait()

    def wait(self, stream: Any = None) -> None:
        """Nothing: there is one queue, whose work is done in order."""

    def elapsed_time(self, end_event: Event) -> float:
        """Milliseconds from this event to a later one. RuntimeError unless both were recorded, are
        done, and have enable_timing=True."""
        if not (self._is_timed and end_event._is_timed):
            raise value_error("Both events must be created with argument 'enable_timing=True'.")
        if self._event is None or end_event._event is None:
            raise value_error("Both events must be recorded before calculating elapsed time.")
        if not (self.query() and end_event.query()):
            raise runtime_error("Both events must be completed before calculating elapsed time.")
        return end_event._event.seconds_since(self._event) * 1000


class Stream:
    """The queue of a device. There is one, whose work is done in order: streams that are made are
    names of it."""

    def __init__(self, device: Any = None, priority: int = 0, **_: Any) -> None:
        self._name = _name_of(device)
        self.priority = priority

    @property
    def device(self) -> places.device:
        """Its device."""
        return places.of_name(self._name)

    def query(self) -> bool:
        """Whether all work that was asked for is done."""
        return _devices.record(self._name).is_done

    def synchronize(self) -> None:
        """Waits for all work."""
        synchronize(self._name)

    def wait_stream(self, stream: Any) -> None:
        """Nothing: there is one queue."""

    def wait_event(self, event: Any) -> None:
        """Nothing: there is one queue."""

    def record_event(self, event: Any = None) -> Any:
        """An event, recorded."""
        event = Event() if event is None else event
        event.record(self)
        return event

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Stream) and self._name == other._name

    def __hash__(self) -> int:
        return hash(self._name)

    def __repr__(self) -> str:
        return f"<torch.cuda.Stream device={self._name}>"


def current_stream(device: Any = None) -> Any:
    """The queue of a device."""
    return Stream(device)


default_stream = current_stream


def set_stream(stream: Any) -> None:
    """Accepted: there is one queue."""


class stream:
    """A with block on a stream: nothing changes, as there is one queue. AssertionError where no
    device is, unless the stream is None."""

    def __init__(self, stream: Any) -> None:
        self.stream = stream

    def __enter__(self) -> None:
        if self.stream is not None:
            _name_of(None)

    def __exit__(self, *_: Any) -> None:
        pass


StreamContext = stream


# ----- draws: one generator, whose numbers are the same on all devices


def manual_seed(seed: int) -> None:
    """Seeds the generator, which is one for all devices; nothing where no device is."""
    if _names():
        _random.manual_seed(seed)


manual_seed_all = manual_seed


def seed() -> None:
    """Seeds the generator by what nobody knows; nothing where no device is."""
    if _names():
        _random.seed()


seed_all = seed


def initial_seed() -> int:
    """The seed of the generator."""
    _name_of(None)
    return _random.initial_seed()


def get_rng_state(device: Any = "cuda") -> Any:
    """Where the generator is; AssertionError where no device is."""
    _name_of(None if device == "cuda" else device)
    return _random.get_rng_state()


def get_rng_state_all() -> list[Any]:
    """The same for each device."""
    return [_random.get_rng_state() for _ in _names()]


def set_rng_state(new_state: Any, device: Any = "cuda") -> None:
    """Makes the generator go on from a state; nothing where no device is."""
    if _names():
        _name_of(None if device == "cuda" else device)
        _random.set_rng_state(new_state)


def set_rng_state_all(new_states: Any) -> None:
    """The same with a state for each device, which are equal. AssertionError where no device is."""
    if len(new_states):
        _name_of(None)
        _random.set_rng_state(new_states[0])


default_generators: tuple[Any, ...] = ()


# ----- what is not built


class CUDAGraph:
    """NotImplementedError: a step is one program already. AssertionError where no device is."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        _name_of(None)
        raise not_implemented("torch.cuda.CUDAGraph is not built.")


class graph(CUDAGraph):
    """NotImplementedError, as CUDAGraph."""


class ExternalStream:
    """NotImplementedError: other libraries' queues are not built. AssertionError where no device
    is."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        _name_of(None)
        raise not_implemented("torch.cuda.ExternalStream is not built.")


def make_graphed_callables(callables: Any, *args: Any, **kwargs: Any) -> Any:
    """The functions themselves: a step is one program already. AssertionError where no device
    is."""
    _name_of(None)
    return callables


def graph_pool_handle() -> NoReturn:
    """NotImplementedError, as CUDAGraph. AssertionError where no device is."""
    _name_of(None)
    raise not_implemented("torch.cuda.graph_pool_handle is not built.")


class _TypedTensor:
    """Makes tensors on the current device."""

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        place = _name_of(None)
        from composit.torch import typed_tensors

        return typed_tensors.of(cls.__name__)(*args, device=place, **kwargs)


for _traits in _core.dtype_table():
    if not _traits.has_tensor_class:
        continue
    _name = _traits.scalar_type
    globals()[f"{_name}Tensor"] = type(f"{_name}Tensor", (_TypedTensor,), {
        "__doc__": "Makes tensors on the current device; AssertionError where none is.",
        "__module__": __name__,
    })  # fmt: skip
