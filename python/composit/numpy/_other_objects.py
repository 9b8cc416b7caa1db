"""Operators and assignments between tensors and what no tensor holds: texts, None, objects, arrays
of them."""

from __future__ import annotations

import operator
from typing import Any

import composit._core as _core
from composit import _mismatch
from composit._core import LazyTensor, with_location
from composit.numpy._by_numpy import called
from composit.numpy.creation import asarray, full

_OPERATORS = {
    "equal": operator.eq, "not_equal": operator.ne, "less": operator.lt,
    "less_equal": operator.le, "greater": operator.gt, "greater_equal": operator.ge,
}  # fmt: skip


def operated(name: str, a: Any, b: Any) -> Any:
    """What NumPy's operator makes of a and b, of which one is no number. Nothing is evaluated to
    say that numbers are no texts, nor None."""
    import numpy as np

    tensor, other = (a, b) if isinstance(a, LazyTensor) else (b, a)
    is_single = other is None or isinstance(other, (str, bytes))
    if is_single and name in ("equal", "not_equal"):
        return full(tensor.shape, name == "not_equal", bool)
    if not tensor.has_value() and not isinstance(other, np.ndarray):
        return NotImplemented
    function = _OPERATORS.get(name) or getattr(np, name)
    try:
        return called(name, function, (a, b), {})
    except (TypeError, ValueError) as error:
        kind = TypeError if isinstance(error, TypeError) else ValueError
        raise kind(with_location(f"{name}: {error}")) from None


_CLASSES = (OverflowError, TypeError, ValueError)


def _converted(value: Any, dtype: Any, is_one: bool) -> Any:
    import numpy as np

    if is_one:
        target = np.zeros(1, dtype)
        target[0] = value
        return target[0]
    kind = getattr(getattr(value, "dtype", None), "kind", "")
    if kind not in ("m", "M"):
        return np.asarray(value, dtype)
    target = np.zeros(np.shape(value), dtype)  # dates are counted when they are written
    target[...] = value
    return target


def stored(value: Any, dtype: Any, function: str = "set_item", is_one: bool = False) -> Any:
    """The elements of lists, texts and other objects, as NumPy writes them into arrays of a dtype:
    one by one, so that a NaN is no integer. `is_one`: they are written to one element, which is no
    list."""
    is_list = isinstance(value, (list, tuple))
    if is_list and _core.numpy.holds_tensors(value):
        return asarray(value)
    try:
        return _converted(value, dtype, is_one)
    except _CLASSES as error:
        kind = next(known for known in _CLASSES if isinstance(error, known))
        text = f"{function}: {str(error).rstrip('.')}."
        # What Python says of one element: programs read it of x[key] = value.
        pythons = ("argument must be", "could not convert", "invalid literal")
        if any(words in str(error) for words in pythons):
            if function != "set_item":
                required = "An array of booleans, integers, floats or complex numbers"
                raise kind(_mismatch.wrong(value, required, function)) from None
            text += f" A number is required in an array of {dtype}."
            text += _mismatch.advice_for(value)
        raise kind(with_location(text)) from None


_core.provide("operated", operated)
_core.provide("stored", stored)
