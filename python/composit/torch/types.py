"""torch.types: names for annotations."""

from __future__ import annotations

import os
from typing import Any

from composit.torch.dtypes import Size, device, dtype
from composit.torch.tensor import Tensor

Number = int | float | bool
Device = device | str | int | None
Storage = Any  # UntypedStorage and TypedStorage of torch.storage
FileLike = str | os.PathLike[str] | Any
_int, _float, _bool, _dtype, _device, _size = int, float, bool, dtype, device, Size
_TensorOrTensors = Tensor | tuple[Tensor, ...]
