"""Names of CUDA devices, and what torch.cuda says where there is none."""

from __future__ import annotations

from typing import Any, NoReturn

import composit._core as _core
from composit._core import runtime_error, value_error, with_location
from composit.torch import places

devices = _core.devices
was_asked = [False]  # whether a device was used


def missing() -> NoReturn:
    """AssertionError, in PyTorch's words."""
    raise AssertionError(with_location("Torch not compiled with CUDA enabled"))


names = places.cuda_names  # of the devices that are there


def name_of(device: Any, optional: bool = True) -> str:
    """The full name of a device, its number, or None for the current one. AssertionError where no
    device is, RuntimeError for a number that is none, ValueError for a device of another kind."""
    if not names():
        missing()
    was_asked[0] = True
    if device is None and optional:
        return f"{places.cuda_kind}:{places.current.cuda}"
    asked = (
        places.device(places.cuda_kind, device)
        if isinstance(device, int)
        else places.device(device)
    )
    if asked.type != places.cuda_kind:
        raise value_error(f"Expected a cuda device, but got: {asked}")
    index = places.current.cuda if asked.index is None else asked.index
    if not index < len(names()):
        raise runtime_error("CUDA error: invalid device ordinal")
    return f"{places.cuda_kind}:{index}"


def held(device: Any, what: str) -> int:
    """A fact about a device's memory; 0 where no device is."""
    return devices.describe(name_of(device))[what] if names() else 0
