"""torch's settings of the process: threads, determinism, the device; and names under which
torch has functions of torch.nn.functional."""

from __future__ import annotations

from typing import Any

import numpy as np

from composit._core import runtime_error, value_error
from composit.evaluation import get_threads, set_threads
from composit.torch import calling, dtypes, places

_deterministic = [False, False]
_precision = ["highest"]
_warns = [False]
_interop = [1]


def _function(function: Any) -> Any:
    calling.functions[function.__name__] = function
    return function


@_function
def get_num_threads() -> int:
    """How many threads a program may use."""
    return get_threads()


@_function
def set_num_threads(int: int) -> None:
    """How many threads a program may use from now on; results are the same with any number."""
    set_threads(int)


@_function
def get_num_interop_threads() -> int:
    """How many operations PyTorch would run beside each other: what was set, and nothing else."""
    return _interop[0]


@_function
def set_num_interop_threads(int: int) -> None:
    """Accepted: a step is one program, whose operations share their threads."""
    _interop[0] = int


@_function
def use_deterministic_algorithms(mode: bool, *, warn_only: bool = False) -> None:
    """Accepted: results are the same each time and with any number of threads."""
    _deterministic[:] = [bool(mode), bool(warn_only)]


@_function
def are_deterministic_algorithms_enabled() -> bool:
    """What use_deterministic_algorithms was told."""
    return _deterministic[0]


@_function
def is_deterministic_algorithms_warn_only_enabled() -> bool:
    """What use_deterministic_algorithms was told."""
    return _deterministic[1]


_debug_modes = {"default": 0, "warn": 1, "error": 2, 0: 0, 1: 1, 2: 2}


@_function
def set_deterministic_debug_mode(debug_mode: Any) -> None:
    """0 ("default"), 1 ("warn") or 2 ("error"), accepted: results are the same each
    time."""
    number = _debug_modes.get(debug_mode)
    if number is None:
        raise runtime_error(
            f"set_deterministic_debug_mode: {debug_mode!r}. 'default', 'warn', 'error' or 0, 1 "
            "or 2 is required."
        )
    _deterministic[:] = [number > 0, number == 1]


@_function
def get_deterministic_debug_mode() -> int:
    """What was set."""
    return 0 if not _deterministic[0] else 1 if _deterministic[1] else 2


@_function
def set_float32_matmul_precision(precision: str) -> None:
    """Accepted: products of float32 are made in float32."""
    if precision not in ("highest", "high", "medium"):
        raise value_error(
            f"set_float32_matmul_precision: {precision!r}. 'highest', 'high' or 'medium' is "
            "required."
        )
    _precision[0] = precision


@_function
def get_float32_matmul_precision() -> str:
    """What was set."""
    return _precision[0]


@_function
def set_warn_always(b: bool, /) -> None:
    """Accepted: warnings are Python's."""
    _warns[0] = bool(b)


@_function
def is_warn_always_enabled() -> bool:
    """What was set."""
    return _warns[0]


@_function
def set_flush_denormal(mode: bool) -> bool:
    """False: small numbers are kept as they are."""
    return False


_function(places.get_default_device)
_function(places.set_default_device)


@_function
def is_storage(obj: Any) -> bool:
    """False: tensors have no storage of their own."""
    return False


@_function
def typename(obj: Any) -> str:
    """The name of an object's type, with its module; of a tensor, of its type."""
    if isinstance(obj, calling.TensorBase):
        return obj.type()  # type: ignore[attr-defined]
    kind = obj if isinstance(obj, type) else type(obj)
    home = getattr(kind, "__module__", "") or ""
    return kind.__name__ if home in ("", "builtins") else f"{home}.{kind.__name__}"


@_function
def frombuffer(
    buffer: Any, *, dtype: Any, count: int = -1, offset: int = 0, requires_grad: bool = False
) -> Any:
    """A tensor of the bytes of a buffer, which are copied. ValueError where they do not suffice."""
    kind = dtypes.numpy_dtype(dtype)
    try:
        array = np.frombuffer(buffer, kind, count, offset)
    except ValueError as error:
        raise value_error(f"frombuffer: {error}") from None
    made = calling.functions["from_numpy"](array.copy())
    return made.requires_grad_() if requires_grad else made


def attach() -> None:
    """Enters torch.NAME for functions that torch.nn.functional defines."""
    for name in ("avg_pool1d", "adaptive_avg_pool1d", "bilinear", "threshold_", "rrelu_",
                 "conv_tbc", "native_channel_shuffle", "max_pool1d", "max_pool2d",
                 "max_pool3d"):  # fmt: skip
        if name in calling.neural:
            calling.functions.setdefault(name, calling.neural[name])
    with_places = calling.neural["adaptive_max_pool1d_with_indices"]
    calling.functions.setdefault("adaptive_max_pool1d", with_places)
