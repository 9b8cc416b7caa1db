"""Operations whose body is a call to Python: wrap_as_operation(opaque=True)."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

import composit._core as _core
from composit._core import type_error
from composit.evaluation import as_tensor

# What a function is called with, by what kernels hold: exactly the same numbers.
HELD = {"float16": "float32", "bfloat16": "float32", "complex64": "complex128"}

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
            _call, function, chosen, rest, attributes, dtypes, types, is_several
        )
        number = _number(numbers, made, (chosen, rest, attributes, dtypes, types))
        outputs = _core.call_python(
            getattr(function, "__name__", "opaque"),
            number,
            [tensor.astype(_held(tensor.dtype)) for tensor in tensors],
            [list(shape) for shape, _ in types],
            [_held(dtype) for _, dtype in types],
        )
        results = [x.astype(dtype) for x, (_, dtype) in zip(outputs, types)]
        return results if is_several else results[0]

    return call


def _held(dtype: Any) -> np.dtype[Any]:
    return np.dtype(HELD.get(np.dtype(dtype).name, dtype))


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


def _call(
    function: Callable[..., Any],
    chosen: list[bool],
    rest: list[Any],
    attributes: dict[str, Any],
    dtypes: list[Any],
    types: list[Type],
    is_several: bool,
    inputs: list[Any],
    outputs: list[Any],
) -> None:
    """The function on copies of what kernels hold, its results where kernels read them."""
    arrays = iter([_whole(held).astype(dtype) for held, dtype in zip(inputs, dtypes)])
    arguments = [next(arrays) if is_array else x for is_array, x in zip(chosen, rest)]
    name = getattr(function, "__name__", "opaque")
    made = function(*arguments, **attributes)
    results = list(made) if is_several else [made]
    if len(results) != len(types):
        raise ValueError(f"{name}: {len(results)} results. {len(types)} are required.")
    for value, (shape, dtype), place in zip(results, types, outputs):
        array = np.asarray(value)
        if array.shape != shape or not np.can_cast(array.dtype, dtype, "same_kind"):
            raise ValueError(
                f"{name}: a result of shape {array.shape} and dtype {array.dtype}. Shape {shape} "
                f"and dtype {dtype} are required, as wrap_as_operation's `result` says."
            )
        array = array.astype(dtype).astype(_held(dtype))
        for part, target in (
            [(array.real, place[0]), (array.imag, place[1])]
            if isinstance(place, tuple)
            else [(array, place)]
        ):
            target[...] = part


def _whole(held: Any) -> Any:
    if not isinstance(held, tuple):
        return held.copy()
    whole = np.empty(held[0].shape, np.complex128)
    whole.real, whole.imag = held
    return whole
