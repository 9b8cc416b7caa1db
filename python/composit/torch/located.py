"""Where a tensor lies, and the tensor on another device or in another dtype."""

from __future__ import annotations

from typing import Any

from composit import numpy as cnp
from composit._core import type_error
from composit.torch import calling, dtypes, places
from composit.torch.calling import TensorBase
from composit.torch.hooks import Hooked


class Located(Hooked):
    """What tensors say and do about devices."""

    dtype: Any

    @property
    def device(self) -> places.device:
        """Where it lies."""
        return places.of_name(places.device_of(self._seen))

    @property
    def is_cpu(self) -> bool:
        """Whether it lies in the host's memory."""
        return places.device_of(self._seen) == "cpu"

    @property
    def is_cuda(self) -> bool:
        """Whether it lies on a CUDA device."""
        return places.device_of(self._seen).startswith("cuda")

    def to(self, *args: Any, **kwargs: Any) -> Any:
        """On another device, in another dtype, or as another tensor is: to(device, dtype,
        non_blocking, copy), to(dtype, …), to(other, …). Itself where nothing changes, unless
        `copy`. Values are copied at once; of what requires gradients they come back to where it
        lies. RuntimeError for a device that is not here."""
        dtype, device = kwargs.get("dtype"), kwargs.get("device")
        flags = []
        for value in args:
            if isinstance(value, dtypes.dtype):
                dtype = value
            elif isinstance(value, bool):
                flags.append(value)
            elif isinstance(value, TensorBase):
                other: Any = value
                dtype, device = other.dtype, places.place_of(other)
            elif value is not None:
                device = value
        made: Any = self
        if dtype is not None and dtype is not self.dtype:
            made = _to_dtype(made, dtype)
        if device is not None:
            made = _moving().moved(made, places.full_name(device))
        is_copy = kwargs.get("copy", flags[1] if len(flags) > 1 else False)
        return made.clone() if is_copy and made is self else made

    def cpu(self, memory_format: Any = None) -> Any:
        """In the host's memory."""
        return self.to("cpu")

    def cuda(self, device: Any = None, non_blocking: bool = False) -> Any:
        """On a CUDA device: that of the number, or the current one. RuntimeError where none is."""
        return self.to("cuda" if device is None else device)

    def pin_memory(self, device: Any = None) -> Any:
        """Itself: copies to devices read the host's memory as it is."""
        return self

    def _check_on_cpu(self) -> None:
        place = places.place_of(self)
        if place != "cpu":
            raise type_error(
                f"can't convert {place} device type tensor to numpy. Use Tensor.cpu() to copy "
                "the tensor to host memory first."
            )


def _moving() -> Any:
    from composit.torch import moving  # which needs functions of tensors

    return moving


@calling.torch_function("to", is_function=False, is_method=False)
def _cast(input: Any, dtype: Any) -> Any:
    return cnp.astype(input, dtype)


def _to_dtype(tensor: Any, dtype: dtypes.dtype) -> Any:
    return calling.call(_cast, "to_copy", False, (tensor, dtype), {})
