"""torch's promotion of dtypes, where it is not NumPy's."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from composit import numpy as cnp
from composit._core import LazyTensor

_kinds = "biufc"
Function = Callable[..., Any]
FLOAT = np.dtype("float32")  # torch's default


def is_floating(dtype: Any) -> bool:
    """Whether the dtype is of real or complex floats; bfloat16 is."""
    return dtype.kind in "fcV" or dtype.name == "bfloat16"


def is_narrow(dtype: Any) -> bool:
    """Whether the dtype is of floats of 16 bits."""
    return dtype.itemsize == 2 and is_floating(dtype)


def in_float32(function: Function) -> Function:
    """The function with floats of 16 bits among its operands computed in float32, as torch does
    where sums of squares would be too large; its result is narrow again where the first is."""

    @functools.wraps(function)
    def wide(first: Any, *rest: Any, **named: Any) -> Any:
        if not is_narrow(first.dtype):
            return function(first, *rest, **named)
        widened = [
            cnp.astype(x, FLOAT) if isinstance(x, LazyTensor) and is_narrow(x.dtype) else x
            for x in (first, *rest)
        ]
        return cnp.astype(function(*widened, **named), first.dtype)

    return wide


def _category(dtype: Any) -> int:
    if dtype.kind == "b":
        return 0
    if dtype.kind in "iu":
        return 1
    return 3 if dtype.kind == "c" else 2


def _joined(first: Any, second: Any) -> Any:
    """torch's promotion of two dtypes: floats win over integers whatever their widths are."""
    if first is None or first == second:
        return second
    a, b = _category(first), _category(second)
    if a != b and min(a, b) < 2:
        return first if a > b else second
    if "bfloat16" in (first.name, second.name):
        other = second if first.name == "bfloat16" else first
        return FLOAT if other.name == "float16" else other
    return np.promote_types(first, second)


_of_integers = ((bool, np.dtype("bool")), (int, np.dtype("int64")))
# What floats and complex numbers are, and what integers become: composit.torch sets them.
_defaults = [FLOAT, np.dtype("complex64")]


def set_default(real: Any) -> None:
    """Sets the dtype that Python's floats have beside integers, and that integers become."""
    _defaults[:] = [real, np.dtype("complex128" if real == np.dtype("float64") else "complex64")]


def _of_number(value: Any) -> Any:
    """The dtype of a number of Python's."""
    for kind, dtype in _of_integers:
        if isinstance(value, kind):
            return dtype
    return _defaults[isinstance(value, complex)]


def result_dtype(*operands: Any) -> Any:
    """The dtype that torch computes with: tensors with dimensions decide; those without, and then
    numbers, only where they are of a higher kind."""
    best: list[Any] = [None, None, None]
    for operand in operands:
        if isinstance(operand, LazyTensor):
            level = 0 if operand.ndim else 1
            dtype = operand.dtype
        else:
            level = 2
            dtype = _of_number(operand)
        best[level] = _joined(best[level], dtype)
    result = None
    for dtype in best:
        if dtype is None:
            continue
        if result is None or _category(dtype) > _category(result):
            result = _complex_of(result, dtype)
    return result


def _complex_of(lower: Any, dtype: Any) -> Any:
    if lower is not None and dtype.kind == "c" and lower == np.dtype("float64"):
        return np.dtype("complex128")
    return dtype


def cast(x: Any, dtype: Any) -> Any:
    """A tensor in the dtype; a number as one of its kind."""
    if isinstance(x, LazyTensor):
        return x if x.dtype == dtype else cnp.astype(x, dtype)
    return number(x, dtype)


def number(x: Any, dtype: Any) -> Any:
    """A Python number of the dtype's kind."""
    if dtype.kind == "c":
        return complex(x)
    if is_floating(dtype):
        return float(x)
    return bool(x) if dtype.kind == "b" else int(x)


def together(*operands: Any) -> list[Any]:
    """The operands in the dtype that torch computes with; the first becomes a tensor."""
    dtype = result_dtype(*operands)
    return _tensors(operands, dtype)


def floats(*operands: Any) -> list[Any]:
    """The same, integers in torch's default float."""
    dtype = result_dtype(*operands)
    return _tensors(operands, dtype if is_floating(dtype) else _defaults[0])


def _tensors(operands: Any, dtype: Any) -> list[Any]:
    made = [cast(x, dtype) for x in operands]
    if not any(isinstance(x, LazyTensor) for x in made):
        made[0] = cnp.asarray(np.asarray(made[0], dtype))
    return made


def floating(x: LazyTensor) -> LazyTensor:
    """Integers in torch's default float."""
    return x if is_floating(x.dtype) else cnp.astype(x, _defaults[0])


def only_floats(x: LazyTensor, what: str) -> None:
    """The refusal of integers where torch computes with them in another way."""
    if x.dtype.kind in "biu":
        raise NotImplementedError(f"{what} of {x.dtype} is not traced. Floats are.")
