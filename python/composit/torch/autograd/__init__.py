"""torch.autograd: backward and grad, Function, gradcheck, and functional."""

from __future__ import annotations

from typing import Any

from composit._core import type_error
from composit.torch import function, parts
from composit.torch.anomaly import detect_anomaly, set_detect_anomaly
from composit.torch.autograd import functional
from composit.torch.autograd.gradcheck import GradcheckError, gradcheck, gradgradcheck
from composit.torch.backward import backward, grad
from composit.torch.calling import TensorBase
from composit.torch.function import Function
from composit.torch.tape import (
    enable_grad,
    inference_mode,
    is_grad_enabled,
    no_grad,
    set_grad_enabled,
    set_multithreading_enabled,
)


def Variable(data: Any, requires_grad: bool = False, volatile: bool = False) -> Any:
    """The tensor itself, as variables and tensors are one; it requires a gradient from now on if
    that is asked for."""
    if not isinstance(data, TensorBase):
        raise type_error(f"Variable data has to be a tensor, but got {type(data).__name__}")
    made: Any = data.detach()  # type: ignore[attr-defined]
    return made.requires_grad_() if requires_grad else made


__all__ = [
    "Function",
    "GradcheckError",
    "Variable",
    "backward",
    "detect_anomaly",
    "enable_grad",
    "function",
    "functional",
    "grad",
    "gradcheck",
    "gradgradcheck",
    "inference_mode",
    "is_grad_enabled",
    "no_grad",
    "set_detect_anomaly",
    "set_grad_enabled",
    "set_multithreading_enabled",
]  # fmt: skip

__getattr__ = parts.getter(__name__, ("forward_ad",))
