"""make_tensor: tensors of random numbers, drawn by the library's generator."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import composit._core as _core
from composit.torch import calling, dtypes

_INTEGERS = {"uint8", "int8", "int16", "int32", "int64", "uint16", "uint32", "uint64"}
_FLOATS = {"float16", "bfloat16", "float32", "float64"}
_COMPLEX = {"complex64": "float32", "complex128": "float64"}


def _drawn(shape: Any, dtype: Any, device: Any, low: Any, high: Any) -> Any:
    """Numbers of the dtype between the bounds (python/bindings/drawn_test_tensors.cpp)."""
    functions, name = calling.functions, dtype.name
    if name in _INTEGERS or name == "bool":
        info = None if name == "bool" else dtypes.iinfo(dtype)
        return _core.drawn_integers(functions, shape, dtype, device, low, high, info)
    part = dtypes.by_name[_COMPLEX[name]] if name in _COMPLEX else dtype
    return _core.drawn_floats(functions, shape, dtype, device, low, high, dtypes.finfo(part), part)


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
    if not is_whole and dtype.name not in _FLOATS and dtype.name not in _COMPLEX:
        raise TypeError(
            f"The requested dtype '{dtype}' is not supported by torch.testing.make_tensor()."
            " To request support, file an issue at: https://github.com/pytorch/pytorch/issues"
        )
    made = _drawn(drawn, dtype, device, low, high)
    if is_spread:
        made = made[..., 1::2]
    elif memory_format is not None:
        made = made.clone(memory_format=memory_format)
    if exclude_zero:
        made[made == 0] = 1 if is_whole else dtypes.finfo(dtype).tiny
    return made if is_whole else made.requires_grad_(requires_grad)
