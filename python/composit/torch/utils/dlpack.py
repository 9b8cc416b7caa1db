"""torch.utils.dlpack: tensors of other libraries."""

from __future__ import annotations

from typing import Any

import numpy as np


def from_dlpack(ext_tensor: Any) -> Any:
    """A tensor of the elements of what has __dlpack__; they are copied."""
    from composit.torch.tensor import tensor

    return tensor(np.from_dlpack(ext_tensor))


def to_dlpack(tensor: Any) -> Any:
    """A capsule of the tensor's elements."""
    return tensor.__dlpack__()
