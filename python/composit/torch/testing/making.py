"""make_tensor: tensors of random numbers, drawn by the library's generator."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any
from warnings import warn

from composit.torch import calling, dtypes

_INTEGERS = {"uint8", "int8", "int16", "int32", "int64", "uint16", "uint32", "uint64"}
_FLOATS = {"float16", "bfloat16", "float32", "float64"}
_COMPLEX = {"complex64": "float32", "complex128": "float64"}


def _bounds(
    dtype: Any, low: Any, high: Any, least: float, end: float, default: tuple[float, float]
) -> tuple[Any, Any]:
    """The interval to draw from: as given, or the default, within what the dtype holds."""
    low = default[0] if low is None else low
    high = default[1] if high is None else high
    is_whole = dtype.name in _INTEGERS or dtype.name == "bool"
    if any(isinstance(value, float) and math.isnan(value) for value in (low, high)):
        raise ValueError(f"`low` and `high` cannot be NaN, but got {low=} and {high=}")
    if low == high and not is_whole:
        warn(
            "Passing `low==high` to `torch.testing.make_tensor` for floating or complex types is "
            "deprecated since 2.1 and will be removed in 2.3. Use `torch.full(...)` instead.",
            FutureWarning, stacklevel=4,
        )  # fmt: skip
    elif low >= high:
        raise ValueError(f"`low` must be less than `high`, but got {low} >= {high}")
    elif high < least or low >= end:
        raise ValueError(
            f"The value interval specified by `low` and `high` is [{low}, {high}), "
            f"but {dtype} only supports [{least}, {end})"
        )
    low, high = (min(max(value, least), end) for value in (low, high))
    return (math.ceil(low), math.ceil(high)) if is_whole else (low, high)


def _integers(shape: Any, dtype: Any, device: Any, low: Any, high: Any) -> Any:
    """Integers, or booleans, of which the end is exclusive."""
    if dtype.name == "bool":
        low, high = _bounds(dtype, low, high, 0, 2, (0, 2))
    else:
        info = dtypes.iinfo(dtype)
        # An end of 2^63 is no int64.
        end = info.max + (dtype.name != "int64")
        low, high = _bounds(dtype, low, high, info.min, end, (-9, 10))
    return calling.functions["randint"](low, high, shape, device=device, dtype=dtype)


def _floats(shape: Any, dtype: Any, device: Any, low: Any, high: Any) -> Any:
    """Floats, or complex numbers of two each."""
    info = dtypes.finfo(dtype)
    low, high = _bounds(dtype, low, high, info.min, info.max, (-9, 9))
    empty = calling.functions["empty"]
    if dtype.name in _COMPLEX:
        parts = empty((*shape, 2), device=device, dtype=dtypes.by_name[_COMPLEX[dtype.name]])
        return calling.functions["view_as_complex"](_filled(parts, low, high))
    return _filled(empty(shape, device=device, dtype=dtype), low, high)


def _filled(tensor: Any, low: float, high: float) -> Any:
    # The difference of the bounds may be beyond the largest number.
    if high - low >= dtypes.finfo(tensor.dtype).max:
        return tensor.uniform_(low / 2, high / 2).mul_(2)
    return tensor.uniform_(low, high)


def make_tensor(
    *shape: Any, dtype: Any, device: Any, low: float | None = None, high: float | None = None,
    requires_grad: bool = False, noncontiguous: bool = False, exclude_zero: bool = False,
    memory_format: Any = None,
) -> Any:  # fmt: skip
    """A tensor of numbers drawn uniformly from [low, high), by default [-9, 10) of integers, [0,
    10) of unsigned ones, [0, 2) of booleans and [-9, 9) of floats and complex numbers' parts.
    noncontiguous: every second element of a larger tensor. exclude_zero: 1, or the smallest normal
    number, stands for zeros. ValueError: empty intervals, NaN, or arguments that exclude each
    other; TypeError: other dtypes."""
    lengths: tuple[int, ...] = shape
    if len(shape) == 1 and isinstance(shape[0], Sequence):
        lengths = tuple(shape[0])
    if noncontiguous and memory_format is not None:
        raise ValueError(
            "The parameters `noncontiguous` and `memory_format` are mutually exclusive, "
            f"but got {noncontiguous=} and {memory_format=}"
        )
    is_whole = dtype.name in _INTEGERS or dtype.name == "bool"
    if requires_grad and is_whole:
        raise ValueError(
            "`requires_grad=True` is not supported for boolean and integral dtypes, but got "
            f"{dtype=}"
        )
    is_spread = noncontiguous and math.prod(lengths) > 1
    drawn = (*lengths[:-1], 2 * lengths[-1]) if is_spread else lengths
    if is_whole:
        made = _integers(drawn, dtype, device, low, high)
    elif dtype.name in _FLOATS or dtype.name in _COMPLEX:
        made = _floats(drawn, dtype, device, low, high)
    else:
        raise TypeError(
            f"The requested dtype '{dtype}' is not supported by torch.testing.make_tensor()."
            " To request support, file an issue at: https://github.com/pytorch/pytorch/issues"
        )
    if is_spread:
        made = made[..., 1::2]
    elif memory_format is not None:
        made = made.clone(memory_format=memory_format)
    if exclude_zero:
        made[made == 0] = 1 if is_whole else dtypes.finfo(dtype).tiny
    return made if is_whole else made.requires_grad_(requires_grad)
