"""Masked arrays of NumPy, which tensors cannot hold."""

from __future__ import annotations

from typing import Any

from composit._core import type_error


def described(array: Any) -> str:
    """An array in a message, however large."""
    if array.ndim:
        return f"{array.dtype}{list(array.shape)}"
    text = repr(array)
    return text if len(text) <= 40 else text[:39] + "…"


def refuse_masked(value: Any, what: str) -> None:
    """TypeError where the value, or one in its lists, tuples and dictionaries, is a masked array
    (numpy.ma): tensors have no masks. `what` takes it, in the words of the error."""
    import numpy as np

    waiting = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, (list, tuple)):
            waiting += one
        elif isinstance(one, dict):
            waiting += one.values()
        elif isinstance(one, np.ma.MaskedArray):
            raise type_error(
                f"{what} is given a masked array, {described(one)}, whose mask would be lost. "
                "An array without one is required: x.filled(…) or x.compressed()."
            )
