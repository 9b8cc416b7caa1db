"""make_tensor: tensors of random numbers, drawn by the library's generator."""

from __future__ import annotations

from typing import Any

import composit._core as _core


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
    return _core.make_tensor(
        shape, dtype, device, low, high, requires_grad, noncontiguous, exclude_zero, memory_format
    )
