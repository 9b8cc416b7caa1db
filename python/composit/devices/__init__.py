"""Devices: places with memory of their own. `python -m composit.devices` lists those that are here.

x = cnp.asarray(array, device="cuda")    # lies there; so does what is computed of it
y = x.to("cpu")
with composit.device("cuda"):            # where new tensors are made
    w = cnp.zeros((3, 4))
"""

from __future__ import annotations

import contextvars
import functools
import importlib.util
import os
from collections.abc import Callable
from typing import Any, TypeVar, cast

import composit._core as _core
from composit._core import LazyTensor

_core_devices = _core.devices
Made = TypeVar("Made", bound=Callable[..., Any])  # a function that makes tensors
_present: contextvars.ContextVar[str | None] = contextvars.ContextVar("device", default=None)


def _say_where_nvrtc_is() -> None:
    """CUDA's compiler may be a package, which the core finds beside composit's own alone."""
    found = importlib.util.find_spec("nvidia")
    folders = found.submodule_search_locations if found is not None else None
    libraries = [
        os.path.join(folder, package, "lib")
        for folder in folders or ()
        for package in sorted(os.listdir(folder), reverse=True)
    ]
    os.environ.setdefault("COMPOSIT_NVRTC", ":".join(filter(os.path.isdir, libraries)))


_say_where_nvrtc_is()


class device:
    """`with composit.device("cuda"):` new tensors lie there, in this thread. Also a name: str(it)
    is the full one, "cuda:0". ValueError for a device that is not here, with the reason."""

    def __init__(self, name: Any) -> None:
        self.name = full_name(name)
        self._tokens: list[Any] = []

    def __enter__(self) -> device:
        self._tokens.append(_present.set(self.name))
        return self

    def __exit__(self, *error: Any) -> None:
        _present.reset(self._tokens.pop())

    def __str__(self) -> str:
        return self.name

    def __repr__(self) -> str:
        return f"device({self.name!r})"

    def __eq__(self, other: Any) -> bool:
        return isinstance(other, device) and self.name == other.name

    def __hash__(self) -> int:
        return hash(self.name)


def full_name(name: Any) -> str:
    """The device's name with its number: "cuda:0" for "cuda"."""
    return _core_devices.full_name(str(name))


def present() -> str | None:
    """Where new tensors are made: the device of the innermost `with`; None outside of any."""
    return _present.get()


def table(measure: bool = True) -> str:
    """What `python -m composit.devices` prints: a paragraph for the CPU and for each device, with
    its memory, its speed if `measure` says so (a second, and a compilation), and what its target
    says of kernels; then the kinds of devices that are not here, with the reasons."""
    return _core_devices.table(measure)


def names() -> list[str]:
    """The names of all devices that are here: "cpu" first."""
    return ["cpu", *_core_devices.all()[0]]


def missing() -> dict[str, str]:
    """Kinds of devices that are not here, with the reasons."""
    return dict(_core_devices.all()[1])


def describe(name: Any) -> dict[str, Any]:
    """Facts about a device: name, description, memory in bytes (memory_bytes in all, free_bytes,
    and of composit's arrays held_bytes, most_held_bytes, kept_bytes)."""
    return _core_devices.describe(str(name))


def synchronise(name: Any) -> None:
    """Waits for all work on a device. Looking at a value waits for that value by itself."""
    if full_name(name) != "cpu":
        _core_devices.synchronise(str(name))


def give_back(name: Any) -> None:
    """Gives memory back to the driver that arrays do not use any more."""
    _core_devices.give_back_kept_memory(full_name(name))


def moved(x: LazyTensor, name: Any) -> LazyTensor:
    """x on a device: a node of the graph, with a gradient; x itself if it lies there."""
    place = full_name(name)
    return x if _core_devices.device_of(x) == place else _core_devices.transfer(x, place)


def copied(x: LazyTensor, name: Any) -> LazyTensor:
    """A leaf on a device with x's values, which are computed now: no gradient goes back to x."""
    return cast("LazyTensor", _core_devices.copied(x, full_name(name)))


def placing(function: Made, like: bool = False) -> Made:
    """A function that makes tensors, whose `device` says where; None: where `with` says. With
    `like`: where the first argument lies, unless `device` says something else."""

    @functools.wraps(function)
    def around(*args: Any, device: Any = None, **kwargs: Any) -> Any:
        name = _present.get() if device is None else device
        if like and device is None and args and isinstance(args[0], LazyTensor):
            name = _core_devices.device_of(args[0])
        if name is None:
            return function(*args, **kwargs)
        result = function(*args, **kwargs)  # NumPy's errors come before those of the device
        name = "cpu" if name == "cpu" else _core_devices.full_name(str(name))
        if isinstance(result, tuple):
            return (_placed(result[0], name), *result[1:])
        return _placed(result, name)

    return cast("Made", around)


def placing_like(function: Made) -> Made:
    """The same for functions of a tensor, whose result lies where that does."""
    return placing(function, like=True)


def _placed(x: LazyTensor, name: str) -> LazyTensor:
    # What NumPy made of objects is no tensor, and lies in host memory.
    if not isinstance(x, LazyTensor) or _core_devices.device_of(x) == name:
        return x
    return _core_devices.placed(x, name)
