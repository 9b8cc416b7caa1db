"""torch's promotion of dtypes, where it is not NumPy's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import composit._core as _core
from composit._core import LazyTensor

Function = Callable[..., Any]
FLOAT = np.dtype("float32")  # torch's default


def is_floating(dtype: Any) -> bool:
    """Whether the dtype is of real or complex floats; those of ml_dtypes are."""
    return dtype.kind in "fc" or dtype.name in _core.extension_floats


def set_default(real: Any) -> None:
    """Sets the dtype that Python's floats have beside integers, and that integers become."""
    _core.aten.set_default_dtype(real)


def result_dtype(*operands: Any) -> Any:
    """The dtype that torch computes with: tensors with dimensions decide; those without, and then
    numbers, only where they are of a higher kind."""
    return _core.aten.result_dtype(*operands)


def cast(x: Any, dtype: Any) -> Any:
    """A tensor in the dtype; a number as one of its kind."""
    return _core.aten.cast(x, dtype)


number = cast  # of what is no tensor


def together(*operands: Any) -> list[Any]:
    """The operands in the dtype that torch computes with; the first becomes a tensor."""
    return _core.aten.together(*operands)


def floats(*operands: Any) -> list[Any]:
    """The same, integers in torch's default float."""
    return _core.aten.together_as_floats(*operands)


def floating(x: LazyTensor) -> Any:
    """Integers in torch's default float."""
    return _core.aten.floating(x)


def only_floats(x: LazyTensor, what: str) -> None:
    """The refusal of integers where torch computes with them in another way."""
    if x.dtype.kind in "biu":
        raise NotImplementedError(f"{what} of {x.dtype} is not traced. Floats are.")
