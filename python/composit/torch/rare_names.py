"""Names of torch that few programs use; this file loads when the first of them is asked for."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from composit._core import OutOfMemoryError as OutOfMemoryError
from composit._core import not_implemented, runtime_error, type_error
from composit.torch import cuda, dtypes, parts, typed_tensors
from composit.torch.jit import fork as fork
from composit.torch.jit import wait as wait
from composit.torch.tensor import Tensor

Stream, Event = cuda.Stream, cuda.Event
_methods: Any = Tensor
detach_, fill_, zero_ = _methods.detach_, _methods.fill_, _methods.zero_
get_device = _methods.get_device
has_lapack, has_mkl, has_openmp, has_spectral = True, False, False, True


class _Symbol:
    """A size that is not known. None is one: functions are captured with their sizes."""

    def __init__(self, node: Any) -> None:
        raise not_implemented(f"{type(self).__name__}: sizes are numbers here.")


class SymInt(_Symbol):
    """No integer is one."""


class SymFloat(_Symbol):
    """No float is one."""


class SymBool(_Symbol):
    """No truth is one."""


class AcceleratorError(RuntimeError):
    """What PyTorch raises for an error of a device; composit's are RuntimeErrors."""


def set_default_tensor_type(t: Any, /) -> None:
    """Makes the dtype of a typed constructor, or of its name, what floats become. TypeError for
    one that is of no floats; NotImplementedError for those of torch.cuda, of which
    set_default_device is the new name."""
    name = t if isinstance(t, str) else getattr(t, "__name__", str(t))
    name = name.removeprefix("torch.")
    kind = getattr(typed_tensors.of(name), "dtype", None) if name.endswith("Tensor") else None
    if not isinstance(kind, dtypes.dtype) or not kind.is_floating_point:
        raise type_error(
            "only floating-point types are supported as the default type: "
            f"set_default_tensor_type({t!r})"
        )
    dtypes.set_default_dtype(kind)


def get_device_module(device: Any = None) -> Any:
    """torch.cuda or torch.cpu, of a device or its name. RuntimeError for another kind."""
    if device is None:
        return cuda if cuda.is_available() else parts.load("cpu")
    kind = str(device).partition(":")[0]
    if kind not in ("cuda", "cpu"):
        raise runtime_error(f"Device '{kind}' does not have a corresponding module registered as "
                            f"'torch.{kind}'.")  # fmt: skip
    return parts.load(kind)


def sym_int(a: Any) -> int:
    """A number without its part behind the point."""
    return math.trunc(a)


def sym_float(a: Any) -> float:
    """A number as a float."""
    return float(a)


def sym_not(a: Any) -> bool:
    """Whether it is false."""
    return not a


def sym_max(a: Any, b: Any) -> Any:
    """The larger number; a float where one is."""
    return type(a + b)(max(a, b))


def sym_min(a: Any, b: Any) -> Any:
    """The smaller number; a float where one is."""
    return type(a + b)(min(a, b))


def sym_ite(b: Any, t: Any, f: Any) -> Any:
    """t where b is true, else f."""
    return t if b else f


def sym_sum(args: Iterable[Any]) -> Any:
    """The sum of numbers."""
    return sum(args)
