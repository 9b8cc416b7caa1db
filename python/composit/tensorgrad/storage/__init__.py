"""Who offers a device's arrays."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from composit._core import NotSupported, with_location
from composit._floating_point import in_default_state
from composit.tensorgrad.const import DEVICE, DTYPE, device_of
from composit.tensorgrad.storage.stubs import Storage

__all__ = ["NumpyStorage", "Storage", "StorageDispatch"]


class NumpyStorage(Storage):
    """The CPU's arrays, which are NumPy's."""

    DEVICE = DEVICE.CPU

    @classmethod
    @in_default_state
    def tensor(cls, data: Any, dtype: DTYPE) -> np.ndarray:
        """A copy in a dtype."""
        return np.array(data, dtype=DTYPE(dtype).value)

    @classmethod
    def numpy(cls, data: Any) -> np.ndarray:
        """The array itself."""
        return np.asarray(data)


class StorageDispatch:
    """The storage of each device."""

    _DISPATCH: ClassVar[dict[Any, type[Storage]]] = {DEVICE.CPU: NumpyStorage}

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
        found = cls._DISPATCH.get(device)
        if found is None:
            names = ", ".join(sorted(str(getattr(d, "value", d)) for d in cls._DISPATCH))
            name = getattr(device, "value", device)
            raise NotSupported(
                with_location(f"device {name!r} is not built or registered. Available: {names}.")
            )
        return found
