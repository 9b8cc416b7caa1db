"""Autocast on the CPU: which functions compute in the lower precision, and which in float32.

While it is on, functions of this thread are seen before they run (composit._core.see_calls_first):
those of the lists below get their operands cast, and run without autocast within."""

from __future__ import annotations

import functools
import threading
from typing import Any

import composit._core as _core
from composit import structure
from composit.torch import dtypes
from composit.torch.tensor_base import TensorBase


class _State(threading.local):
    depth = 0  # of blocks that are entered
    dtype: Any = None  # the lower precision; None: off
    copies: dict[int, tuple[Any, Any]] | None = None  # of parameters, until the last block is left


state = _State()


def set_dtype(dtype: Any) -> None:
    """Turns autocast on, with this dtype, or off (None), on this thread."""
    state.dtype = dtype
    _core.see_calls_first(None if dtype is None else _first)


def _first(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    return called(getattr(function, "__name__", ""), function, args, kwargs)


def called(name: str, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """What the function of this name gives for cast operands; NotImplemented for others."""
    mode = (kwargs.get("mode") or (*args, "", "", "")[2]) if name == "pad" else ""
    kind = _core.aten.autocast_of(name, str(mode))
    if kind == "none":
        return NotImplemented
    dtype = state.dtype
    target = dtypes.by_name["float32"] if kind == "float32" else dtype
    if kind == "widest" and _holds_float32((args, kwargs)):
        target = dtypes.by_name["float32"]
    set_dtype(None)
    try:
        return function(*cast(args, target), **cast(kwargs, target))
    finally:
        set_dtype(dtype)


def _is_cast(value: Any) -> bool:
    if not isinstance(value, TensorBase):
        return False
    tensor: Any = value
    is_wide = tensor.dtype is dtypes.by_name["float64"]
    return tensor.is_floating_point() and not is_wide and tensor.device.type == "cpu"


def _holds_float32(value: Any) -> bool:
    single = dtypes.by_name["float32"]
    return any(_is_cast(x) and x.dtype is single for x in structure.leaves(value, TensorBase))


def cast(value: Any, dtype: Any) -> Any:
    """A structure with its tensors of float16, bfloat16 and float32 in another dtype."""
    return structure.mapped(value, functools.partial(_cast_tensor, dtype=dtype), TensorBase)


def _cast_tensor(tensor: Any, dtype: Any) -> Any:
    if not _is_cast(tensor) or tensor.dtype is dtype:
        return tensor
    copies = state.copies
    if copies is None or not tensor.requires_grad or not tensor.is_leaf:
        return tensor.to(dtype)
    if id(tensor) not in copies or copies[id(tensor)][1].dtype is not dtype:
        copies[id(tensor)] = (tensor, tensor.to(dtype))
    return copies[id(tensor)][1]
