"""What networks without batch norm keep numbers in range by: alpha dropout, local responses."""

from __future__ import annotations

from typing import Any

import composit._core as _core
from composit._floating_point import in_default_state
from composit.torch import calling, operations, writing
from composit.torch.calling import torch_function

assert operations  # what the formulas are made of


@torch_function("local_response_norm", is_function=False, is_method=False, is_neural=True)
def _local_response_norm(
    input: Any, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0
) -> Any:
    """Divided by a power of the mean square of neighbouring channels."""
    return _core.aten.local_response_norm(input, size, alpha, beta, k)


def _alpha_dropout(name: str, is_of_features: bool) -> None:
    @in_default_state
    def function(input: Any, p: float = 0.5, training: bool = False, inplace: bool = False) -> Any:
        def draw(shape: Any) -> Any:
            return calling.functions["rand"](*shape, dtype=input.dtype)

        made = _core.aten.alpha_dropout(input, p, training, is_of_features, draw)
        return writing.write(input, made, name) if inplace and made is not input else made

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
