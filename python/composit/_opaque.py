"""Operations whose body is a call to Python: wrap_as_operation(opaque=True)."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

import composit._core as _core
from composit._core import type_error
from composit.evaluation import as_tensor

Type = tuple[tuple[int, ...], np.dtype[Any]]


def operation(function: Callable[..., Any], result: Any) -> Callable[..., Any]:
    """`function` of NumPy arrays as an operation on tensors, of which nothing is known but the
    types of its results."""
    if result is None:
        raise type_error(
            "wrap_as_operation: opaque=True without `result`. The result's (shape, dtype) is "
            "required, a list of such pairs for several results, or a function of the operands "
            "that returns them."
        )
    numbers: dict[Any, int] = {}

    @functools.wraps(function)
    def call(*operands: Any, **attributes: Any) -> Any:
        chosen = [not isinstance(x, (bool, int, float, str, type(None))) for x in operands]
        tensors = [as_tensor(x) for x, is_tensor in zip(operands, chosen) if is_tensor]
        rest_of_tensors = iter(tensors)
        given = [
            next(rest_of_tensors) if is_tensor else x for x, is_tensor in zip(operands, chosen)
        ]
        types, is_several = _types(result, given)
        rest = [None if is_tensor else x for x, is_tensor in zip(operands, chosen)]
        dtypes = [tensor.dtype for tensor in tensors]
        made = functools.partial(
            _core.call_opaque, function, chosen, rest, attributes, dtypes, types, is_several
        )
        number = _number(numbers, made, (chosen, rest, attributes, dtypes, types))
        outputs = _core.call_python(
            getattr(function, "__name__", "opaque"),
            number,
            [tensor.astype(_core.held_dtype(tensor.dtype)) for tensor in tensors],
            [list(shape) for shape, _ in types],
            [_core.held_dtype(dtype) for _, dtype in types],
        )
        results = [x.astype(dtype) for x, (_, dtype) in zip(outputs, types)]
        return results if is_several else results[0]

    return call


def _number(numbers: dict[Any, int], made: Callable[..., Any], parts: tuple[Any, ...]) -> int:
    """One for calls that differ in nothing but the values of tensors, so that they share a plan."""
    if not all(_is_plain(value) for value in [*parts[1], *parts[2].values()]):
        return _core.keep_python_function(made)
    key = repr(parts)
    if key not in numbers:
        numbers[key] = _core.keep_python_function(made)
    return numbers[key]


def _is_plain(value: Any) -> bool:
    if isinstance(value, (tuple, list)):
        return all(_is_plain(item) for item in value)
    return value is None or type(value) in (bool, int, float, complex, str, bytes)


def _types(result: Any, operands: list[Any]) -> tuple[list[Type], bool]:
    stated = result(*operands) if callable(result) else result
    is_several = isinstance(stated, list)
    return [_type(each) for each in (stated if is_several else [stated])], is_several


def _type(stated: Any) -> Type:
    if hasattr(stated, "shape") and hasattr(stated, "dtype"):
        return tuple(stated.shape), np.dtype(stated.dtype)
    if not isinstance(stated, tuple) or len(stated) != 2:
        raise type_error(
            f"wrap_as_operation: result is {stated!r}. A pair (shape, dtype) is required."
        )
    shape, dtype = stated
    lengths = (shape,) if isinstance(shape, int) else tuple(shape)
    return lengths, np.dtype(dtype)
