"""Memory formats of convolutions' weights, which have no meaning here: kernels choose the order in
which they compute."""

from __future__ import annotations

from typing import Any

from composit._core import type_error
from composit.torch.dtypes import memory_format as MemoryFormat

__all__ = ["convert_conv2d_weight_memory_format", "convert_conv3d_weight_memory_format"]


def _checked(name: str, module: Any, memory_format: Any) -> Any:
    if not isinstance(memory_format, MemoryFormat):
        raise type_error(
            f"{name}: memory_format is {memory_format!r}. A torch.memory_format is required."
        )
    return module


def convert_conv2d_weight_memory_format(module: Any, memory_format: Any) -> Any:
    """The module as it is: its weights have the values that they have in PyTorch."""
    return _checked("convert_conv2d_weight_memory_format", module, memory_format)


def convert_conv3d_weight_memory_format(module: Any, memory_format: Any) -> Any:
    """The module as it is: its weights have the values that they have in PyTorch."""
    return _checked("convert_conv3d_weight_memory_format", module, memory_format)
