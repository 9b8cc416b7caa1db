"""Masked arrays of NumPy, which tensors cannot hold."""

from __future__ import annotations

from typing import Any

from composit._core import type_error


def described(value: Any, shape: Any) -> str:
    """A value in a message, however large; of an array with dimensions its dtype and shape."""
    if shape:
        return f"{value.dtype}{list(shape)}"
    return repr(value) if len(repr(value)) <= 40 else repr(value)[:39] + "…"


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
                f"{what} is given a masked array, {described(one, one.shape)}, whose mask would be "
                "lost. An array without one is required: x.filled(…) or x.compressed()."
            )
