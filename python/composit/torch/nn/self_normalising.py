"""What networks without batch norm keep numbers in range by: alpha dropout, local responses."""

from __future__ import annotations

import math
from typing import Any

import composit._core as _core
from composit._core import value_error
from composit._floating_point import in_default_state
from composit.torch import calling, writing
from composit.torch.calling import torch_function


@torch_function("local_response_norm", is_function=False, is_method=False, is_neural=True)
def _local_response_norm(
    input: Any, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0
) -> Any:
    """Divided by a power of the mean square of neighbouring channels."""
    return _core.aten.local_response_norm(input, size, alpha, beta, k)


# What SELU tends to where it is given little, and so what alpha dropout puts in place of elements.
_SATURATED = -1.7580993408473766


def _alpha_dropout(name: str, is_of_features: bool) -> None:
    @in_default_state
    def function(input: Any, p: float = 0.5, training: bool = False, inplace: bool = False) -> Any:
        if not 0 <= p <= 1:
            raise value_error(f"dropout probability has to be between 0 and 1, but got {p}")
        if not training or p == 0:
            return input
        shape = (*input.shape[:2], *[1] * (input.dim() - 2)) if is_of_features else input.shape
        kept = calling.functions["rand"](*shape, dtype=input.dtype) >= p
        if p == 1:
            made = input * 0
        else:
            scale = 1 / math.sqrt((1 - p) * (1 + p * _SATURATED**2))
            made = calling.functions["where"](kept, input, _SATURATED) * scale
            made = made - scale * p * _SATURATED
        return writing.write(input, made, name) if inplace else made

    function.__name__ = function.__qualname__ = name
    function.__doc__ = "Dropout that keeps mean and variance of what SELU gives."
    calling.neural[name] = function

    def of_torch(input: Any, p: float, train: bool) -> Any:
        return function(input, p, train)

    of_torch.__name__ = of_torch.__qualname__ = name
    of_torch.__doc__ = function.__doc__
    calling.functions[name] = of_torch


_alpha_dropout("alpha_dropout", False)
_alpha_dropout("feature_alpha_dropout", True)
