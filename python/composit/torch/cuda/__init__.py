"""torch.cuda on a machine without CUDA: questions are answered, settings are accepted, and what
needs a device is refused, as a PyTorch that was built without CUDA does."""

from __future__ import annotations

from typing import Any, NoReturn

from composit._core import with_location
from composit.torch.parts import getter

has_half = True
has_magma = False
default_generators: tuple[Any, ...] = ()
__getattr__ = getter(__name__, ("amp",))


def _missing() -> NoReturn:
    raise AssertionError(with_location("Torch not compiled with CUDA enabled"))


def is_available() -> bool:
    """False."""
    return False


def is_initialized() -> bool:
    """False."""
    return False


def is_bf16_supported(including_emulation: bool = True) -> bool:
    """False: there is no device."""
    return False


def is_tf32_supported() -> bool:
    """False: there is no device."""
    return False


def is_current_stream_capturing() -> bool:
    """False."""
    return False


def device_count() -> int:
    """0."""
    return 0


def get_arch_list() -> list[str]:
    """None are there."""
    return []


def init() -> None:
    """AssertionError: there is no device."""
    _missing()


def manual_seed(seed: int) -> None:
    """Accepted: there is no generator to be seeded."""


def manual_seed_all(seed: int) -> None:
    """Accepted: there is no generator to be seeded."""


def seed() -> None:
    """Accepted: there is no generator to be seeded."""


def seed_all() -> None:
    """Accepted: there is no generator to be seeded."""


def empty_cache() -> None:
    """Accepted: there is no memory to be freed."""


def ipc_collect() -> None:
    """Accepted: there is no memory to be freed."""


def memory_allocated(device: Any = None) -> int:
    """0."""
    return 0


def max_memory_allocated(device: Any = None) -> int:
    """0."""
    return 0


def memory_reserved(device: Any = None) -> int:
    """0."""
    return 0


def max_memory_reserved(device: Any = None) -> int:
    """0."""
    return 0


def memory_stats(device: Any = None) -> dict[str, Any]:
    """Nothing."""
    return {}


def synchronize(device: Any = None) -> None:
    """AssertionError: there is no device."""
    _missing()


def current_device() -> int:
    """AssertionError: there is no device."""
    _missing()


def get_device_name(device: Any = None) -> str:
    """AssertionError: there is no device."""
    _missing()


def get_device_capability(device: Any = None) -> tuple[int, int]:
    """AssertionError: there is no device."""
    _missing()


def get_device_properties(device: Any = None) -> Any:
    """AssertionError: there is no device."""
    _missing()


def current_stream(device: Any = None) -> Any:
    """AssertionError: there is no device."""
    _missing()


def get_rng_state(device: Any = "cuda") -> Any:
    """AssertionError: there is no device."""
    _missing()


def get_rng_state_all() -> list[Any]:
    """Of no device."""
    return []


def set_rng_state(new_state: Any, device: Any = "cuda") -> None:
    """Accepted: there is no generator to be set."""


def set_rng_state_all(new_states: Any) -> None:
    """Accepted for no states."""
    if len(new_states):
        _missing()


def set_device(device: Any) -> None:
    """AssertionError: there is no device."""
    if not isinstance(device, int) or device >= 0:
        _missing()


class device:
    """A with block on a device: nothing for None and for -1, AssertionError for others."""

    def __init__(self, device: Any) -> None:
        self.idx = -1 if device is None else device

    def __enter__(self) -> None:
        if not isinstance(self.idx, int) or self.idx >= 0:
            _missing()

    def __exit__(self, *_: Any) -> None:
        pass


class stream:
    """A with block on a stream: nothing for None."""

    def __init__(self, stream: Any) -> None:
        self.stream = stream

    def __enter__(self) -> None:
        if self.stream is not None:
            _missing()

    def __exit__(self, *_: Any) -> None:
        pass


class _Refused:
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        _missing()


class Stream(_Refused):
    """AssertionError: there is no device."""


class Event(_Refused):
    """AssertionError: there is no device."""


class CUDAGraph(_Refused):
    """AssertionError: there is no device."""


class _TypedTensor(_Refused):
    pass


_kinds = "Float Double Half BFloat16 Long Int Short Char Byte Bool"
for _name in _kinds.split():
    globals()[f"{_name}Tensor"] = type(f"{_name}Tensor", (_TypedTensor,), {
        "__doc__": "AssertionError: there is no device.", "__module__": __name__,
    })  # fmt: skip
