"""torch.nn.init: weights to start from, written over tensors."""

from __future__ import annotations

import functools
import math
import warnings
from typing import Any

import composit._core as _core
from composit._core import value_error
from composit._floating_point import in_default_state
from composit.torch import linalg, operations
from composit.torch.calling import functions
from composit.torch.tape import no_grad


def _qr_with_signs(matrix: Any) -> Any:
    q, r = linalg.qr(matrix)
    return q * r.diagonal().sign()


operations.more["qr_with_signs"] = _qr_with_signs


@in_default_state
def calculate_gain(nonlinearity: str, param: Any = None) -> float:
    """How much wider weights before a nonlinearity are."""
    return _core.aten.calculate_gain(nonlinearity, param)


def _calculate_fan_in_and_fan_out(tensor: Any) -> tuple[int, int]:
    return _core.aten.fans_of(tuple(tensor.shape))


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
    return tensor.copy_(functions["eye"](*tensor.shape, device=tensor.device))


@in_default_state
def xavier_uniform_(tensor: Any, gain: float = 1.0, generator: Any = None) -> Any:
    """Uniform, variance gain² 2 / (in + out)."""
    bound = gain * math.sqrt(6.0 / sum(_calculate_fan_in_and_fan_out(tensor)))
    return uniform_(tensor, -bound, bound, generator)


@in_default_state
def xavier_normal_(tensor: Any, gain: float = 1.0, generator: Any = None) -> Any:
    """Normal, variance gain² 2 / (in + out)."""
    std = gain * math.sqrt(2.0 / sum(_calculate_fan_in_and_fan_out(tensor)))
    return normal_(tensor, 0.0, std, generator)


@in_default_state
def _kaiming(tensor: Any, a: float, mode: str, nonlinearity: str) -> float:
    if 0 in tensor.shape:
        warnings.warn("Initializing zero-element tensors is a no-op", stacklevel=3)
        return 0.0
    return _core.aten.kaiming_deviation(tuple(tensor.shape), a, mode, nonlinearity)


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


@no_grad()
def dirac_(tensor: Any, groups: int = 1) -> Any:
    """Of kernels of convolutions: each channel of the input to the same one of the output, as far
    as there are both."""
    values = _core.aten.dirac(tuple(tensor.shape), groups)
    return tensor.copy_(functions["tensor"](values).to(tensor.dtype))


@no_grad()
def orthogonal_(tensor: Any, gain: float = 1, generator: Any = None) -> Any:
    """A matrix with orthonormal rows or columns, of all dimensions but the first as one."""
    if tensor.dim() < 2:
        raise value_error("Only tensors with 2 or more dimensions are supported")
    if tensor.numel() == 0:
        return tensor
    rows, columns = tensor.shape[0], tensor.numel() // tensor.shape[0]
    drawn = functions["empty"](rows, columns, device=tensor.device).normal_(
        0, 1, generator=generator
    )
    whole: Any = _core.aten.orthonormal(drawn)
    return tensor.copy_(whole.reshape(tensor.shape).to(tensor.dtype) * gain)


def _calculate_correct_fan(tensor: Any, mode: str) -> int:
    """One of the two fans."""
    mode = mode.lower()
    if mode not in ("fan_in", "fan_out"):
        raise value_error(f"Mode {mode} not supported, please use one of ['fan_in', 'fan_out']")
    return _calculate_fan_in_and_fan_out(tensor)[mode == "fan_out"]


def _older(function: Any) -> Any:
    """The function under its name of old, with a warning."""
    name = function.__name__.removesuffix("_")

    @functools.wraps(function)
    def deprecated(*args: Any, **kwargs: Any) -> Any:
        warnings.warn(
            f"`nn.init.{name}` is now deprecated in favor of `nn.init.{name}_`.", FutureWarning,
            stacklevel=2,
        )  # fmt: skip
        return function(*args, **kwargs)

    deprecated.__name__ = name
    return deprecated


uniform, normal, constant, eye = map(_older, (uniform_, normal_, constant_, eye_))
xavier_uniform, xavier_normal = _older(xavier_uniform_), _older(xavier_normal_)
kaiming_uniform, kaiming_normal = _older(kaiming_uniform_), _older(kaiming_normal_)
sparse, dirac, orthogonal = map(_older, (sparse_, dirac_, orthogonal_))
