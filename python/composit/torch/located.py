"""Where a tensor lies, and the tensor on another device or in another dtype."""

from __future__ import annotations

from typing import Any

import composit._core as _core
from composit._core import type_error
from composit.torch import calling, places
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
        return _core.converted(self, args, kwargs)

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


@calling.torch_function("to", is_function=False, is_method=False)
def _cast(input: Any, dtype: Any) -> Any:
    return _core.aten.cast(input, dtype)


_core.provide("casting_function", _cast)
