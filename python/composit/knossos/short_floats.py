"""Floats narrower than float32: kernels compute them in float32, and round each result once."""

from __future__ import annotations

from typing import Any

import numpy as np

from composit._core import LazyTensor, extension_floats, short_floats
from composit._floating_point import in_default_state

_SINGLE = np.dtype("float32")


def is_floating(dtype: Any) -> bool:
    """Whether the dtype is of real floats that float64 holds; ml_dtypes' are, longdouble is not."""
    return (dtype.kind == "f" and dtype.itemsize <= 8) or dtype.name in extension_floats


def is_short(dtype: Any) -> bool:
    return dtype.name in short_floats


def floats_among(leaves: list[Any]) -> set[Any]:
    """The floating dtypes of arrays, NumPy's numbers and tensors that are not Python's numbers."""
    kinds = (np.ndarray, np.generic, LazyTensor)
    return {
        leaf.dtype for leaf in leaves if isinstance(leaf, kinds) and is_floating(leaf.dtype)
        and not getattr(leaf, "is_weak", False)
    }  # fmt: skip


def floating_dtype(leaves: list[Any]) -> Any:
    """That of all floats among the leaves, if they have one."""
    given = floats_among(leaves)
    return given.pop() if len(given) == 1 else None


def widened(leaf: Any) -> Any:
    """The same values as float32."""
    dtype = getattr(leaf, "dtype", None)
    return leaf.astype(_SINGLE) if dtype is not None and is_short(dtype) else leaf


def all_rounded(made: Any, dtype: Any) -> Any:
    """One result, or a tuple of several."""
    if isinstance(made, tuple):
        return tuple(rounded(each, dtype) for each in made)
    return rounded(made, dtype)


@in_default_state
def rounded(made: Any, dtype: Any) -> Any:
    """A result as a short float, if it is of floats."""
    if isinstance(made, float) and not isinstance(made, np.generic):
        return float(np.asarray(made, _SINGLE).astype(dtype))
    return made.astype(dtype) if getattr(made, "dtype", None) == _SINGLE else made
