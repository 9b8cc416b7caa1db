"""torch.autograd: backward and grad, Function, gradcheck, and functional."""

from __future__ import annotations

from typing import Any

from composit.torch import function
from composit.torch.anomaly import detect_anomaly, set_detect_anomaly
from composit.torch.autograd import functional
from composit.torch.autograd.gradcheck import GradcheckError, gradcheck, gradgradcheck
from composit.torch.backward import backward, grad
from composit.torch.function import Function
from composit.torch.tape import (
    enable_grad,
    inference_mode,
    is_grad_enabled,
    no_grad,
    set_grad_enabled,
    set_multithreading_enabled,
)

__all__ = [
    "Function", "GradcheckError", "backward", "detect_anomaly",
    "enable_grad", "function", "functional", "grad",
    "gradcheck", "gradgradcheck", "inference_mode", "is_grad_enabled", "no_grad",
    "set_detect_anomaly", "set_grad_enabled", "set_multithreading_enabled",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    """What is not built says so."""
    raise AttributeError(
        f"composit.torch.autograd.{name} is not built yet; docs/torch.md lists what is."
    )
