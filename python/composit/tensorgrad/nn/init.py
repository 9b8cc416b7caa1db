"""How parameters begin."""

from __future__ import annotations

import math
from typing import Any

from composit.tensorgrad.nn.module import Parameter
from composit.tensorgrad.tensor import Tensor


def zeros(shape: Any, dtype: Any = None, device: Any = None) -> Parameter:
    """A parameter of zeros."""
    return Parameter(Tensor.zeros(shape, dtype=dtype or "float32", device=device))


def ones(shape: Any, dtype: Any = None, device: Any = None) -> Parameter:
    """A parameter of ones."""
    return Parameter(Tensor.ones(shape, dtype=dtype or "float32", device=device))


def uniform_fan_in(shape: Any, fan_in: int, dtype: Any = None, device: Any = None) -> Parameter:
    """Draws between -1 / sqrt(fan_in) and 1 / sqrt(fan_in)."""
    bound = math.sqrt(1 / max(fan_in, 1))
    drawn = Tensor.rand(shape, dtype=dtype or "float32", device=device, requires_grad=False)
    return Parameter(drawn * (2 * bound) - bound)
