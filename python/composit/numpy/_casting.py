"""What a ufunc's casting=, order= and subok= ask for: checked, and obeyed where it shows."""

from __future__ import annotations

from typing import Any

import composit._core as _core
from composit._core import LazyTensor, type_error, value_error

_RULES = ("no", "equiv", "safe", "same_kind", "unsafe")
_ORDERS = ("C", "F", "A", "K")


def is_usual(casting: Any) -> bool:
    """Whether this is the rule same_kind; an error where it is none of NumPy's rules."""
    if not isinstance(casting, str):
        raise type_error(f"casting is {casting!r}. One of {_RULES} is required.")
    if casting not in _RULES:
        raise value_error(f"casting must be one of {_RULES} (got {casting!r})")
    return casting == "same_kind"


def check_layout(order: Any, subok: Any = True) -> None:
    """That these are an order and a bool: they say nothing about tensors."""
    if order is not None and not isinstance(order, str):
        raise type_error(f"order must be str, not {type(order).__name__}")
    if order is not None and order.upper() not in _ORDERS:
        raise value_error(f"order must be one of {_ORDERS} (got {order!r})")
    if not isinstance(subok, bool):
        raise type_error(f"'subok' must be a boolean, not {type(subok).__name__}")


def may_cast(source: Any, target: Any, casting: str) -> bool:
    """Whether the rule allows it."""
    import numpy as np

    return np.can_cast(source, target, casting)  # type: ignore[arg-type]


def check_inputs(function: str, dtypes: Any, loop: Any, casting: str) -> None:
    """That the rule lets operands of these dtypes (None: Python's numbers) be computed in those of
    a loop."""
    for i, (given, dtype) in enumerate(zip(dtypes, loop)):
        if given is not None:
            _core.numpy.check_input_cast(function, i, given, dtype, casting)


def check_difference(dtype: Any, target: Any) -> None:
    """That a difference of numbers of a dtype and of `target`'s can be written into the latter."""
    import numpy as np

    common = np.result_type(dtype, target)
    if not may_cast(common, target, "same_kind"):
        raise type_error(
            f"Cannot cast ufunc 'subtract' output from {common!r} to {target!r} with casting "
            "rule 'same_kind'"
        )


def check_buffer(result: LazyTensor, out: Any) -> None:
    """That what is in `out` could be read as the result's dtype: functions that write out through a
    buffer ask that before, and then cast as they need to."""
    if hasattr(out, "dtype") and not may_cast(out.dtype, result.dtype, "safe"):
        raise type_error(
            f"Cannot cast array data from {out.dtype!r} to {result.dtype!r} according to the "
            "rule 'safe'"
        )


def cast_output(function: str, result: LazyTensor, out: Any, casting: str) -> LazyTensor:
    """The result in the dtype of `out`, where the rule allows it."""
    if not may_cast(result.dtype, out.dtype, casting):
        raise type_error(
            f"Cannot cast ufunc '{function}' output from {result.dtype!r} to {out.dtype!r} "
            f"with casting rule {casting!r}"
        )
    return _core.numpy.astype(result, out.dtype)


def operands_in(function: str, operands: Any, dtype: Any, casting: str) -> list[Any]:
    """The operands of a product in the dtype that is asked for, as far as the rule allows it."""
    if is_usual(casting) and dtype is None:
        return list(operands)
    return _core.numpy.cast_inputs(function, operands, dtype, casting)
