"""torch.utils.dlpack: tensors of other libraries."""

from __future__ import annotations

from typing import Any

from composit.torch.functions.creation import from_dlpack

__all__ = ["from_dlpack", "to_dlpack"]


def to_dlpack(tensor: Any) -> Any:
    """A capsule of the tensor's elements."""
    return tensor.__dlpack__()
