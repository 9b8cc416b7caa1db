"""What several functions ask of their arguments before they compute: that an array is one, that a
dtype is known."""

from __future__ import annotations

from typing import Any

import composit._core as _core
from composit import _mismatch
from composit._core import not_supported


def check_array(value: Any, *values: Any) -> None:
    """AttributeError, as NumPy's, where one of the values is a number or a list: for functions that
    ask their argument for its shape."""
    for each in (value, *values):
        if not hasattr(each, "ndim"):
            raise AttributeError(_mismatch.wrong(each, "A tensor or ndarray"))


def refuse(function: str, **arguments: Any) -> None:
    """NotSupported for the first argument that was given (is not None)."""
    for name, value in arguments.items():
        if value is not None:
            raise not_supported(f"{function}: {name}={value!r} is not supported yet. Leave it out.")


def check_known(dtype: Any) -> None:
    """TypeError for what is no dtype of NumPy's at all; others are refused later."""
    import numpy as np

    try:
        np.dtype(dtype)
    except TypeError:
        _core.dtype_of(dtype)
