"""numpy.lib.stride_tricks: windows and repetitions of tensors, as values: nothing is shared."""

from __future__ import annotations

from typing import Any

from composit import _core
from composit._core import LazyTensor, with_location
from composit.numpy.manipulation import broadcast_to, sliding_window_view

__all__ = ["as_strided", "broadcast_to", "sliding_window_view"]


def as_strided(
    x: Any, shape: Any = None, strides: Any = None, subok: bool = False, writeable: bool = True
) -> LazyTensor:
    """The elements of x, as they lie row-major, at steps of so many bytes. Writing to the result
    does not write to x."""
    import numpy as np

    from composit.numpy import asarray, ravel, take

    tensor = asarray(x)
    size = tensor.dtype.itemsize
    lengths = tensor.shape if shape is None else tuple(_core.integers(shape))
    steps = np.cumprod([1, *tensor.shape[:0:-1]])[::-1] * size if tensor.ndim else ()
    given = tuple(steps) if strides is None else tuple(_core.integers(strides))
    if len(lengths) != len(given):
        message = f"as_strided: shape is {lengths}, strides are {given}. As many are required."
        raise ValueError(with_location(message))
    if any(length < 0 for length in lengths) or any(step % size for step in given):
        message = f"as_strided: shape is {lengths}, strides are {given}. Lengths that are not"
        raise ValueError(with_location(f"{message} negative and multiples of {size} are required."))
    places = np.zeros(lengths, np.int64)
    for axis, (length, step) in enumerate(zip(lengths, given)):
        along = np.arange(length).reshape((length,) + (1,) * (len(lengths) - 1 - axis))
        places += along * (step // size)
    if places.size and not (places.min() >= 0 and places.max() < tensor.size):
        message = f"as_strided: elements {places.min()} to {places.max()} are asked for, of"
        raise ValueError(with_location(f"{message} {tensor.size}. Those that exist are required."))
    return take(ravel(tensor), places)
