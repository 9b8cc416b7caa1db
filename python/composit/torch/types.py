"""torch.types: names for annotations."""

from __future__ import annotations

import os
from typing import Any, Union

from composit.torch.dtypes import Size, device, dtype
from composit.torch.tensor import Tensor

Number = Union[int, float, bool]
Device = Union[device, str, int, None]
FileLike = Union[str, os.PathLike[str], Any]
_int, _float, _bool, _dtype, _device, _size = int, float, bool, dtype, device, Size
_TensorOrTensors = Union[Tensor, tuple[Tensor, ...]]
