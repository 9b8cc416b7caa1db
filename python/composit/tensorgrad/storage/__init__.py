"""Who offers a device's arrays."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

import composit.torch as torch
from composit import devices
from composit import numpy as cnp
from composit._core import LazyTensor, NotSupported, not_supported, with_location
from composit._floating_point import in_default_state
from composit.tensorgrad.const import DEVICE, DTYPE, device_of
from composit.tensorgrad.storage.stubs import Storage
from composit.torch.calling import wrapped

__all__ = ["DeviceStorage", "NumpyStorage", "Storage", "StorageDispatch"]


class NumpyStorage(Storage):
    """The CPU's arrays, which are NumPy's."""

    DEVICE = DEVICE.CPU
    is_computed = True

    @classmethod
    def wrapped(cls, data: Any) -> Any:
        """The array as a tensor of composit.torch."""
        return torch.from_numpy(data)

    @classmethod
    def unwrapped(cls, tensor: Any) -> Any:
        """The array of a tensor of composit.torch."""
        return tensor.detach().numpy()

    @classmethod
    @in_default_state
    def tensor(cls, data: Any, dtype: DTYPE) -> np.ndarray:
        """A copy in a dtype."""
        return np.array(data, dtype=DTYPE(dtype).value)

    @classmethod
    def numpy(cls, data: Any) -> np.ndarray:
        """The array itself."""
        return np.asarray(data)


class DeviceStorage(Storage):
    """Arrays of composit.numpy that lie on a device which composit has; one subclass of each."""

    is_computed = True

    @classmethod
    def wrapped(cls, data: Any) -> Any:
        """The array as a tensor of composit.torch."""
        return wrapped(data.copied())

    @classmethod
    def unwrapped(cls, tensor: Any) -> Any:
        """The array of a tensor of composit.torch."""
        return tensor.detach().lazy_tensor.copied()

    @classmethod
    def tensor(cls, data: Any, dtype: DTYPE) -> Any:
        """A copy in a dtype, on the device."""
        name = devices.full_name(getattr(cls.DEVICE, "value", cls.DEVICE))
        if isinstance(data, LazyTensor):
            return devices.moved(cnp.astype(data, DTYPE(dtype).value), name).copied()
        return cnp.asarray(NumpyStorage.tensor(data, dtype), device=name)

    @classmethod
    def numpy(cls, data: Any) -> np.ndarray:
        """A copy in the host's memory."""
        return np.asarray(data)

    @classmethod
    def get_dtype(cls, data: Any) -> DTYPE:
        """What it holds."""
        return DTYPE(np.dtype(data.dtype).name)

    @classmethod
    def get_shape(cls, data: Any) -> tuple[int, ...]:
        """Its shape."""
        return tuple(data.shape)


def _of_composit(device: Any) -> type[Storage] | None:
    """The storage of a device that composit has; None where it has none of that name."""
    try:
        devices.full_name(getattr(device, "value", device))
    except ValueError:
        return None
    return type("DeviceStorage", (DeviceStorage,), {"DEVICE": device})


class StorageDispatch:
    """The storage of each device."""

    _DISPATCH: ClassVar[dict[Any, type[Storage]]] = {DEVICE.CPU: NumpyStorage}
    _of_composit: ClassVar[dict[Any, type[Storage]]] = {}  # those that were asked for

    @classmethod
    def register(cls, storage: type[Storage]) -> type[Storage]:
        """A class decorator; KeyError where the device has a storage."""
        device = device_of(storage.DEVICE)
        if device in cls._DISPATCH:
            raise KeyError(
                with_location(
                    f"StorageDispatch.register: device {device!s} has the storage "
                    f"{cls._DISPATCH[device].__name__}. A new device is required."
                )
            )
        cls._DISPATCH[device] = storage
        return storage

    @classmethod
    def get(cls, device: Any) -> type[Storage]:
        """The storage; NotSupported where the device has none."""
        device = device_of(device)
        found = cls._DISPATCH.get(device) or cls._of_composit.get(device)
        if found is None:
            found = _of_composit(device)
            if found is not None:
                cls._of_composit[device] = found
        if found is None:
            names = ", ".join(sorted(str(getattr(d, "value", d)) for d in cls._DISPATCH))
            name = getattr(device, "value", device)
            why = devices.missing().get(str(name).partition(":")[0])
            reason = f" ({why})" if why else ""
            raise not_supported(
                f"device {name!r} is not built or registered{reason}. Available: {names}."
            )
        return found
