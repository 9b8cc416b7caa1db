"""torch.nn.attention.bias: masks of causal attention, as masks of booleans."""

from __future__ import annotations

from typing import Any

from composit._core import runtime_error
from composit.torch import dtypes
from composit.torch.calling import functions


def _mask(name: str, size: tuple[int, ...], diagonal: int) -> Any:
    if len(size) != 2:
        raise runtime_error(f"{name} only supports 2D tensors")
    return functions["ones"](*size, dtype=dtypes.by_name["bool"]).tril(diagonal)


def causal_upper_left(*size: int) -> Any:
    """The mask of queries by keys that begin together: a query attends to keys up to its own
    position. RuntimeError unless size is two lengths."""
    return _mask("causal_upper_left", size, 0)


def causal_lower_right(*size: int) -> Any:
    """The mask of queries by keys that end together: the last query attends to all keys.
    RuntimeError unless size is two lengths."""
    return _mask("causal_lower_right", size, size[1] - size[0] if len(size) == 2 else 0)
