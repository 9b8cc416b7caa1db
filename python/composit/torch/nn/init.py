"""torch.nn.init: weights to start from, written over tensors."""

from __future__ import annotations

import math
from typing import Any

from composit._core import with_location
from composit._floating_point import in_default_state
from composit.torch.calling import functions
from composit.torch.tape import no_grad


@in_default_state
def calculate_gain(nonlinearity: str, param: Any = None) -> float:
    """How much wider weights before a nonlinearity are."""
    if nonlinearity == "tanh":
        return 5.0 / 3
    if nonlinearity == "relu":
        return math.sqrt(2.0)
    if nonlinearity == "leaky_relu":
        return math.sqrt(2.0 / (1 + (0.01 if param is None else param) ** 2))
    if nonlinearity == "selu":
        return 3.0 / 4
    if nonlinearity in ("linear", "sigmoid") or nonlinearity.startswith("conv"):
        return 1.0
    raise ValueError(with_location(f"Unsupported nonlinearity {nonlinearity}"))


def _fans(tensor: Any) -> tuple[int, int]:
    if tensor.dim() < 2:
        raise ValueError(
            with_location(
                "Fan in and fan out can not be computed for tensor with fewer than 2 dimensions"
            )
        )
    window = math.prod(tensor.shape[2:])
    return tensor.shape[1] * window, tensor.shape[0] * window


@no_grad()
def uniform_(tensor: Any, a: float = 0.0, b: float = 1.0, generator: Any = None) -> Any:
    """Uniform from a to b."""
    return tensor.uniform_(a, b, generator=generator)


@no_grad()
def normal_(tensor: Any, mean: float = 0.0, std: float = 1.0, generator: Any = None) -> Any:
    """Normal."""
    return tensor.normal_(mean, std, generator=generator)


@no_grad()
def trunc_normal_(
    tensor: Any, mean: float = 0.0, std: float = 1.0, a: float = -2.0, b: float = 2.0,
    generator: Any = None,
) -> Any:  # fmt: skip
    """Normal, between a and b."""
    from composit import random
    from composit.torch import calling
    from composit.torch.functions.random import next_key

    low, high = (a - mean) / std, (b - mean) / std
    draws = random.truncated_normal(next_key(generator), low, high, tuple(tensor.shape))
    return tensor.copy_(calling.wrapped(draws * std + mean))


@no_grad()
def constant_(tensor: Any, val: float) -> Any:
    """One value."""
    return tensor.fill_(val)


def ones_(tensor: Any) -> Any:
    """Ones."""
    return constant_(tensor, 1.0)


def zeros_(tensor: Any) -> Any:
    """Zeros."""
    return constant_(tensor, 0.0)


@no_grad()
def eye_(tensor: Any) -> Any:
    """Ones on the diagonal of a matrix."""
    return tensor.copy_(functions["eye"](*tensor.shape))


@in_default_state
def xavier_uniform_(tensor: Any, gain: float = 1.0, generator: Any = None) -> Any:
    """Uniform, variance gain² 2 / (in + out)."""
    bound = gain * math.sqrt(6.0 / sum(_fans(tensor)))
    return uniform_(tensor, -bound, bound, generator)


@in_default_state
def xavier_normal_(tensor: Any, gain: float = 1.0, generator: Any = None) -> Any:
    """Normal, variance gain² 2 / (in + out)."""
    return normal_(tensor, 0.0, gain * math.sqrt(2.0 / sum(_fans(tensor))), generator)


@in_default_state
def _kaiming(tensor: Any, a: float, mode: str, nonlinearity: str) -> float:
    if mode not in ("fan_in", "fan_out"):
        raise ValueError(with_location(f"Mode {mode} not supported, please use one of "
                                       "['fan_in', 'fan_out']"))  # fmt: skip
    fan = _fans(tensor)[mode == "fan_out"]
    return calculate_gain(nonlinearity, a) / math.sqrt(fan)


@in_default_state
def kaiming_uniform_(
    tensor: Any, a: float = 0, mode: str = "fan_in", nonlinearity: str = "leaky_relu",
    generator: Any = None,
) -> Any:  # fmt: skip
    """Uniform, variance gain² / in."""
    bound = math.sqrt(3.0) * _kaiming(tensor, a, mode, nonlinearity)
    return uniform_(tensor, -bound, bound, generator)


def kaiming_normal_(
    tensor: Any, a: float = 0, mode: str = "fan_in", nonlinearity: str = "leaky_relu",
    generator: Any = None,
) -> Any:  # fmt: skip
    """Normal, variance gain² / in."""
    return normal_(tensor, 0.0, _kaiming(tensor, a, mode, nonlinearity), generator)


@no_grad()
def sparse_(tensor: Any, sparsity: float, std: float = 0.01, generator: Any = None) -> Any:
    """Normal, with a share of zeros in each column."""
    rows, columns = tensor.shape
    count = math.ceil(sparsity * rows)
    normal_(tensor, 0.0, std, generator)
    order = functions["rand"](rows, columns, generator=generator).argsort(dim=0)
    return tensor.masked_fill_(order < count, 0.0)
